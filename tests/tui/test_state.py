"""The snapshot after each outcome, and the tables of the pure parts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ncclcheck.model import Comparison, Diagnosis, Job, Unknown, Verdict
from ncclcheck.tui import advice, journey, wording
from ncclcheck.tui.offers import next_step, offers
from ncclcheck.tui.outcomes import (
    Activity,
    Began,
    Changed,
    Diagnosed,
    Doing,
    Ended,
    Failed,
    Measured,
    NodeApplied,
    Noted,
    Opened,
    Outcome,
    Probed,
    Read,
    Scanned,
    Stopped,
    Undone,
)
from ncclcheck.tui.state import Earlier, Snapshot, advance
from ncclcheck.tui.steps import Progress, Step
from ncclcheck.tui.text.document import Document, every
from ncclcheck.tui.verdict import verdict
from tests.tui import fake

A, B = fake.LAB
DOCTOR = fake.Doctor()
PROBES = tuple(DOCTOR.probe(node) for node in fake.LAB)


def after(*outcomes: Outcome, start: Snapshot | None = None) -> Snapshot:
    """The snapshot after several outcomes."""
    now = start or Snapshot(nodes=fake.LAB)
    for outcome in outcomes:
        now = advance(now, outcome)
    return now


@pytest.mark.parametrize(
    ("end", "progress"),
    [
        (Ended(Activity.PROBE), Progress.DONE),
        (Stopped(Activity.PROBE), Progress.STOPPED),
        (Failed(Activity.PROBE, "no"), Progress.FAILED),
        (Doing(Activity.PROBE, "next"), Progress.DONE),
    ],
)
def test_a_step_ends_as_its_activity_does(end: Outcome, progress: Progress) -> None:
    now = after(Doing(Activity.PROBE, "ask"), Noted(Activity.PROBE, "1 s"), end)
    assert now.steps[0] == Step(Activity.PROBE, "ask", "1 s", progress)


def test_a_new_start_forgets_the_old_steps_and_the_failure() -> None:
    now = after(Doing(Activity.PROBE, "ask"), Failed(Activity.PROBE, "no"), Doing(Activity.SCAN, "look"))
    assert after(Began(Activity.PROBE), start=now) == Snapshot(nodes=fake.LAB, steps=(Step(Activity.SCAN, "look"),))
    assert after(Read(), start=now).failure is None


def test_facts_stand_in_the_order_of_the_nodes_and_are_replaced() -> None:
    old, new = Scanned(B, DOCTOR.facts(B)), Scanned(B, replace(DOCTOR.facts(B), interfaces=()))
    first = Scanned(A, DOCTOR.facts(A))
    assert after(old, first, new).scanned == (first, new)


def test_before_ends_with_the_first_change() -> None:
    now = after(
        Probed(PROBES),
        Measured(fake.FAILED),
        Changed(NodeApplied(A, ())),
        Changed(NodeApplied(B, ())),
        Measured(fake.PASSED),
    )
    assert now.earlier == Earlier(PROBES, fake.FAILED)
    assert now.comparison == Comparison(fake.FAILED, fake.PASSED)
    half = after(Undone(NodeApplied(B, ())), start=now)
    assert (half.changes, half.comparison) == ((NodeApplied(A, ()),), None)
    assert after(Undone(NodeApplied(A, ())), start=half).earlier is None


def test_only_work_on_the_nodes_makes_it_busy() -> None:
    assert not after(Doing(Activity.SCAN, "look")).busy
    assert after(Doing(Activity.SCAN, "look"), Doing(Activity.SPEED, "measure")).busy


@pytest.mark.parametrize(
    ("outcomes", "actions", "best"),
    [
        ((), ["probe", "peers", "setup", "open"], "probe"),
        (
            (Scanned(A, DOCTOR.facts(A)), Scanned(B, DOCTOR.facts(B))),
            ["probe", "what_if", "speed", "peers", "setup", "open", "copy"],
            "probe",
        ),
        (
            (Diagnosed(DOCTOR.diagnosis("x"), Document()),),
            ["probe", "fix", "log", "peers", "open", "copy"],
            "fix",
        ),
        ((Doing(Activity.FIX, "write"),), ["peers", "open", "stop"], "probe"),
    ],
)
def test_offers(outcomes: tuple[Outcome, ...], actions: list[str], best: str) -> None:
    now = after(*outcomes)
    assert ([offer.action for offer in offers(now)], next_step(now)) == (actions, best)


def test_what_is_missing_decides_the_next_step() -> None:
    unknown = after(Diagnosed(replace(DOCTOR.diagnosis("x"), verdict=Verdict.UNKNOWN, findings=()), Document()))
    assert next_step(unknown) == "open"
    ours = replace(unknown, of_nodes=True)
    assert next_step(ours) == "peers"
    assert next_step(after(Scanned(A, DOCTOR.facts(A)), Scanned(B, DOCTOR.facts(B)), start=ours)) == "speed"


def _answer(verdict: Verdict, *unknown: Unknown) -> Snapshot:
    diagnosis = Diagnosis(verdict, (), unknown, Job(), 1, 1, 0.0)
    return Snapshot(nodes=fake.LAB, diagnosis=diagnosis, document=Document("job.log"))


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (Snapshot(), "? Not checked yet: p asks the real NCCL here, or paste a log"),
        (_answer(Verdict.HEALTHY), "✓ Nothing wrong found in job.log"),
        (_answer(Verdict.UNKNOWN, Unknown("who?", "b.log")), "? Cannot tell yet: who? (missing: b.log)"),
        (
            _answer(Verdict.UNKNOWN, Unknown("who?", "b.log"), Unknown("when?", "a clock")),
            "? Cannot tell yet: who? (missing: b.log) (and 1 more)",
        ),
        (_answer(Verdict.UNKNOWN), "? Cannot tell yet: the text says nothing about NCCL's network"),
        (
            replace(_answer(Verdict.HEALTHY), earlier=Earlier((), fake.FAILED), speed=fake.PASSED),
            "✓ Nothing wrong found in job.log",
        ),
        (
            replace(_answer(Verdict.UNKNOWN), earlier=Earlier((), fake.FAILED), speed=fake.PASSED, of_nodes=True),
            "✓ Fixed and proved: the speed test that failed now reports 1.46 GB/s one way, 0.95 GB/s both ways",
        ),
    ],
)
def test_the_verdict_in_one_line(now: Snapshot, said: str) -> None:
    answer = verdict(now)
    assert f"{answer.sign} {answer.text}" == said


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        (("10.0.0.1", "64M", "0"), "not HOST:PORT: '10.0.0.1' (such as 10.0.0.1:5000 or [fd00::1]:5000)"),
        (("10.0.0.1:5000", "big", "0"), "not a size: 'big' (a number of bytes, with K, M or G: 100M)"),
        (("10.0.0.1:5000", "64M", "2"), "the rank is 0 on the node that HOST names, and 1 on the other"),
    ],
)
def test_what_is_wrong_with_a_typed_side(typed: tuple[str, str, str], problem: str) -> None:
    assert wording.side(*typed, None) == problem


def test_the_other_side_has_the_other_rank() -> None:
    here = wording.side("[fd00::1]:5000", "1G", "1", "eth1")
    assert not isinstance(here, str)
    assert wording.other_side(here, "1G")[1] == "  ncclcheck speedtest [fd00::1]:5000 1G 0"


def test_a_diff_shows_what_goes_and_what_comes() -> None:
    assert advice.diff(fake.EDIT) == (" # site settings", " NCCL_DEBUG=WARN", "+NCCL_SOCKET_IFNAME==eth1")
    assert advice.diff(replace(fake.EDIT, before=None, after=b"---\n+++\n")) == ("+---", "++++")


def test_a_fix_from_a_strangers_log_carries_a_warning() -> None:
    now = replace(after(Diagnosed(DOCTOR.diagnosis("x"), Document())), nodes=fake.HERE)
    assert advice.cautions(now, fake.FIX) == (
        "The log is from node-a, but this would be written on gpu-box.",
        "The job needs it on all nodes; what to run on the others stands below.",
    )
    assert advice.cautions(replace(now, nodes=fake.LAB), fake.FIX) == ()


def test_a_paste_brings_facts_only_of_a_node_that_it_names() -> None:
    asked = []
    cases = replace(DOCTOR.cases(), examine=lambda facts: asked.append(facts) or fake.Examined(DOCTOR))
    facts = (DOCTOR.facts(A), DOCTOR.facts(B))
    told = list(journey.read_paste(cases, "node-b:1:1 NCCL\r\nx\ry", facts))
    shown = next(outcome.document for outcome in told if isinstance(outcome, Opened))
    assert [row.raw for row in every(shown)] == ["node-b:1:1 NCCL", "x", "y"]
    assert asked == [(facts[1],)]
