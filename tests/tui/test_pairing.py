"""How a pairing grows, what is said of it, and how long it is waited for: the pure parts, and the person."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from ncclcheck.doctor.conclude import conclude
from ncclcheck.doctor.steps import (
    Concluded,
    Ended,
    Joined,
    Knocking,
    MadeFix,
    Planned,
    Shook,
    Step,
    Trying,
    Turned,
    Waiting,
    WentFast,
)
from ncclcheck.errors import PeerError
from ncclcheck.model import Cell, Contact, Edit, Facts, Handshake, Leg, Match, Node, Outcome, Sides, Use
from ncclcheck.peer import invitation
from ncclcheck.tui import peers
from ncclcheck.tui.matrix import details, tables
from ncclcheck.tui.outcomes import Activity, Answered, Began, Diagnosed, Doing, Meets, Scanned, Stepped
from ncclcheck.tui.outcomes import Ended as Over
from ncclcheck.tui.outcomes import Outcome as Happening
from ncclcheck.tui.pairing import Way
from ncclcheck.tui.person import Person, attended
from ncclcheck.tui.state import Snapshot, advance
from ncclcheck.tui.text.document import Document
from ncclcheck.tui.verdict import verdict
from tests.tui import fake
from tests.tui.fake_peers import FAILS, INVITATION, PASSES, cells

DOCTOR = fake.Doctor()
A, B = (DOCTOR.facts(node) for node in fake.LAB)
HERE = DOCTOR.facts(fake.HERE[0])
FIXED = fake.Doctor(fixed=True)
EDITS = (Edit("/etc/nccl.conf", None, b"x\n"),)


def after(way: Way, *steps: Step, nodes: tuple[Node, ...] = fake.LAB, going_on: bool = False) -> Snapshot:
    """The snapshot after these steps of a pairing, which is over or going on."""
    scanned = tuple(Scanned(node, DOCTOR.facts(node)) for node in nodes)
    outcomes: list[Happening] = [*scanned, Began(Activity.PAIR), Meets(way), Doing(Activity.PAIR, "it")]
    outcomes += [Stepped(step) for step in steps]
    outcomes += [] if going_on else [Over(Activity.PAIR)]
    now = Snapshot(nodes=nodes)
    for outcome in outcomes:
        now = advance(now, outcome)
    return now


def known(one: Facts, other: Facts, *tried: Cell) -> Concluded:
    """What follows for two nodes."""
    return Concluded(conclude((one, other), tried))


BOTH = (*cells(A, B), *cells(B, A))
CONCLUDED = known(A, B, *BOTH)
SETTLED = known(*(FIXED.facts(node) for node in fake.LAB), *BOTH)


def test_a_pairing_keeps_what_each_step_tells() -> None:
    trying = [Trying(cell) for cell in BOTH]
    knock, stranger = Knocking("10.0.0.9", "no", 1.0), Turned("10.0.0.66", "called")
    planned, made, speed = Planned("node-a", EDITS), MadeFix("node-a", True, "written"), WentFast(fake.PASSED)
    steps = (Waiting(INVITATION), stranger, knock, Joined(B, "10.0.0.1"), *trying, CONCLUDED, planned, made, speed)
    pairing = after(Way.INVITE, *steps, Ended(True)).pairing
    assert pairing is not None
    assert (pairing.invitation, pairing.turned, pairing.knocked) == (INVITATION, (stranger,), (knock,))
    assert (pairing.guests, pairing.cells, pairing.known) == ((B,), BOTH, CONCLUDED.conclusion)
    assert (pairing.planned, pairing.made, pairing.test) == (planned, (made,), fake.PASSED)
    assert pairing.ended == Ended(True)


def test_the_first_handshake_is_before_and_the_last_one_now() -> None:
    again = replace(FAILS, nccl="2.28")
    steps = (Shook(FAILS, False), Shook(PASSES, True), Shook(again, False), Shook(PASSES, False))
    pairing = after(Way.INVITE, *steps).pairing
    assert pairing is not None
    assert (pairing.before, pairing.proposed, pairing.after, pairing.latest) == (FAILS, PASSES, PASSES, PASSES)


def test_steps_without_a_pairing_change_nothing() -> None:
    assert advance(Snapshot(), Stepped(Shook(PASSES, False))) == Snapshot()
    assert advance(Snapshot(), Answered(True)) == Snapshot()


SETTLED_FAILS = replace(FAILS, contacts=(Contact(Leg.RING, 0, "node-a", "10.0.0.2:4", problem="a firewall"),))
NO_USE = Concluded(replace(CONCLUDED.conclusion, sides=Sides(Match(("node-a", "node-b"), (), because="no network"))))
UNEVEN = Concluded(
    replace(
        CONCLUDED.conclusion,
        sides=Sides(
            Match(
                ("node-a", "node-b"),
                (),
                (Use("node-a", "eth0", "10.0.0.1"), Use("node-b", "ens5", "10.0.0.2")),
                True,
            )
        ),
    )
)


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (Snapshot(nodes=fake.HERE), "? Nothing tried yet between nodes"),
        (after(Way.INVITE, Waiting(INVITATION), going_on=True), "? Waiting for the other node"),
        (after(Way.INVITE, Joined(B, ""), going_on=True), "? Finding out who reaches whom"),
        (after(Way.INVITE, Waiting(INVITATION)), "– Ended before anything was known; nothing is open any more"),
        (after(Way.BETWEEN, CONCLUDED), "✗ Use eth1 on both nodes; NCCL takes eth0 there now"),
        (after(Way.BETWEEN, UNEVEN), "✗ Use eth0 on node-a and ens5 on node-b; NCCL takes eth0 on node-b now"),
        (after(Way.BETWEEN, NO_USE), "✗ No interfaces fit together: no network"),
        (
            after(Way.BETWEEN, CONCLUDED, Shook(FAILS, False), Shook(PASSES, False)),
            "✓ Fixed and proved: NCCL's own handshake passes over eth1 on both nodes",
        ),
        (
            after(Way.BETWEEN, SETTLED, Shook(PASSES, False)),
            "✓ NCCL's own handshake passes over eth1 on both nodes",
        ),
        (
            after(Way.BETWEEN, SETTLED, Shook(SETTLED_FAILS, False)),
            "✗ NCCL's own handshake fails over eth1 on both nodes: a firewall",
        ),
        (
            after(Way.BETWEEN, SETTLED, Shook(Handshake("", "node-a", "", (), failure="no NCCL"), False)),
            "? Connections pass over eth1 on both nodes; NCCL's own handshake was not run",
        ),
        (after(Way.BETWEEN, CONCLUDED, Shook(PASSES, True)), "✗ Use eth1 on both nodes; NCCL takes eth0 there now"),
        (
            after(Way.CARDS, known(A, B)),
            "? Use eth1 on both nodes (by their cards, not proved); NCCL takes eth0 there now",
        ),
    ],
)
def test_what_holds_between_nodes_in_one_line(now: Snapshot, said: str) -> None:
    answer = peers.verdict(now)
    assert f"{answer.sign} {answer.text}" == said


def test_the_newest_answer_is_the_verdict() -> None:
    concluded = after(Way.BETWEEN, CONCLUDED)
    diagnosed = advance(concluded, Diagnosed(DOCTOR.diagnosis("x"), Document()))
    again = advance(diagnosed, Stepped(Shook(PASSES, False)))
    titles = [verdict(now).text for now in (concluded, diagnosed, again)]
    assert titles[0].startswith("Use eth1 on both nodes")
    assert titles[1] == fake.FINDING.title
    assert titles[2] != titles[1]


# Which node is ours --------------------------------------------------------------------------------------------------


def test_a_name_that_both_have_does_not_lead_to_the_others_fix() -> None:
    other = replace(B, host=HERE.host)
    mine, renamed = HERE, replace(other, host="gpu-box-2")
    as_host = after(Way.INVITE, Joined(renamed, ""), known(mine, renamed), nodes=fake.HERE)
    # Whoever joins is the second of the name, and the host's name is its own.
    me = replace(HERE, host="gpu-box-2")
    as_guest = after(Way.JOIN, Joined(other, ""), known(other, me), nodes=fake.HERE)
    assert [[fix.hosts for fix in peers.own_fixes(now).values()] for now in (as_host, as_guest)] == [
        [("gpu-box",)],
        [("gpu-box-2",)],
    ]


def test_a_fix_that_was_made_is_not_made_again() -> None:
    steps = (Joined(B, ""), known(HERE, B, *cells(HERE, B), *cells(B, HERE)))
    asked = after(Way.INVITE, *steps, nodes=fake.HERE)
    made = after(Way.INVITE, *steps, MadeFix("gpu-box", True, "written"), nodes=fake.HERE)
    refused = after(Way.INVITE, *steps, MadeFix("gpu-box", False, "no"), nodes=fake.HERE)
    assert [len(peers.own_fixes(now)) for now in (asked, made, refused)] == [1, 0, 1]


def test_cards_of_others_lead_to_no_fix_here() -> None:
    assert peers.own_fixes(after(Way.CARDS, known(A, B), nodes=fake.HERE)) == {}


def test_one_fix_stands_for_those_of_all_our_nodes() -> None:
    now = after(Way.BETWEEN, CONCLUDED)
    found = peers.finding(now)
    assert found is not None
    (fix,) = found.fixes
    assert (fix.hosts, fix.env) == (("node-a", "node-b"), (("NCCL_SOCKET_IFNAME", "=eth1"),))
    assert peers.is_remedy(fix, now)
    assert not peers.is_remedy(fake.FIX, now)


@pytest.mark.parametrize(
    ("steps", "going_on", "asked"),
    [
        ((Planned("gpu-box", EDITS),), True, True),
        ((Planned("gpu-box", ()),), True, False),
        ((Planned("gpu-box", EDITS),), False, False),
        ((), True, False),
    ],
)
def test_a_question_is_open_while_the_pairing_waits_for_it(
    steps: tuple[Step, ...], going_on: bool, asked: bool
) -> None:
    now = after(Way.INVITE, Joined(B, ""), *steps, nodes=fake.HERE, going_on=going_on)
    assert (peers.question(now) is not None) is asked
    assert peers.question(advance(now, Answered(False))) is None


@pytest.mark.parametrize(
    ("text", "is_one", "problem"),
    [
        (INVITATION.command, True, ""),
        (INVITATION.command.replace(" 10", "\n  10"), True, ""),
        ("ncclcheck join", False, "this is no invitation: nothing was given"),
        ("ncclcheck join 41317-236PQ 10.0.0.1", True, "this is no invitation: '41317-236PQ' is no PORT-TOKEN"),
        (f"try {INVITATION.command}", False, "this is no invitation: 'try' is no PORT-TOKEN"),
        (INVITATION.command + " x" * 4096, False, "this is no invitation: 'x' is no address"),
    ],
)
def test_what_an_invitation_is(text: str, is_one: bool, problem: str) -> None:
    assert invitation.looks_like(text) is is_one
    said = peers.invitation_problem(text)
    assert said.startswith(problem)
    assert bool(said) is bool(problem)


# The matrix ----------------------------------------------------------------------------------------------------------


def words(tried: tuple[Cell, ...], *, going_on: bool, most: int = 3) -> list[list[str]]:
    """The rows of the first table."""
    first = next(tables((A, B), tried, most, going_on=going_on))
    return [list(first.heading), *([word for word, _ in row] for row in first.rows)]


def test_what_is_still_to_come_has_its_place() -> None:
    assert words(cells(A, B)[1:2], going_on=True) == [
        ["node-a calls node-b at", "as NCCL does", "from eth0", "from eth1"],
        ["→ eth0 172.17.0.2", "…", "…", "…"],
        ["  eth1 10.0.0.2", "ok 0.12 ms", "…", "…"],
    ]


def test_what_was_never_tried_says_so() -> None:
    assert words(cells(A, B)[:2], going_on=False) == [
        ["node-a calls node-b at", "as NCCL does"],
        ["→ eth0 172.17.0.2", "not it"],
        ["  eth1 10.0.0.2", "ok 0.12 ms"],
    ]
    assert words(cells(A, B)[:3], going_on=False)[2] == ["  eth1 10.0.0.2", "ok 0.12 ms", "-"]


def test_columns_for_which_there_is_no_room_are_counted() -> None:
    table = next(tables((A, B), cells(A, B), 1, going_on=False))
    assert (table.heading[-1], table.left_out) == ("from eth0", 1)


@pytest.mark.parametrize(
    ("outcome", "seconds", "word", "tone"),
    [
        (Outcome.OK, 0.0000123, "ok 0.012 ms", "GOOD"),
        (Outcome.OK, 3.25, "ok 3.2 s", "GOOD"),
        (Outcome.WRONG_SOURCE, 0.1, "ok (NAT?)", "GOOD"),
        (Outcome.MTU_TOO_SMALL, 0.1, "MTU!", "BAD"),
        (Outcome.REFUSED, None, "refused", "BAD"),
    ],
)
def test_a_cell_in_a_word(outcome: Outcome, seconds: float | None, word: str, tone: str) -> None:
    cell = Cell("node-a", "", "node-b", "eth1", "10.0.0.2", outcome, seconds)
    row = next(tables((A, B), (cell,), 3, going_on=False)).rows[0]
    assert (row[1][0], row[1][1].name) == (word, tone)


def test_what_stands_behind_the_words() -> None:
    lost = Cell("node-a", "", "node-b", "eth1", "10.0.0.2", Outcome.DROPPED, detail="no answer", arrived=True)
    bound = replace(lost, interface="eth1")
    assert list(details((*cells(A, B), lost, bound))) == [
        "node-a to eth0 172.17.0.2: this node itself has 172.17.0.2, so it never reaches node-b",
        "node-a to eth1 10.0.0.2: no answer; the call arrived, its answer did not come back",
    ]


# The person ----------------------------------------------------------------------------------------------------------


def test_whoever_goes_has_said_no_and_to_nothing_everybody_says_yes() -> None:
    person = Person()
    assert person.agree((), fake.FIX)
    person.answer(True)
    assert person.agree(EDITS, fake.FIX)
    person.go()
    assert not person.agree(EDITS, fake.FIX)
    assert person.gone()


def test_steps_are_not_waited_for_once_the_person_went() -> None:
    came, closed, person = threading.Event(), threading.Event(), Person()

    def steps() -> Iterator[Step]:
        try:
            yield Joined(A, "")
            came.wait(30)
            yield Joined(B, "")
        finally:
            closed.set()

    seen = attended(steps(), person.gone)
    assert next(seen) == Joined(A, "")
    person.go()
    began = time.monotonic()
    assert list(seen) == []
    assert time.monotonic() - began < 5
    assert not closed.is_set()
    came.set()
    assert closed.wait(10), "with its next step it is closed"


def test_an_error_reaches_whoever_looks() -> None:
    def steps() -> Iterator[Step]:
        yield Joined(A, "")
        raise PeerError("no")

    seen = attended(steps(), lambda: False)
    assert next(seen) == Joined(A, "")
    with pytest.raises(PeerError, match="no"):
        next(seen)


def test_the_first_paint_waits_for_no_rules_and_no_pairing() -> None:
    code = "import sys, ncclcheck.tui.app; print(*[name for name in sys.modules if name.startswith('ncclcheck.')])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "ncclcheck.tui.peers" in loaded
    assert [name for name in loaded if name.startswith(("ncclcheck.doctor", "ncclcheck.rulebook"))] == []
