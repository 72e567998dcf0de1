"""A rank that we play, over loopback: against the real root, and against one that misbehaves."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from ncclcheck.errors import PeerError
from ncclcheck.model import Contact, Leg
from ncclcheck.node.libnccl import choose
from ncclcheck.node.root import Root, serving
from ncclcheck.peer import bootstrap_wire as wire
from ncclcheck.peer.bootstrap_wire import SocketAddress, Ticket, ticket_of
from ncclcheck.peer.rank import Limits, play

HERE = "127.0.0.1"
LONG, SHORT = Limits(others=20.0), Limits(connect=0.5, patience=0.2, others=0.5)
LEGS = list(Leg)


@contextmanager
def real_root() -> Iterator[Root]:
    """NCCL's own, on loopback."""
    interpreter, library = choose(sys.executable, os.environ)
    assert interpreter is not None
    assert library is not None
    with serving(interpreter.python, library.path, {**os.environ, "NCCL_SOCKET_IFNAME": "=lo"}) as root:
        yield root


def outcome(contacts: tuple[Contact, ...]) -> list[tuple[Leg, int, bool]]:
    """Leg, rank, and whether it came about."""
    return [(contact.leg, contact.rank, not contact.problem) for contact in contacts]


def listening() -> dict[str, SocketAddress]:
    """Where this process listens on loopback, as the kernel has it (proc(5), /proc/net/tcp), by inode."""
    sockets = {link for one in Path("/proc/self/fd").iterdir() if (link := _link(one)).startswith("socket:")}
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return {
        row[9]: SocketAddress(HERE, int(row[1].partition(":")[2], 16))
        for row in rows
        if row[3] == "0A" and f"socket:[{row[9]}]" in sockets
    }


def _link(path: Path) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def strangers(before: dict[str, SocketAddress]) -> list[socket.socket]:
    """Call each listener that has come since: one says nothing and stays, one hangs up, one speaks HTTP."""
    while len(new := listening().keys() - before.keys()) < 2:
        time.sleep(0.02)
    kept = []
    for place in (listening()[one] for one in new):
        calls = [socket.create_connection((place.address, place.port), timeout=5) for _ in range(3)]
        calls[1].close()
        calls[2].sendall(b"GET / HTTP/1.1\r\nHost: rank-0.example.com\r\n\r\n" * 9)
        kept += [calls[0], calls[2]]
    return kept


def test_two_ranks_with_the_real_root_among_strangers_and_the_second_comes_late() -> None:
    before = listening()
    with real_root() as root, ThreadPoolExecutor(1) as pool:
        ticket = ticket_of(root.unique_id, root.nccl)
        first = pool.submit(play, ticket, 0, 2, "node-a", HERE, limits=LONG)
        calls = strangers(before)
        time.sleep(1.0)
        second = play(ticket, 1, 2, "node-b", HERE, limits=LONG)
        contacts = (*first.result(), *second)
        for call in calls:
            call.close()

    assert outcome(contacts) == [(leg, rank, True) for rank in (0, 1) for leg in LEGS]
    assert contacts[0].address == contacts[3].address == root.address
    assert contacts[2].address.startswith("127.0.0.1:")
    seconds = [contact.seconds for contact in contacts]
    assert None not in seconds
    # The root answers once the neighbour has reported.
    assert (contacts[1].seconds or 0) > 1.0


def test_a_world_of_other_size_is_no_world() -> None:
    with real_root() as root, ThreadPoolExecutor(1) as pool:
        ticket = ticket_of(root.unique_id, root.nccl)
        first = pool.submit(play, ticket, 0, 2, "a", HERE, limits=Limits(others=1.0))
        second = play(ticket, 1, 3, "b", HERE, limits=SHORT)
        contacts, log = (*first.result(), *second), root.log()

    assert outcome(contacts) == [(leg, rank, leg is Leg.TO_ROOT) for rank in (0, 1) for leg in LEGS[:2]]
    assert any("mismatch in info from procs" in line for line in log)


def test_a_root_that_is_gone() -> None:
    with real_root() as root:
        ticket = ticket_of(root.unique_id, root.nccl)
    begin = time.monotonic()

    (contact,) = play(ticket, 1, 2, "b", HERE, limits=SHORT)

    assert SHORT.patience <= time.monotonic() - begin < 5
    assert (contact.leg, contact.seconds, contact.host) == (Leg.TO_ROOT, None, "b")
    said = f"{root.address} refused the connection; 127.0.0.1 is this node's own address too, so the call never left it"
    assert contact.problem == said


def test_somebody_who_starts_late_is_called_again() -> None:
    late = socket.socket()
    late.bind((HERE, 0))
    ticket = Ticket("2.29.7", 5, SocketAddress(*late.getsockname()))
    with late, ThreadPoolExecutor(1) as pool:
        contacts = pool.submit(play, ticket, 0, 2, "a", HERE, limits=Limits(1.0, 5.0, 0.1))
        time.sleep(0.5)
        late.listen()
        assert outcome(contacts.result()) == [(Leg.TO_ROOT, 0, True), (Leg.FROM_ROOT, 0, False)]


Act = Callable[[Ticket, SocketAddress, SocketAddress], None]
"""What a root does, given where the rank wants to be called back and where it listens for the ring."""


