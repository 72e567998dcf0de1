"""Text from strangers can never act: shown as it is, in every widget, by every way in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncclcheck.doctor.conclude import conclude
from ncclcheck.doctor.steps import Concluded, Joined, MadeFix, Planned, Shook, Trying, Turned, Waiting, WentFast
from ncclcheck.errors import ProbeError
from ncclcheck.model import (
    Baseline,
    Cell,
    Choice,
    Contact,
    Edit,
    Facts,
    Fix,
    Judgement,
    Leg,
    Node,
    Probe,
    Rating,
    Scope,
    Transport,
    Where,
)
from ncclcheck.model import Outcome as Peer
from ncclcheck.printable import printable
from ncclcheck.speedtest.history import Run
from ncclcheck.speedtest.reports import Progress, Suspected
from ncclcheck.tui import content, findings_content
from ncclcheck.tui.outcomes import (
    Activity,
    Began,
    Changed,
    Doing,
    Measured,
    Meets,
    NodeApplied,
    Outcome,
    Remembered,
    Stepped,
    Ticked,
)
from ncclcheck.tui.pairing import Way
from ncclcheck.tui.state import advance
from ncclcheck.tui.text.document import Document, shown
from tests.tui import fake
from tests.tui.fake_peers import FAILS, INVITATION
from tests.tui.pilots import doctor_of, opened, paste, pressed, settled, text_of

HOSTILE = "[red]no[/red] [@click=app.quit]x[/] \x1b[2J\x1b]52;c;aGk=\x07 \u202egnp.exe\u2066 \x9b31m [/nope] 漢字 $x"
LITERAL = "[red]no[/red] [@click=app.quit]x[/] \\x1b[2J\\x1b]52;c;aGk=\\x07 \\x202egnp.exe\\x2066 \\x9b31m [/nope]"
UNSAFE = set(map(chr, [*range(32), *range(127, 160), 0x202E, 0x2066])) - {"\n"}


def _finding() -> fake.Finding:
    fix = replace(fake.FIX, title=f"fix {HOSTILE}", hosts=(HOSTILE,), env=((HOSTILE, HOSTILE),), files=())
    return replace(
        fake.FINDING,
        title=f"title {HOSTILE}",
        explanation=f"why {HOSTILE}",
        not_proof_of=f"not {HOSTILE}",
        fixes=(fix, Fix(f"hand {HOSTILE}", Scope.LAUNCHER, fake.BY_HAND.risk, commands=(HOSTILE,))),
    )


class Hostile(fake.Doctor):
    """Strangers' text wherever a value holds text."""

    def facts(self, node: Node) -> Facts:
        honest = super().facts(node)
        link = replace(honest.interfaces[1], name=HOSTILE)
        return replace(honest, interfaces=(link,), choice=Choice("2.29", HOSTILE, HOSTILE, HOSTILE))

    def probe(self, node: Node) -> Probe:
        return replace(super().probe(node), log=(HOSTILE, "x" * 3000, HOSTILE, HOSTILE))


async def test_every_place_shows_it_literally() -> None:
    doctor = Hostile(finding=_finding(), errors={"measure": ProbeError(HOSTILE, place=HOSTILE, next_step=HOSTILE)})
    async with opened(doctor, (Node(HOSTILE), Node("node-b")), size=(200, 60)) as pilot:
        seen = []
        for keys in (("1",), ("p", "2"), ("tab",), ("f",), ("right",), ("escape", "s"), ("1",), ("ctrl+p",)):
            await pressed(pilot, *keys)
            seen.append(text_of(pilot))
            assert not UNSAFE & set(seen[-1])
        assert all(LITERAL[:40] in text for text in seen[:-1])
        assert all("漢字" in text for text in seen[:-1])


async def test_a_pasted_line_is_inert_in_log_and_evidence() -> None:
    async with opened(fake.Doctor()) as pilot:
        await paste(pilot, f"NCCL {HOSTILE}\nNCCL second\n" + "NCCL\n" * 3)
        shown_text = text_of(pilot)
        assert shown_text.count(f"NCCL {LITERAL}"[:60]) >= 2
        assert not UNSAFE & set(shown_text)


