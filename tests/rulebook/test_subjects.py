"""Relations between ranks and hosts, as attributes that rules ask for."""

from __future__ import annotations

import pytest

from ncclcheck.doctor.diagnose import diagnose_text, rulebook
from ncclcheck.logs.job import read_job
from ncclcheck.logs.sources import pasted
from ncclcheck.rulebook.load import load_connects
from ncclcheck.rulebook.subject import Value
from ncclcheck.rulebook.subjects import subjects
from tests.yardstick import in_time

SOON = 3.0
"""Seconds for 2000 ranks, on an ordinary machine."""
A = "node-a:1:1 [0] NCCL INFO"
B = "node-b:2:2 [0] NCCL INFO"
BRIDGES = f"""
{A} NCCL_SOCKET_IFNAME set by environment to eth
{A} Bootstrap: Using eth0:172.17.0.2<0>
{A} NET/Socket : Using [0]eth0:172.17.0.2<0> [1]eth1:10.0.0.11<0>
{B} Bootstrap: Using eth0:172.17.0.2<0>
{B} NET/Socket : Using [0]eth0:172.17.0.2<0> [1]eth1:10.0.0.12<0>
{B} socketPollConnect: connect to 172.17.0.2<4000> returned Connection refused, retrying (1/34) after sleep for 100 msec
"""
ROUTED = f"""
{A} Bootstrap: Using eth0:10.0.0.11<0>
{B} Bootstrap: Using eth0:10.9.0.12<0>
{B} socketPollConnect: connect to 10.0.0.11<4000> returned No route to host, retrying (1/34) after sleep for 100 msec
"""


def of(text: str, kind: str, number: int = 0) -> dict[str, Value]:
    """The attributes of one subject of the job."""
    job = read_job([pasted(text.strip("\n"), "job.log")], rulebook().shapes, load_connects()).job
    return subjects(job)[kind][number].values


@pytest.mark.parametrize(
    ("text", "kind", "number", "expected"),
    [
        (
            BRIDGES,
            "connect",
            0,
            {"result": "refused", "count": 1, "look": "docker", "own_look": "docker", "twin": True},
        ),
        (BRIDGES, "connect", 0, {"owner": "node-a", "better": "eth1", "better_shared": True, "host": "node-b"}),
        (BRIDGES, "interface", 0, {"role": "bootstrap", "twin": True, "shared": False, "better": "eth1"}),
        (BRIDGES, "interface", 2, {"role": "data", "interface": "eth1", "twin": False, "shared": True}),
        (BRIDGES, "setting", 0, {"name": "NCCL_SOCKET_IFNAME", "lacking": "node-b", "lacking_hosts": 1}),
        (BRIDGES, "job", 0, {"hosts": 2, "host_names": "node-a, node-b", "several_hosts": True, "job_failing": True}),
        (BRIDGES, "rank", 1, {"host": "node-b", "stage": "bootstrap", "interface": "eth0", "complete": False}),
        (
            ROUTED,
            "connect",
            0,
            {"result": "no-route", "look": "plain", "near": False, "owner": "node-a", "twin": False},
        ),
    ],
)
def test_attributes(text: str, kind: str, number: int, expected: dict[str, Value]) -> None:
    found = of(text, kind, number)
    assert {name: found.get(name) for name in expected} == expected


def test_what_is_not_known_is_absent() -> None:
    alone = of(f"{A} Bootstrap: Using eth0:10.0.0.11<0>", "interface")
    assert {"shared", "rank", "nccl", "better"} & set(alone) == set()


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        (BRIDGES, "connect", {"announcer": "node-a", "pool": True, "own_pool": True}),
        (ROUTED, "connect", {"announcer": "node-a", "pool": False, "own_pool": False}),
        (ROUTED.replace("to 10.0.0.11", "to 172.20.0.9"), "connect", {"announcer": "the peer", "pool": True}),
        (ROUTED, "interface", {"announcer": "node-a"}),
    ],
)
def test_who_announces_it_and_whether_docker_may_own_it(text: str, kind: str, expected: dict[str, Value]) -> None:
    found = of(text, kind)
    assert {name: found.get(name) for name in expected} == expected


def large_job(ranks: int, more: str) -> str:
    """A job with one rank on each host, and a further line of each."""
    return "\n".join(
        f"h{n}:100:100 [0] NCCL INFO {text}"
        for n in range(ranks)
        for text in (
            f"Bootstrap: Using eth0:10.0.{n // 250}.{n % 250 + 1}<0>",
            f"ncclCommInitRank comm 0x1 rank {n} nranks {ranks} cudaDev 0 busId 1b000 commId 0x5 - Init START",
            more.format(n=n),
        )
    )


@pytest.mark.parametrize(
    "more",
    [
        "NET/Socket : Using [0]eth0:172.17.0.2<0>",
        "socketPollConnect: connect to 10.0.0.1<4000> returned Connection refused, retrying (1/34)",
        "NCCL_SOCKET_IFNAME set by environment to eth{n}",
        "NCCL version 2.28.9+cuda12.9",
        "socketPollConnect: connect to 172.17.0.2<4000> returned Connection refused, retrying (33/34)",
    ],
)
def test_two_thousand_ranks_take_no_square_of_that(more: str) -> None:
    text = large_job(2000, more)
    in_time(lambda: diagnose_text(text), SOON)
