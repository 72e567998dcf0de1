"""What is unusual about a machine: table by table."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ncclcheck.model import (
    Address,
    Caller,
    Facts,
    Interface,
    Library,
    Limit,
    LinkKind,
    Machine,
    NameLookup,
    RdmaDevice,
    RdmaPort,
    Setting,
)
from ncclcheck.node.remarks import remarks

FACTS = Facts(
    "a",
    tuple(
        Interface(name, index, LinkKind.ETHERNET, True, True, 1500, None, (Address(f"10.{index}.0.5", 24),))
        for index, name in ((1, "eth0"), (2, "eth1"))
    ),
    settings=(Setting("NCCL_IB_DISABLE", "1  # off", "environment"),),
)
CONF = "/home/alice/.nccl.conf"
ACTIVE = RdmaDevice("mlx5_0", ("eth1",), (RdmaPort(1, "Ethernet", "ACTIVE", "100 Gb/sec"),))
DOWN = RdmaDevice("mlx5_1", (), (RdmaPort(1, "Ethernet", "DOWN", ""),))
OFF = "NCCL_IB_DISABLE=1  # off (environment) keeps NCCL from mlx5_0: all data goes over TCP"


@pytest.mark.parametrize(
    ("machine", "said"),
    [
        (Machine(), ()),
        (Machine(limits=(Limit("memlock", 65536), Limit("nofile", 1024), Limit("nofile_hard", None))), ()),
        (
            Machine(rdma=(ACTIVE,), limits=(Limit("memlock", 65536),)),
            ("only 64 KiB may be locked, and RDMA locks its buffers: ulimit -l unlimited", OFF),
        ),
        (Machine(rdma=(ACTIVE,), limits=(Limit("memlock", None),)), (OFF,)),
        (
            Machine(limits=(Limit("nofile_hard", 1024),)),
            ("no more than 1024 files may be open, sockets among them: raise ulimit -n",),
        ),
        (
            Machine(limits=(Limit("shm", 64 << 20),)),
            (
                "/dev/shm has 64 MiB (docker's default is 64 MiB), and NCCL keeps buffers between the GPUs of a node"
                " there: --shm-size=1g or --ipc=host",
            ),
        ),
        (
            Machine(limits=(Limit("port_first", 50000), Limit("port_last", 50100))),
            ("only the ports 50000 to 50100 are free for new sockets (ip_local_port_range)",),
        ),
        (Machine(limits=(Limit("port_first", 32768), Limit("port_last", 60999))), ()),
        (
            Machine(limits=(Limit("rp_filter", 1),)),
            (
                "rp_filter is 1 and there are eth0, eth1: packets that come in over another interface than the answer"
                " would take are dropped without a word",
            ),
        ),
        (Machine(limits=(Limit("rp_filter", 2),)), ()),
        (
            Machine(names=(NameLookup("a", "own name", ("127.0.1.1",)),)),
            (
                "this host's own name a leads to 127.0.1.1, which Gloo would tell to other nodes:"
                " set GLOO_SOCKET_IFNAME, or mend /etc/hosts",
            ),
        ),
        (
            Machine(names=(NameLookup("a", "own name", ()),)),
            (
                "this host's own name a leads to no address; Gloo looks it up:"
                " set GLOO_SOCKET_IFNAME, or mend /etc/hosts",
            ),
        ),
        (Machine(names=(NameLookup("a", "own name", ("127.0.1.1", "10.0.0.5")),)), ()),
        (
            Machine(names=(NameLookup("b", "MASTER_ADDR", ("127.0.1.1",)), NameLookup("b", "MASTER_ADDR", ()))),
            (
                "MASTER_ADDR=b leads to 127.0.1.1 here: a rank on this machine would call itself",
                "MASTER_ADDR=b leads to no address on this machine",
            ),
        ),
        (
            Machine(rdma=(replace(DOWN, name="x"),)),
            ("port 1 of the RDMA device x is DOWN, not ACTIVE", OFF.replace("mlx5_0", "x")),
        ),
        (
            Machine(firewall=True),
            (
                "a firewall filters what comes in here; NCCL listens on ports that the kernel picks"
                " (ip_local_port_range), so the other nodes must be let through on all of them",
            ),
        ),
        (
            Machine(
                caller=Caller(
                    "alice", "/home/alice/.nccl.conf", (("NCCL_DEBUG", "INFO"), ("NCCL_IB_DISABLE", "1  # off"))
                )
            ),
            ("this is root's view; a job of alice reads /home/alice/.nccl.conf, which sets NCCL_DEBUG=INFO",),
        ),
    ],
)
def test_what_is_said_of_a_machine(machine: Machine, said: tuple[str, ...]) -> None:
    assert tuple(remarks(replace(FACTS, machine=machine))) == said


def test_sudo_drops_variables() -> None:
    facts = Facts("a", (), machine=Machine(caller=Caller("alice", CONF)))

    assert tuple(remarks(facts)) == (
        "sudo does not pass on the NCCL_* variables of alice: run it without sudo to see them",
    )


def test_several_libraries_are_told_apart_and_which_one_wins() -> None:
    first, second = (
        Library("/a/libnccl.so.2", "2.29.7", "torch's wheel"),
        Library("/b/libnccl.so.2", "2.18.3", "LD_LIBRARY_PATH"),
    )

    assert tuple(remarks(replace(FACTS, libraries=(first, second)))) == (
        "there are several NCCL: 2.29.7 at /a/libnccl.so.2 is loaded (torch's wheel goes first); a program that links"
        " another one gets 2.18.3 at /b/libnccl.so.2 (LD_LIBRARY_PATH)",
    )
    assert tuple(remarks(replace(FACTS, libraries=(first, replace(first, path="/c"))))) == ()
