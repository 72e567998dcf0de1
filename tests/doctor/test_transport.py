"""What carried the data, by NCCL's own lines: small logs of every kind, and real ones where they are at hand."""

from __future__ import annotations

import pytest

from ncclcheck.doctor.diagnose import diagnose, diagnose_text
from ncclcheck.doctor.transport import transport_of
from ncclcheck.model import Transport
from tests.cases import CORPUS, FIXTURES

SOCKET = """
a:1:9 [0] NCCL INFO NET/Socket : Using [0]eth0:172.17.0.2<0> [1]eth1:10.0.0.11<0>
a:1:9 [0] NCCL INFO Using network Socket
"""
IB = """
a:1:9 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.11<0>
a:1:9 [0] NCCL INFO Using network IB
"""
LOGS = [
    ("", Transport("")),
    (SOCKET, Transport("Socket", ("eth0", "eth1"))),
    (
        SOCKET + "a:1:9 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/1",
        Transport("Socket", ("eth1",)),
    ),
    (
        SOCKET + "a:1:9 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/7",
        Transport("Socket", ("eth0", "eth1")),
    ),
    (
        SOCKET + "a:1:9 [0] NCCL INFO NET/Socket: Using 2 threads and 8 sockets per thread",
        Transport("Socket", ("eth0", "eth1"), threads=2, sockets=8),
    ),
    (
        SOCKET + "a:1:9 [0] NCCL INFO NET/Socket : GPU Direct RDMA Disabled for HCA 0 'eth0'",
        Transport("Socket", ("eth0", "eth1")),
    ),
    (
        SOCKET + "a:1:9 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct",
        Transport("Socket", within=True),
    ),
    (SOCKET + "a:1:9 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC", Transport("Socket", within=True)),
    (SOCKET + "a:1:9 [0] NCCL INFO Ring 00 : 0[0] -> 1[1] via direct shared memory", Transport("Socket", within=True)),
    (
        SOCKET
        + "a:1:9 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC\n"
        + "a:1:9 [0] NCCL INFO Channel 01/0 : 0[0] -> 2[0] [send] via NET/Socket/0/Shared",
        Transport("Socket", ("eth0",)),
    ),
    (IB, Transport("IB", devices=("mlx5_0:1/RoCE", "mlx5_1:1/RoCE"))),
    (
        IB + "a:1:9 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/1/GDRDMA",
        Transport("IB", devices=("mlx5_1:1/RoCE",), gdr=True),
    ),
    (
        IB + "a:1:9 [0] NCCL INFO Channel 00/0 : 0[0] -> 9[0] [send] via NET/IB/1(8)/GDRDMA(PCI)",
        Transport("IB", devices=("mlx5_1:1/RoCE",), gdr=True),
    ),
    (
        IB + "a:1:9 [0] NCCL INFO Channel 00/0 : 0[1a000] -> 1[1a000] [receive] via NET/IB/0",
        Transport("IB", devices=("mlx5_0:1/RoCE",), gdr=False),
    ),
    (
        IB + "a:1:9 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'",
        Transport("IB", devices=("mlx5_0:1/RoCE", "mlx5_1:1/RoCE"), gdr=False),
    ),
    (
        IB + "a:1:9 [0] NCCL INFO NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_0'",
        Transport("IB", devices=("mlx5_0:1/RoCE", "mlx5_1:1/RoCE"), gdr=True),
    ),
    (
        "a:1:9 [0] NCCL INFO Using network AWS Libfabric\n"
        "a:1:9 [0] NCCL INFO Channel 00/0 : 0[3] -> 1[f] [send] via NET/AWS Libfabric/0/GDRDMA",
        Transport("AWS Libfabric", gdr=True),
    ),
    ("a:1:9 [0] NCCL INFO NET/Plugin: Could not find: x.so. Using internal network plugin.", Transport("")),
]


def of(text: str, host: str | None = None) -> Transport:
    return transport_of(diagnose_text(text).job, "nccl", None, host)


@pytest.mark.parametrize(("text", "wanted"), LOGS)
def test_a_log(text, wanted):
    assert of(text) == wanted


def test_each_machine_has_its_own():
    other = SOCKET.replace("a:1:9", "b:2:9").replace("eth", "ens")
    assert of(SOCKET + other) == Transport("Socket", ("eth0", "eth1"))
    assert of(SOCKET + other, "b") == Transport("Socket", ("ens0", "ens1"))
    assert of(SOCKET + other, "c") == Transport("")


def test_all_processes_of_a_machine_count():
    first = "a:1:9 [0] NCCL INFO Channel 00/0 : 0[0] -> 2[0] [send] via NET/Socket/0\n"
    second = SOCKET.replace("a:1:9", "a:2:9")
    second += "a:2:9 [1] NCCL INFO Channel 00/0 : 1[1] -> 3[1] [send] via NET/Socket/1"
    assert of(SOCKET + first + second) == Transport("Socket", ("eth0", "eth1"))


def test_the_figures_of_flows():
    found = of(SOCKET + "a:1:9 [0] NCCL INFO NET/Socket: Using 4 threads and 2 sockets per thread")
    assert found.flows == 8
    assert of(SOCKET).flows == 1


def test_gloo_logs_nothing():
    job = diagnose_text(SOCKET).job
    assert transport_of(job, "gloo", "eth1") == Transport("gloo", ("eth1",))
    assert transport_of(job, "gloo", "eth1 and ens3") == Transport("gloo", ("eth1", "ens3"))
    assert transport_of(job, "gloo", None) == Transport("gloo")


def transports(folder: str) -> Transport:
    case = next(case for case in (*FIXTURES, *CORPUS) if case.name == folder)
    return transport_of(diagnose(case.logs).job, "nccl", None)


@pytest.mark.parametrize(
    ("folder", "wanted"),
    [
        ("healthy/2.28.9-healthy-2x1-destroy", Transport("Socket", ("eth0",))),
        ("healthy/2.18.6-healthy-ifname", Transport("Socket", ("eth1",))),
        ("ports-exhausted/2.18.6-ports-few-nsocks", Transport("Socket", ("eth1",), threads=8, sockets=8)),
        ("no-interface/2.28.9-ifname-missing-both", Transport("")),
    ],
)
def test_logs_of_ours(folder, wanted):
    assert transports(folder) == wanted


REAL = {
    "lab/2.18.6-healthy-nthreads": Transport("Socket", ("eth1",), threads=4, sockets=2),
    "public/pub-008": Transport("Socket", within=True),
    "public/pub-016": Transport("IB", devices=("mlx5_1:1/RoCE",), gdr=False),
    "public/pub-044": Transport("AWS Libfabric", gdr=False),
    "public/pub-046": Transport("Socket", ("eth0",), threads=2, sockets=8),
    "public/pub-052": Transport("IB", gdr=True),
}


@pytest.mark.parametrize("case", [case for case in CORPUS if case.name in REAL], ids=lambda case: case.name)
def test_real_logs_where_they_are_at_hand(case):
    assert transport_of(diagnose(case.logs).job, "nccl", None) == REAL[case.name]
