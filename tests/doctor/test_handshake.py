"""The handshake between nodes of the lab, with the libnccl that is installed here."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ncclcheck.doctor.handshake import chosen_here, handshake, join, play_here
from ncclcheck.errors import PeerError
from ncclcheck.model import Handshake, Leg, Node
from ncclcheck.peer.bootstrap_wire import SocketAddress, Ticket
from ncclcheck.peer.rank import Limits
from tests.handshake_with_nccl import CASES, Case, all_tried, complaints

LO = (("NCCL_SOCKET_IFNAME", "=lo"),)
HERE = [case for case in CASES if case.always]
NOWHERE = (("NCCL_SOCKET_IFNAME", "nosuch"),)
GONE = Ticket("2.29.7", 5, SocketAddress("127.0.0.1", 1))


@pytest.fixture(scope="module")
def results() -> dict[str, Handshake]:
    return all_tried(HERE)


@pytest.mark.parametrize("case", HERE, ids=lambda case: case.title)
def test_it_comes_to_what_it_must(case: Case, results: dict[str, Handshake]) -> None:
    assert complaints(case, results[case.title]) == []


def test_it_tells_where_who_was(results: dict[str, Handshake]) -> None:
    seen = results["over the network that both share"]

    assert (seen.host, seen.nccl.split(".")[0]) == ("node-a", "2")
    assert seen.root == seen.contacts[0].address == seen.contacts[3].address
    assert [(contact.host, contact.address.rpartition(":")[0]) for contact in seen.contacts] == [
        ("node-a", "10.0.0.11"),
        ("node-a", "10.0.0.11"),
        ("node-a", "10.0.0.12"),
        ("node-b", "10.0.0.11"),
        ("node-b", "10.0.0.12"),
        ("node-b", "10.0.0.11"),
    ]
    assert any(": Using eth1:10.0.0.11<0>" in line for line in seen.log)


def test_nccl_says_whom_it_could_not_call(results: dict[str, Handshake]) -> None:
    seen = results["wrong interface at rank 1"]

    (called,) = (contact.address for contact in seen.contacts if (contact.leg, contact.rank) == (Leg.FROM_ROOT, 1))
    address, _, port = called.rpartition(":")
    assert address == "172.17.0.2"
    assert any(f"{address}<{port}>" in line and "NCCL WARN" in line for line in seen.log)


def bare(folder: Path) -> str:
    """A Python that reaches no NCCL."""
    python = folder / "python3"
    python.write_text(f'#!/bin/sh\nprintf \'["%s", "/nonexistent", []]\\n\' {python}\n')
    python.chmod(0o755)
    return str(python)


def test_without_nccl_there_is_no_handshake(tmp_path: Path) -> None:
    here = Node("here", prefix=("env",))
    seen = handshake((here, here), python=bare(tmp_path))

    assert (seen.passed, seen.contacts) == (False, ())
    assert seen.failure.startswith(f"here: {tmp_path}/python3: no libnccl.so.2 within its reach\n  Name the Python")


@pytest.mark.parametrize("broken", [0, 1])
def test_a_node_that_nothing_leads_to(broken: int) -> None:
    nodes = [Node("here", env=LO), Node("here", env=LO)]
    nodes[broken] = Node("node-x", prefix=("/no/such/way",))

    seen = handshake((nodes[0], nodes[1]), python=sys.executable, limit=1)

    assert not seen.passed
    assert seen.failure == "node-x: /no/such/way cannot be run: No such file or directory"


def test_several_ranks_on_one_machine() -> None:
    here = Node("here", env=LO)
    seen = handshake((here, here, here, here), python=sys.executable)

    assert (seen.passed, len(seen.contacts)) == (True, 12)


def test_a_rank_alone_takes_the_interface_that_nccl_would(tmp_path: Path) -> None:
    choice = chosen_here("2.29.7", LO)
    (contact,) = play_here(GONE, 1, 2, env=LO, limits=Limits(1, 0, 1))

    assert (choice.interface, choice.address) == ("lo", "127.0.0.1")
    assert contact.problem.startswith("127.0.0.1:1 refused the connection")


def test_a_rank_without_an_interface_or_with_a_foreign_one() -> None:
    with pytest.raises(PeerError, match="NCCL would find no interface: NCCL_SOCKET_IFNAME is “nosuch”"):
        play_here(GONE, 1, 2, env=NOWHERE)
    assert "NCCL would find no interface" in join(GONE, 1, 2, env=NOWHERE).failure
    assert join(GONE, 1, 2, address="192.0.2.1").failure.startswith("192.0.2.1: a rank cannot listen there")
