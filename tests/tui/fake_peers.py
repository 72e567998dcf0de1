"""Pairings as they go between fake nodes: the steps are made up, what follows from them is worked out for real."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ncclcheck.doctor.conclude import Conclusion, conclude, distinct
from ncclcheck.doctor.steps import (
    Concluded,
    Ended,
    Joined,
    Knocking,
    MadeFix,
    NoWay,
    Planned,
    Shook,
    Step,
    Trying,
    Turned,
    Waiting,
    WentFast,
)
from ncclcheck.errors import PeerError
from ncclcheck.model import Cell, Contact, Edit, Facts, Handshake, Leg, Outcome
from ncclcheck.peer import card
from ncclcheck.peer.invitation import Invitation, read

if TYPE_CHECKING:
    from ncclcheck.doctor.part import Agree
    from tests.tui.fake import Doctor

INVITATION = Invitation(41317, "236PQLTLKJOTXQDA", ("172.17.0.2", "10.0.0.1", "fe80::14d7:37ff:fe2a:8900"))
FAILS = Handshake(
    "2.29.7",
    "node-a",
    "172.17.0.2:42513",
    (
        Contact(Leg.TO_ROOT, 0, "node-a", "172.17.0.2:42513", 0.003),
        Contact(Leg.FROM_ROOT, 0, "node-a", "172.17.0.2:36663", problem="the root did not call back within 5 s"),
        Contact(
            Leg.TO_ROOT,
            1,
            "node-b",
            "172.17.0.2:42513",
            problem="172.17.0.2:42513 refused the connection; 172.17.0.2 is this node's own address too",
        ),
    ),
)
PASSES = Handshake(
    "2.29.7",
    "node-a",
    "10.0.0.1:41234",
    tuple(
        Contact(leg, rank, host, f"10.0.0.{rank + 1}:41234", 0.001)
        for rank, host in enumerate(("node-a", "node-b"))
        for leg in Leg
    ),
)


def cells(caller: Facts, callee: Facts) -> tuple[Cell, ...]:
    """Who reaches whom where both have the same docker address on eth0."""
    own, shared = callee.interfaces[-2].addresses[0].address, callee.interfaces[-1].addresses[0].address
    docker, ethernet = callee.interfaces[-2].name, callee.interfaces[-1].name

    def cell(interface: str, target: str, address: str, outcome: Outcome, **more: str | float) -> Cell:
        return replace(Cell(caller.host, interface, callee.host, target, address, outcome), **more)

    same = f"this node itself has {own}, so it never reaches {callee.host}"
    return (
        cell("", docker, own, Outcome.STRANGER, detail=same),
        cell("", ethernet, shared, Outcome.OK, seconds=0.00012),
        cell(docker, docker, own, Outcome.STRANGER),
        cell(ethernet, ethernet, shared, Outcome.OK, seconds=0.00011),
        cell(docker, ethernet, shared, Outcome.NO_NEIGHBOUR),
        cell(ethernet, docker, own, Outcome.DROPPED),
    )


def between(doctor: Doctor, nodes: tuple[Facts, ...], stopped: Callable[[], bool]) -> Iterator[Step]:
    """Both nodes are ours; nothing is changed."""
    yield Waiting(INVITATION)
    yield Joined(nodes[1], "10.0.0.1")
    yield from reached(doctor, nodes, stopped)
    result = doctor.handshake()
    yield Shook(result, proposed=False)
    yield Ended(result.passed, conclude(nodes, _all(nodes)).sides.match.use)


def invited(doctor: Doctor, me: Facts, agree: Agree, stopped: Callable[[], bool]) -> Iterator[Step]:
    """A stranger calls, then the other node; ends where our user has stopped."""
    try:
        yield Waiting(INVITATION, (("fe80::1%eth0", "Cannot assign requested address"),))
        yield Turned("10.0.0.66", "called with a wrong token")
        _wait(doctor, "guest", stopped)
        yield from paired(doctor, (me, doctor.facts(doctor.guest)), 0, agree, stopped)
    finally:
        doctor.calls.append("port closed")


def joined(doctor: Doctor, me: Facts, text: str, agree: Agree) -> Iterator[Step]:
    """The first address leads nowhere; neither does the second where there is no way."""
    doctor.calls.append(f"join {read(tuple(text.split())).addresses[0]}")
    yield Knocking("172.17.0.2", "no answer within 3 s", 3.0)
    if doctor.no_way:
        tried = (Knocking("172.17.0.2", "no answer within 3 s", 3.0), Knocking("10.0.0.2", "No route to host", 0.1))
        yield NoWay(tried, ("eth0 172.17.0.2", "eth1 10.0.0.1"), card.write(me))
        return
    yield from paired(doctor, distinct((doctor.facts(doctor.guest), me)), 1, agree, lambda: False)


def matched(text: str, facts: tuple[Facts, ...]) -> Conclusion:
    """As the real one does it."""
    nodes = card.read(text)
    return conclude(distinct(nodes if len(nodes) > 1 else (*map(card.of, facts), *nodes)))


def paired(
    doctor: Doctor, nodes: tuple[Facts, ...], own: int, agree: Agree, stopped: Callable[[], bool]
) -> Iterator[Step]:
    """The whole way, each node's user being asked."""
    known = conclude(nodes, _all(nodes))
    yield from (Joined(node, "") for node in nodes if node is not nodes[own])
    yield from reached(doctor, nodes, stopped)
    yield Shook(FAILS, proposed=False)
    yield Shook(PASSES, proposed=True)
    me, other = nodes[own].host, nodes[1 - own].host
    fix = known.fix_for(me)
    assert fix is not None
    edits = (Edit("/etc/nccl.conf", None, b"NCCL_SOCKET_IFNAME==eth1\n"),)
    yield Planned(me, edits)
    doctor.calls.append(f"asked about {fix.hosts[0]}")
    yes = agree(edits, fix)
    doctor.calls.append(f"answered {yes}")
    yield MadeFix(me, yes, "/etc/nccl.conf written" if yes else "its user said no; nothing was written")
    yield MadeFix(other, True, "/etc/nccl.conf written")
    if yes:
        yield Shook(PASSES, proposed=False)
        yield WentFast(doctor.passed)
    yield Ended(yes, known.sides.match.use)


def reached(doctor: Doctor, nodes: tuple[Facts, ...], stopped: Callable[[], bool]) -> Iterator[Step]:
    """Every connection, and what follows; half of them wait where somebody holds them."""
    every = _all(nodes)
    if "reach" in doctor.errors:
        raise doctor.errors["reach"]
    for number, cell in enumerate(every):
        if number == len(every) // 2:
            _wait(doctor, "reach", stopped)
        yield Trying(cell)
    yield Concluded(conclude(nodes, every))


def _all(nodes: tuple[Facts, ...]) -> tuple[Cell, ...]:
    one, other = nodes
    there, back = cells(one, other), cells(other, one)
    return tuple(cell for pair in zip(there, back, strict=True) for cell in pair)


def _wait(doctor: Doctor, what: str, stopped: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while what in doctor.held and not doctor.held[what].is_set():
        if stopped():
            raise PeerError("the waiting was ended")
        assert time.monotonic() < until, f"nobody let {what} go"
        time.sleep(0.005)