async def test_a_copied_finding_is_inert(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    async with opened(fake.Doctor(finding=_finding())) as pilot:
        await pressed(pilot, "p", "c")
        assert f"title {LITERAL}" in " ".join(pilot.app.clipboard.split())
        assert not (UNSAFE - {"\t"}) & set(pilot.app.clipboard)


async def test_a_log_of_100_000_lines_and_one_of_10_megabytes_in_a_line_open_and_scroll() -> None:
    async with opened(fake.Doctor()) as pilot:
        await paste(pilot, "NCCL INFO line\n" * 100_000)
        await pressed(pilot, "tab", "tab", "end", "home")
        assert "     1 NCCL INFO line" in text_of(pilot)
        await paste(pilot, "NCCL " + "x" * 10_000_000)
        await settled(pilot)
        assert "NCCL xxxxx" in text_of(pilot)
        await pressed(pilot, "right", "end")


@given(st.text(alphabet=st.characters(codec=None)))
def test_no_text_leaves_a_control_character_on_the_screen(text: str) -> None:
    assert not UNSAFE & set(shown(text))
    assert not (UNSAFE | {"\n"}) & set(content.piece(text.replace("\n", " ")).plain)
    assert printable(shown(text)) == shown(text)


@given(st.text(alphabet="[]/=@red $bold\\"))
def test_markup_is_never_interpreted(text: str) -> None:
    assert content.piece(text).plain == text
    assert len(content.piece(text).spans) == 0


async def test_other_nodes_texts_are_inert_between_the_peers(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    doctor = Hostile()
    async with opened(doctor, size=(200, 60)) as pilot:
        await pressed(pilot, "4")
        app = doctor_of(pilot)
        seen = []
        for happened in hostile_pairing(doctor):
            app.snapshot = advance(app.snapshot, happened)
            await pilot.pause()
            seen.append(text_of(pilot))
            assert not UNSAFE & set(seen[-1])
        assert all(LITERAL[:40] in text for text in seen[3:])
        assert "漢字" in seen[-1]
        await pressed(pilot, "c")
        assert LITERAL in app.clipboard
        assert not UNSAFE & set(app.clipboard)


def hostile_pairing(doctor: fake.Doctor) -> Iterator[Outcome]:
    """A pairing with somebody who puts it into every text."""
    taken = Choice("2.29", HOSTILE, "172.17.0.2", HOSTILE)
    ours, theirs = (replace(doctor.facts(node), host=f"{node.name} {HOSTILE}", choice=taken) for node in fake.LAB)
    cell = Cell(ours.host, HOSTILE, theirs.host, HOSTILE, "10.0.0.2", Peer.DROPPED, detail=HOSTILE)
    failed = replace(FAILS, contacts=(Contact(Leg.TO_ROOT, 0, HOSTILE, HOSTILE, problem=HOSTILE),))
    known = conclude((ours, theirs), (cell, replace(cell, interface="")))
    found = tuple(replace(fake.FINDING, title=HOSTILE, fixes=_finding().fixes) for _ in range(2))
    concluded = replace(known, diagnosis=replace(known.diagnosis, findings=found))
    yield Began(Activity.PAIR)
    yield Meets(Way.INVITE)
    yield Doing(Activity.PAIR, HOSTILE)
    yield Stepped(Waiting(INVITATION, ((HOSTILE, HOSTILE),)))
    yield Stepped(Turned(HOSTILE, HOSTILE))
    yield Stepped(Joined(theirs, HOSTILE))
    yield Stepped(Trying(cell))
    yield Stepped(Concluded(concluded))
    yield Stepped(Shook(failed, proposed=False))
    yield Stepped(Planned(HOSTILE, (Edit(HOSTILE, None, HOSTILE.encode()),)))
    yield Stepped(MadeFix(HOSTILE, False, HOSTILE))
    yield Stepped(WentFast(replace(fake.FAILED, failure=HOSTILE)))


def test_evidence_that_is_not_in_the_text_is_no_error() -> None:
    found = replace(fake.FINDING, evidence=(Where("elsewhere", 12),))
    assert "elsewhere:12" in findings_content.finding(found, fake_document(), 80).plain


def fake_document() -> Document:
    """An empty document."""
    return Document()


async def test_what_a_speed_test_says_is_inert(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    doctor = Hostile()
    async with opened(doctor, size=(200, 60)) as pilot:
        await pressed(pilot, "5")
        app = doctor_of(pilot)
        seen = []
        for happened in hostile_speed(doctor):
            app.snapshot = advance(app.snapshot, happened)
            await pilot.pause()
            seen.append(text_of(pilot))
            assert not UNSAFE & set(seen[-1])
        assert all(LITERAL[:40] in text for text in seen[1:])
        assert all("漢字" in text for text in seen[1:])
        await pressed(pilot, "c")
        assert LITERAL in app.clipboard
        assert not UNSAFE & set(app.clipboard)


def hostile_speed(doctor: fake.Doctor) -> Iterator[Outcome]:
    """A test that has it in every text, between two nodes and in the history."""
    carried = Transport(HOSTILE, (HOSTILE,), (HOSTILE,))
    baseline = Baseline(HOSTILE, 4, 1, 1.0, HOSTILE)
    test = replace(fake.PASSED, backend=HOSTILE, interface=HOSTILE, baseline=baseline, transport=carried)
    failed = replace(fake.FAILED, failure=f"{HOSTILE}\n{HOSTILE}", stage=HOSTILE, interface=HOSTILE)
    means = Judgement(Rating.TUNE, 1.0, 2.0, HOSTILE, HOSTILE, HOSTILE)
    yield Began(Activity.SPEED)
    yield Doing(Activity.SPEED, HOSTILE)
    yield Ticked(Activity.SPEED, Progress(HOSTILE, 1.0))
    yield Ticked(Activity.SPEED, Suspected(HOSTILE, 2.0, HOSTILE, HOSTILE))
    yield Measured(failed, means, HOSTILE)
    yield Changed(NodeApplied(fake.LAB[0], ()))
    yield Remembered((Run("1", HOSTILE, HOSTILE, test, means, HOSTILE),))
    yield Measured(test, means, HOSTILE)
