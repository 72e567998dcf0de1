"""The way of a fix: ended at any step it tells what was done and what not, and what was done can be taken back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from ncclcheck.errors import ApplyError
from ncclcheck.model import Applied
from ncclcheck.tui import advice, fixing
from ncclcheck.tui.outcomes import (
    Activity,
    Changed,
    Doing,
    Ended,
    NodeApplied,
    NodeEdits,
    Outcome,
    Scanned,
    Stopped,
    Ticked,
)
from ncclcheck.tui.screens.fix import FixDialog
from ncclcheck.tui.screens.overview import OverviewPlace
from ncclcheck.tui.state import Snapshot, advance
from ncclcheck.tui.steps import Progress
from tests.tui import fake, fake_peers
from tests.tui.pilots import LARGE, doctor_of, opened, pressed, settled, text_of, until

A, B = fake.LAB
PLAN = (NodeEdits(A, (fake.EDIT,)), NodeEdits(B, (fake.EDIT,)))
STEPS = [
    "speed test before the fix",
    "writing /etc/nccl.conf on node-a",
    "writing /etc/nccl.conf on node-b",
    "looking at node-a",
    "looking at node-b",
    "asking the real NCCL on node-a",
    "asking the real NCCL on node-b",
    "NCCL's own handshake between the nodes",
    "speed test after the fix",
]


def ready(doctor: fake.Doctor) -> Snapshot:
    """Both nodes known, and a plan for them."""
    scanned = tuple(Scanned(node, doctor.facts(node)) for node in fake.LAB)
    return Snapshot(nodes=fake.LAB, scanned=scanned, fix=fake.FIX, plan=PLAN)


def followed(
    now: Snapshot, outcomes: fixing.Outcomes, seen: Callable[[Outcome], object] = lambda outcome: None
) -> Snapshot:
    """The snapshot after all of them, as the app folds them."""
    for outcome in outcomes:
        now = advance(now, outcome)
        seen(outcome)
    return advance(now, Ended(Activity.FIX))


def states(now: Snapshot) -> dict[str, Progress]:
    """How far each step came."""
    return {step.text: step.progress for step in now.steps_of(Activity.FIX)}


def test_what_is_ahead_is_what_comes() -> None:
    doctor, begun = fake.Doctor(), list[str]()
    now = ready(doctor)
    proved = fixing.prove(doctor.cases(), now, lambda: False)
    left = advance(now, next(proved))
    assert [step.text for step in left.steps] == STEPS
    assert set(states(left).values()) == {Progress.LEFT}
    end = followed(left, proved, lambda outcome: begun.append(outcome.text) if isinstance(outcome, Doing) else None)
    assert begun == STEPS
    assert set(states(end).values()) == {Progress.DONE}
    assert advice.outcome(end) is None


@pytest.mark.parametrize("last", range(1, len(STEPS)))
def test_it_ends_after_the_step_in_which_somebody_wants_it(last: int) -> None:
    doctor, begun = fake.Doctor(), list[str]()
    now = ready(doctor)

    def seen(outcome: Outcome) -> None:
        if isinstance(outcome, Doing):
            begun.append(outcome.text)

    end = followed(now, fixing.prove(doctor.cases(), now, lambda: len(begun) >= last), seen)
    assert begun == STEPS[:last]
    written = [step for step in STEPS[:last] if step.startswith("writing")]
    assert len([call for call in doctor.calls if call.startswith("apply")]) == len(written)
    assert [change.node for change in end.changes] == list(fake.LAB[: len(written)])
    reached = states(end)
    assert all(reached[text] is Progress.LEFT for text in STEPS[last:])
    told = advice.outcome(end)
    assert told is not None
    done = 0 if last == 1 else last  # A speed test is cut short; anything else is brought to its end.
    where = (
        "Nothing of it is on the nodes now",
        "The change is written on node-a, not on node-b",
        "The change is written on node-a, node-b",
    )
    assert told.text == f"Not to its end: {done} of {len(STEPS)} steps. {where[len(written)]}."


def test_a_speed_test_is_cut_short_and_its_processes_are_ended() -> None:
    doctor, ended = fake.Doctor(), []
    cases = doctor.cases()

    def measure(meeting: fake.Meeting) -> fake.Ticks:
        try:
            yield from fake.told(fake.PASSED)
        finally:
            ended.append(meeting.address)

    now, ticks = ready(doctor), list[Outcome]()
    outcomes = fixing.prove(replace(cases, measure=measure), now, lambda: bool(ticks))
    seen = list[Outcome]()
    for outcome in outcomes:
        seen.append(outcome)
        if isinstance(outcome, Ticked):
            ticks.append(outcome)
    assert len(ticks) == 1
    assert isinstance(seen[-1], Stopped)
    assert ended == ["10.0.0.1"]
    assert not [call for call in doctor.calls if call.startswith("apply")]


def test_where_nccl_does_not_get_through_speed_is_not_measured() -> None:
    doctor = fake.Doctor(shaken=fake_peers.FAILS)
    now = ready(doctor)
    end = followed(now, fixing.prove(doctor.cases(), now, lambda: False))
    assert doctor.calls[-1] == "handshake"
    assert states(end)["speed test after the fix"] is Progress.LEFT
    told = advice.outcome(end)
    assert told is not None
    assert told.text == "Not to its end: 8 of 9 steps. The change is written on node-a, node-b."


def test_a_node_that_cannot_be_written_leaves_what_was_written_before_it_to_be_undone() -> None:
    doctor = fake.Doctor()
    cases = doctor.cases()

    def apply(edits: object, node: fake.Node) -> tuple[Applied, ...]:
        if node == B:
            raise ApplyError("read-only", place="/etc/nccl.conf")
        return (Applied("/etc/nccl.conf", None, "now"),)

    start, told = ready(doctor), list[Outcome]()
    with pytest.raises(ApplyError):
        followed(start, fixing.prove(replace(cases, apply=apply), start, lambda: False), told.append)
    assert [outcome.change.node for outcome in told if isinstance(outcome, Changed)] == [A]


def test_taking_back_can_be_ended_between_the_nodes() -> None:
    doctor, begun = fake.Doctor(fixed=True), list[str]()
    changes = tuple(NodeApplied(node, (Applied("/etc/nccl.conf", None, "now"),)) for node in fake.LAB)
    now = replace(ready(doctor), changes=changes)

    def seen(outcome: Outcome) -> None:
        if isinstance(outcome, Doing):
            begun.append(outcome.text)

    end = followed(now, fixing.undo(doctor.cases(), now, lambda: bool(begun)), seen)
    assert doctor.calls == ["undo node-b"]
    assert end.changes == changes[:1]
    told = advice.outcome(end)
    assert told is not None
    assert told.text == "Not to its end: 1 of 6 steps. The change is written on node-a, not on node-b."


# By keys -------------------------------------------------------------------------------------------------------------


async def test_x_ends_it_after_the_node_that_is_being_written_and_u_takes_that_back() -> None:
    gate = threading.Event()
    doctor = fake.Doctor()
    async with opened(doctor, size=LARGE) as pilot:
        await pressed(pilot, "p", "f")
        doctor.held["apply"] = gate
        await pilot.press("a")
        await until(pilot, lambda: "… writing /etc/nccl.conf on node-a" in text_of(pilot))
        assert "· writing /etc/nccl.conf on node-b" in text_of(pilot)
        await pilot.press("x")
        await until(pilot, lambda: "writing /etc/nccl.conf on node-a: ends after this step" in text_of(pilot))
        await pilot.press("u", "a", "enter")
        assert doctor_of(pilot).snapshot.busy, "it is not over before the step is"
        gate.set()
        await settled(pilot)
        shown = text_of(pilot)
        assert "✓ writing /etc/nccl.conf on node-a" in shown
        assert "· writing /etc/nccl.conf on node-b" in shown
        assert "– Not to its end: 2 of 9 steps. The change is written on node-a, not on node-b." in shown
        assert [call for call in doctor.calls if call.startswith(("apply", "undo"))] == ["apply node-a"]
        await pressed(pilot, "u")
        assert [call for call in doctor.calls if call.startswith(("apply", "undo"))] == ["apply node-a", "undo node-a"]
        assert doctor_of(pilot).snapshot.changes == ()
        assert "nothing of it is left on the nodes" in text_of(pilot)
        await pressed(pilot, "enter")
        assert isinstance(pilot.app.screen, OverviewPlace)


async def test_enter_never_writes() -> None:
    doctor = fake.Doctor()
    async with opened(doctor) as pilot:
        await pressed(pilot, "enter", "enter", "enter", "enter")
        assert isinstance(pilot.app.screen, FixDialog)
        assert not [call for call in doctor.calls if call.startswith("apply")]


async def test_alone_it_shows_what_to_run_on_the_other_node() -> None:
    doctor = fake.Doctor()
    async with opened(doctor, fake.HERE) as pilot:
        await pressed(pilot, "p", "f")
        command = "ncclcheck fix --set NCCL_SOCKET_IFNAME==eth1 --apply"
        assert f"  {command}" in text_of(pilot)
        await pressed(pilot, "c")
        assert command in pilot.app.clipboard
        assert "export NCCL_SOCKET_IFNAME='=eth1'" in pilot.app.clipboard
        await pressed(pilot, "a")
        assert "✓ writing /etc/nccl.conf on gpu-box" in text_of(pilot)
        assert f"  {command}" in text_of(pilot)