def against(act: Act, nccl: str = "2.29.7", limits: Limits = SHORT, ends: int | None = None) -> tuple[Contact, ...]:
    """Play rank 1 of 2 against a root that does this."""
    with socket.create_server((HERE, 0)) as server, ThreadPoolExecutor(1) as pool:
        ticket = Ticket(nccl, 5 if nccl > "2.15.9" else 0, SocketAddress(*server.getsockname()))
        served = pool.submit(_serve, server, ticket, act)
        contacts = play(ticket, 1, 2, "b", HERE, limits=limits, ends=ends)
        served.result()
    return contacts


def _serve(server: socket.socket, ticket: Ticket, act: Act) -> None:
    caller, _ = server.accept()
    with caller, caller.makefile("rb") as stream:
        message = stream.read()
    ring = len(message) - (128 if ticket.nccl > "2.22.9" else 28)
    callback, next_rank = wire.socket_address(message[ring - 28 :]), wire.socket_address(message[ring:])
    assert callback is not None
    assert next_rank is not None
    act(ticket, callback, next_rank)


def say(place: SocketAddress, message: bytes) -> None:
    with socket.create_connection((place.address, place.port), timeout=5) as call:
        call.sendall(message)


VERSIONS = ("2.15.5", "2.16.2", "2.22.3", "2.23.4", "2.29.7")


@pytest.mark.parametrize("nccl", VERSIONS)
def test_every_version_is_spoken(nccl: str) -> None:
    def rightly(ticket: Ticket, callback: SocketAddress, ring: SocketAddress) -> None:
        # This root plays the other rank as well, and says its answer in two pieces.
        with socket.create_server((HERE, 0)) as other:
            answer = wire.answer(ticket, SocketAddress(*other.getsockname()))
            with socket.create_connection((callback.address, callback.port), timeout=5) as call:
                call.sendall(answer[:7])
                time.sleep(0.1)
                call.sendall(answer[7:])
            caller, _ = other.accept()
            with caller, caller.makefile("rb") as stream:
                assert stream.read() == wire.greeting(ticket)
            say(ring, wire.greeting(ticket))

    assert outcome(against(rightly, nccl, LONG)) == [(leg, 1, True) for leg in LEGS]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda answer: b"\6" + answer[1:], " (somebody else called with a wrong magic)"),
        (lambda answer: answer[:8] + b"\2" + answer[9:], " (somebody else called for another purpose than NCCL's"),
        (lambda answer: answer[:12] + b"\x1c" + answer[13:], " (somebody else called with a message of 28 bytes"),
        (lambda answer: answer[:20], " (somebody else called and said too little)"),
        (lambda answer: b"", " (somebody else called and said too little)"),
    ],
    ids=["magic", "type", "length", "cut", "nothing"],
)
def test_an_answer_that_is_none(spoil: Callable[[bytes], bytes], said: str) -> None:
    contacts = against(
        lambda ticket, callback, _: say(callback, spoil(wire.answer(ticket, SocketAddress("10.0.0.1", 1))))
    )

    assert outcome(contacts) == [(Leg.TO_ROOT, 1, True), (Leg.FROM_ROOT, 1, False)]
    problem = contacts[1].problem
    assert problem.startswith(f"the root did not call back to {contacts[1].address} within 1 s{said}")
    assert problem.endswith(": see NCCL's own lines, where the root runs")


@pytest.mark.parametrize("calls", [True, False], ids=["the rank before calls", "nobody calls"])
def test_a_next_rank_that_refuses(calls: bool) -> None:
    def point_to_nobody(ticket: Ticket, callback: SocketAddress, ring: SocketAddress) -> None:
        with socket.socket() as closed:
            closed.bind((HERE, 0))
            say(callback, wire.answer(ticket, SocketAddress(*closed.getsockname())))
            time.sleep(SHORT.patience)
        if calls:
            say(ring, wire.greeting(ticket))

    contacts = against(point_to_nobody)
    assert outcome(contacts) == [(leg, 1, leg is not Leg.RING) for leg in LEGS]
    assert contacts[2].problem == f"{contacts[2].address} refused the connection"


def test_a_rank_before_that_does_not_call() -> None:
    with socket.create_server((HERE, 0)) as other:
        place = SocketAddress(*other.getsockname())
        contacts = against(lambda ticket, callback, ring: say(callback, wire.answer(ticket, place)))

    assert outcome(contacts) == [(leg, 1, leg is not Leg.RING) for leg in LEGS]
    assert contacts[2].problem.startswith("rank 0 did not call 127.0.0.1:")
    assert contacts[2].problem.endswith(" within 1 s")


def test_waiting_ends_when_nobody_is_waited_for() -> None:
    reader, writer = os.pipe()
    os.close(writer)
    begin = time.monotonic()

    contacts = against(lambda ticket, callback, ring: None, limits=Limits(others=60.0), ends=reader)

    os.close(reader)
    assert outcome(contacts) == [(Leg.TO_ROOT, 1, True), (Leg.FROM_ROOT, 1, False)]
    assert time.monotonic() - begin < 10


@pytest.mark.parametrize("address", ["192.0.2.1", "nonsense", "fe80::1%nosuch", "2001:db8::1"])
def test_an_address_of_somebody_else(address: str) -> None:
    with pytest.raises(PeerError, match="a rank cannot listen there") as caught:
        play(Ticket("2.29.7", 5, SocketAddress(HERE, 1)), 1, 2, "b", address)
    assert caught.value.place == address
