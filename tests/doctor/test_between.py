"""Nodes that command prefixes lead to, for real in the lab; and how steps get from one ncclcheck to another."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from ncclcheck.cli.sides_json import step_json
from ncclcheck.doctor.between import between
from ncclcheck.doctor.conclude import conclude
from ncclcheck.doctor.steps import (
    Concluded,
    Ended,
    FoundPort,
    Joined,
    Knocking,
    MadeFix,
    NoWay,
    Planned,
    Shook,
    Step,
    Trained,
    Trying,
    Turned,
    Waiting,
    WentFast,
)
from ncclcheck.doctor.steps_json import decoded, encoded
from ncclcheck.errors import PeerError
from ncclcheck.lab import DOCKER_FIRST, LabLink, LabNode, Layout, built
from ncclcheck.model import (
    Address,
    Applied,
    Cell,
    Choice,
    Contact,
    DdpProof,
    Edit,
    Facts,
    Handshake,
    Interface,
    Leg,
    LinkKind,
    Node,
    Outcome,
    SpeedTest,
    Use,
)
from ncclcheck.peer.invitation import Invitation
from ncclcheck.speedtest.reports import Progress
from tests.yardstick import within


@pytest.fixture(scope="module")
def nodes() -> Iterator[tuple[Node, ...]]:
    """Two nodes that no test changes."""
    with built(DOCKER_FIRST) as made:
        yield made


def processes(node: Node) -> int:
    """How many there are on all nodes of the lab, which share their process namespace."""
    folder = Path("/proc") / next(word for word in node.prefix if word.isdigit()) / "root" / "proc"
    return len([name for name in os.listdir(folder) if name.isdigit()])


def until_no_more_than(count: int, node: Node) -> int:
    """The number of processes, once it has come down to this or 5 s are over."""
    end = time.monotonic() + 5
    while (now := processes(node)) > count and time.monotonic() < end:
        time.sleep(0.02)
    return now


def test_it_finds_out_what_two_people_would(nodes: tuple[Node, ...]) -> None:
    before = processes(nodes[0])
    steps = list(between(nodes))
    kinds = [type(step) for step in steps if not isinstance(step, Trying)]
    assert kinds == [Waiting, Joined, Concluded, Shook, Ended]
    concluded = next(step for step in steps if isinstance(step, Concluded)).conclusion
    tried = tuple(step.cell for step in steps if isinstance(step, Trying))
    assert {(use.host, use.interface) for use in concluded.sides.match.use} == {("node-a", "eth1"), ("node-b", "eth1")}
    assert concluded.sides.match.proved
    assert [fix.env for host in ("node-a", "node-b") if (fix := concluded.fix_for(host))] == [
        (("NCCL_SOCKET_IFNAME", "=eth1"),)
    ] * 2
    assert {(cell.caller, cell.target) for cell in tried if cell.passed} == {("node-a", "eth1"), ("node-b", "eth1")}
    shook = next(step for step in steps if isinstance(step, Shook))
    assert (shook.handshake.passed, shook.proposed, steps[-1].verified) == (False, False, False)
    assert until_no_more_than(before, nodes[0]) == before


def test_to_close_it_ends_everything_on_every_node(nodes: tuple[Node, ...]) -> None:
    before = processes(nodes[0])
    steps = between(nodes)
    while not isinstance(next(steps), Trying):
        pass
    assert processes(nodes[0]) > before
    steps.close()
    assert until_no_more_than(before, nodes[0]) == before


def test_whoever_stops_it_need_not_wait(nodes: tuple[Node, ...]) -> None:
    before = processes(nodes[0])
    began: list[float] = []

    def stopped() -> bool:
        return bool(began)

    steps = between(nodes, stopped=stopped)
    assert isinstance(next(steps), Waiting)
    began.append(time.monotonic())
    assert list(steps) == []
    assert within(5, time.monotonic() - began[0])
    assert until_no_more_than(before, nodes[0]) == before


def test_a_node_that_finds_no_way_is_told_of_with_its_card() -> None:
    alone = [(LabLink("eth0", f"net-{letter}", f"10.{number}.0.1/24"),) for number, letter in enumerate("ab", 1)]
    layout = Layout("apart", "", tuple(LabNode(f"n{number}", links) for number, links in enumerate(alone)))
    with built(layout) as made:
        steps = list(between(made))
    assert isinstance(steps[-1], NoWay)
    assert "10.1.0.1" in {knocking.address for knocking in steps[-1].tried}
    assert steps[-1].card.startswith("NCCLCARD1 n1:")


@pytest.mark.parametrize(
    ("number", "prefix", "problem", "place"),
    [
        (0, ("/no/such/command",), "/no/such/command cannot be run: No such file or directory", "node-a"),
        (1, ("/no/such/command",), "/no/such/command cannot be run: No such file or directory", "node-b"),
        (0, ("sh", "-c", "echo 'ncclcheck: no room\n  make some' >&2; exit 3"), "no room", "node-a"),
        (1, ("sh", "-c", "exit 7"), "exit status 7 and no answer", "node-b"),
        (0, ("sh", "-c", "echo welcome to node-a"), "it says 'welcome to node-a', which is no step", "node-a"),
    ],
)
def test_a_node_that_cannot_be_asked_says_why(
    nodes: tuple[Node, ...], number: int, prefix: tuple[str, ...], problem: str, place: str
) -> None:
    asked = tuple(replace(node, prefix=prefix) if at == number else node for at, node in enumerate(nodes))
    before = processes(nodes[0])
    with pytest.raises(PeerError) as raised:
        list(between(asked))
    assert raised.value.problem.startswith(problem)
    assert raised.value.place == place
    assert until_no_more_than(before, nodes[0]) == before


def test_another_python_is_handed_on(nodes: tuple[Node, ...]) -> None:
    log = 'echo "ncclcheck: $*" >&2; exit 3'
    asked = (replace(nodes[0], prefix=("sh", "-c", log)), nodes[1])
    with pytest.raises(PeerError) as raised:
        list(between(asked, python="/opt/job/bin/python"))
    assert raised.value.problem.endswith("--json --python /opt/job/bin/python")
    assert " --no-fix " in raised.value.problem


# The steps as JSON ---------------------------------------------------------------------------------------------------

CELL = Cell("a", "", "b", "eth1", "10.0.0.2", Outcome.WRONG_SOURCE, 0.25, "NAT", "10.9.9.9", 1400, False)
KNOCK = Knocking("10.0.0.1", "no", 0.5)


def facts(host: str, last: int) -> Facts:
    """A node with one interface."""
    link = Interface("eth1", 2, LinkKind.ETHERNET, True, True, 1500, None, (Address(f"10.0.0.{last}", 24),))
    return Facts(host, (link,), choice=Choice("2.29.7", "eth1", f"10.0.0.{last}", "the first"))


EVERY: tuple[Step, ...] = (
    Waiting(Invitation(41317, "236PQLTLKJOTXQDA", ("10.0.0.1", "fe80::1")), (("10.0.0.9", "taken"),)),
    Turned("10.0.0.66", "called with \x1b[2J a wrong token"),
    KNOCK,
    NoWay((KNOCK,), ("eth0 10.0.0.3",), "NCCLCARD1 a:\nX\nEND-Y"),
    Joined(facts("b", 2), "10.0.0.1"),
    Trying(CELL),
    Concluded(conclude((facts("a", 1), facts("b", 2)), (CELL,))),
    Shook(Handshake("2.29.7", "a", "10.0.0.1:4", (Contact(Leg.RING, 1, "b", "10.0.0.2:5", None, "no"),), ("x",)), True),
    Planned("a", (Edit("/etc/nccl.conf", None, b"\xff\n"), Edit("/x", b"", None))),
    MadeFix("a", False, "no"),
    MadeFix("b", True, "written", (Applied("/etc/nccl.conf", None, "2026-11-30T12:00:00Z", "12ab"),)),
    FoundPort("10.0.0.1", 29501, (29500,)),
    Progress("round 1", 2.5),
    WentFast(SpeedTest("gloo", "eth1", (), "no")),
    Trained(SpeedTest("gloo", "eth1", ddp=DdpProof(2, 20, 0.05, 0.4, True, 0.9, 0.1))),
    Ended(True, (Use("a", "eth1", "10.0.0.1"),)),
)


def test_every_kind_of_step_is_tried() -> None:
    assert {type(step) for step in EVERY} == set(Step.__args__)


@pytest.mark.parametrize("step", EVERY, ids=lambda step: type(step).__name__)
def test_a_step_comes_back_as_it_was(step: Step) -> None:
    for told in (encoded(step), step_json(step)):
        again = decoded(msgspec.json.decode(msgspec.json.encode(told)))
        if isinstance(step, Concluded):
            assert isinstance(again, Concluded)
            # How long it took to draw it is nobody else's.
            known, drawn = (one.conclusion for one in (step, again))
            assert (drawn.nodes, drawn.sides) == (known.nodes, known.sides)
            assert drawn.diagnosis.findings == known.diagnosis.findings
        else:
            assert again == step


def test_a_conclusion_keeps_the_contract_of_a_diagnosis_beside_it() -> None:
    told = json.loads(msgspec.json.encode(step_json(EVERY[6])))
    assert (told["step"], told["schema"], told["settled"]) == ("concluded", 1, True)
    assert set(told) >= {"verdict", "findings", "unknown", "nodes", "sides"}


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"step": "vanished"},
        {"step": ["ended"]},
        {"step": "ended"},
        {"step": "ended", "verified": "yes"},
        {"step": "concluded", "nodes": []},
        {"step": "concluded", "nodes": [], "sides": {"match": {"hosts": [], "networks": [], "use": 1}}},
        {"step": "trying", "cell": {**msgspec.to_builtins(CELL), "outcome": "perhaps"}},
        {"step": "planned", "host": "a", "edits": [{"path": "/x", "before": None, "after": "%"}]},
    ],
)
def test_what_is_no_step_is_refused(values: dict[str, object]) -> None:
    with pytest.raises(PeerError, match="cannot read"):
        decoded(values)
