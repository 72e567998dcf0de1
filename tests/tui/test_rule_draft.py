"""A rule from the line under the cursor: proposed, tried as it is typed, checked, saved, and in force."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from ncclcheck.model import Where
from ncclcheck.tui import rule_making
from ncclcheck.tui.app import Doctor
from ncclcheck.tui.real import use_cases
from ncclcheck.tui.rule_trial import Trial, Tried
from ncclcheck.tui.screens.log import LogPlace
from ncclcheck.tui.screens.rule_draft import RuleDialog
from ncclcheck.tui.text import document
from tests.tui import fake
from tests.tui.pilots import SMALL, doctor_of, opened, paste, pressed, settled, text_of, until

LOST = "[rank{rank}]: RuntimeError: token {number} of 10.0.0.{number} was lost, evil [bold]markup[/bold]"
LOG = "\n".join(
    ("hello", *(LOST.format(rank=rank, number=17 + rank) for rank in range(12)), "token of nobody was lost")
)


@asynccontextmanager
async def asking(doctor: fake.Doctor, line: int = 2, log: str = LOG) -> AsyncIterator[Pilot[None]]:
    """The dialog for a line of a pasted log."""
    async with opened(doctor, fake.HERE) as pilot:
        await paste(pilot, log)
        await at_line(pilot, line)
        await pressed(pilot, "r")
        yield pilot


async def at_line(pilot: Pilot[None], line: int) -> None:
    """Put the cursor on a line."""
    place = pilot.app.screen
    assert isinstance(place, LogPlace)
    place.pane.point_to(Where("pasted", line))
    await settled(pilot)


def field(pilot: Pilot[None], name: str) -> Input:
    """One of the dialog's lines."""
    return pilot.app.screen.query_one(f"#{name}", Input)


async def typed(pilot: Pilot[None], name: str, text: str) -> None:
    """What somebody writes there, once it was tried."""
    field(pilot, name).value = text
    await until(pilot, lambda: (trial := doctor_of(pilot).snapshot.trial) is not None and trial.pattern == text)
    await settled(pilot)


async def test_a_pattern_is_proposed_and_was_tried_on_the_whole_log() -> None:
    async with asking(fake.Doctor()) as pilot:
        assert isinstance(pilot.app.screen, RuleDialog)
        assert field(pilot, "pattern").value == (
            r"RuntimeError: token \d{1,20} of (?P<address>\d{1,3}(?:\.\d{1,3}){3}) was lost,"
            r" evil \[bold\]markup\[/bold\]"
        )
        assert field(pilot, "name").value == "runtimeerror-token-was-lost"
        shown = text_of(pilot)
        assert "pasted:2  [rank0]: RuntimeError: token 17 of 10.0.0.17" in shown
        assert "✓ matches 12 lines; the first is pasted:2" in shown
        for words in ("Make a rule from this line", "Pattern,", "Title,", "Name,", "Enter checks the rule", "Close"):
            assert words in shown


TYPED = {
    "token 1[789] of": "✓ matches 3 lines; the first is pasted:2",
    "token 17 of": "✓ matches 1 line; the first is pasted:2",
    "(?<!x)token": "✗ the pattern uses lookbehind",
    "token (": "✗ the pattern does not compile",
    "[a-z]+": "✗ it needs words that each such line holds",
    "nobody": "✗ it does not match the line that the rule is made from",
}


async def test_what_is_typed_is_tried() -> None:
    async with asking(fake.Doctor()) as pilot:
        for pattern, words in TYPED.items():
            await typed(pilot, "pattern", pattern)
            assert words in text_of(pilot)


async def test_enter_saves_it_shows_the_path_and_diagnoses_again() -> None:
    doctor = fake.Doctor()
    async with asking(doctor) as pilot:
        field(pilot, "name").value = "lost-token"
        before = doctor.calls.count("diagnose_text")
        await pressed(pilot, "enter")
        assert doctor.calls.count("keep_rule lost-token") == 1
        assert doctor.calls.count("diagnose_text") == before + 1
        shown = text_of(pilot)
        assert "✓ Saved, and the log is diagnosed with it" in shown
        assert "/home/me/.config/ncclcheck/rules/causes/lost-token" in shown
        await pressed(pilot, "enter")
        assert doctor.calls.count("keep_rule lost-token") == 1
        await pressed(pilot, "escape")
        assert isinstance(pilot.app.screen, LogPlace)
        await pressed(pilot, "r")
        assert "Saved" not in text_of(pilot), "another rule is another one"


async def test_escape_leaves_everything_as_it_was() -> None:
    doctor = fake.Doctor()
    async with asking(doctor) as pilot:
        await pressed(pilot, "escape")
        assert isinstance(pilot.app.screen, LogPlace)
        assert not [call for call in doctor.calls if call.startswith("keep_rule")]


async def test_there_is_no_rule_where_there_is_no_line() -> None:
    async with opened(fake.Doctor(), fake.HERE) as pilot:
        await pressed(pilot, "2", "r")
        assert isinstance(pilot.app.screen, LogPlace)
        await pressed(pilot, "1", "r")
        assert not isinstance(pilot.app.screen, RuleDialog)


async def test_a_rule_of_the_real_kind_is_written_and_finds_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    app = Doctor(fake.HERE, cases=use_cases())
    async with app.run_test(size=SMALL) as pilot:
        await settled(pilot)
        await paste(pilot, LOG)
        await at_line(pilot, 3)
        await pressed(pilot, "r")
        field(pilot, "name").value = "Not A Name"
        await pressed(pilot, "enter")
        assert "✗ The rule was not saved: 'Not A Name' is no name for a rule" in text_of(pilot)
        field(pilot, "name").value = "lost-token"
        await pressed(pilot, "enter")
        rules = tmp_path / "ncclcheck" / "rules"
        assert sorted(path.name for path in rules.rglob("*.toml")) == ["NC950-lost-token.toml"] * 2
        assert str(rules)[:40] in text_of(pilot)
        diagnosis = app.snapshot.diagnosis
        assert diagnosis is not None
        (found,) = (one for one in diagnosis.findings if one.rule == "NC950")
        assert found.evidence[:2] == (Where("pasted", 2), Where("pasted", 3))


# Large logs ----------------------------------------------------------------------------------------------------------


def test_a_long_log_is_searched_step_by_step_and_says_how_far_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule_making, "_TELL", 0.0)
    text = document.pasted("\n".join(LOST.format(rank=0, number=number) for number in range(20_000)), "pasted", "")
    told = [outcome.trial for outcome in rule_making.try_pattern("token 7 of", "token 7 of", text)]
    assert len(told) > 3
    assert told[-1] == Trial("token 7 of", count=1, first=Where("pasted", 8))
    assert not any(trial.ended for trial in told[:-1])


def test_of_several_texts_the_first_line_is_told_with_its_own() -> None:
    texts = (document.sources.pasted("nothing", "a"), document.sources.pasted("x\nthe token", "b"))
    text = document.opened("two", texts)
    (told,) = rule_making.try_pattern("the token", "the token", text)
    assert told == Tried(Trial("the token", count=1, first=Where("b", 2)))


def test_a_pattern_that_takes_too_long_on_a_line_is_refused() -> None:
    text = document.pasted("token " + "ab" * 5000 + "\n", "pasted", "")
    pattern = "token (?:(?:a|b|ab)+)+c"
    (told,) = rule_making.try_pattern(pattern, "token abc", text)
    assert isinstance(told, Tried)
    assert "takes too long" in told.trial.refused


async def test_keys_are_answered_while_a_long_log_is_searched() -> None:
    log = "\n".join(LOST.format(rank=0, number=number) for number in range(30_000))
    async with asking(fake.Doctor(), log=log) as pilot:
        field(pilot, "pattern").focus()
        late = 0.0
        for _ in range(10):
            began = time.monotonic()
            await pilot.press("x")
            await asyncio.sleep(0)
            late = max(late, time.monotonic() - began)
        assert late < 1.0, "a search holds up no key"
        assert field(pilot, "pattern").value.endswith("x" * 10)
        await pilot.app.workers.wait_for_complete()
