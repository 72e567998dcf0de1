"""The log place on real files: looking, searching, narrowing down, and a log that grows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from ncclcheck.model import Where
from ncclcheck.tui.app import Doctor
from ncclcheck.tui.outcomes import Activity
from ncclcheck.tui.real import use_cases
from ncclcheck.tui.screens.filter import FilterDialog
from ncclcheck.tui.screens.log import LogPlace
from ncclcheck.tui.screens.overview import OverviewPlace
from ncclcheck.tui.text import reading, sieve
from ncclcheck.tui.text.document import every
from ncclcheck.tui.widgets.log_pane import LogPane
from ncclcheck.tui.widgets.log_view import LogView
from tests.cases import ROOT
from tests.tui import fake
from tests.tui.pilots import LARGE, doctor_of, text_of, until

CASE = ROOT / "fixtures" / "logs" / "wrong-interface" / "2.28.9-refused-2x4"


@pytest.fixture(autouse=True)
def _quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(reading, "POLL", 0.1)
    monkeypatch.setattr(reading, "RENEW", 0.1)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """All ranks of a job that hangs, one after the other."""
    path = tmp_path / "job.log"
    path.write_text("".join(log.read_text() for log in sorted(CASE.glob("*.log"))))
    return path


@asynccontextmanager
async def looking(*paths: Path, size: tuple[int, int] = LARGE) -> AsyncIterator[Pilot[None]]:
    """The real diagnosis of files, on nodes that are not looked at."""
    doctor = fake.Doctor().cases()
    cases = replace(doctor, read=use_cases().read, examine=use_cases().examine)
    app = Doctor(fake.HERE, tuple(map(str, paths)), cases)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.snapshot.diagnosis is not None and app.snapshot.document.whole)
        await pilot.pause()
        await pilot.pause()
        yield pilot


def view(pilot: Pilot[None]) -> LogView:
    """The rows."""
    return pilot.app.screen.query_one(LogView)


def pane(pilot: Pilot[None]) -> LogPane:
    """The rows with their title."""
    return pilot.app.screen.query_one(LogPane)


def title(pilot: Pilot[None]) -> str:
    """What stands above the log."""
    assert pane(pilot)._border_title is not None
    return pane(pilot)._border_title.plain


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Keys, and what they set off at once; a worker that follows a log never ends."""
    for key in keys:
        await pilot.press(key)
        await pilot.pause()


async def search(pilot: Pilot[None], words: str) -> None:
    """Type what to look for, and wait for all of it."""
    await press(pilot, "slash")
    pane(pilot).query_one(Input).value = words
    await until(pilot, lambda: f"/{words}: " in title(pilot) and not title(pilot).endswith(("…", "so far")))
    await pilot.pause()


def lines_of(log: Path, words: str) -> list[int]:
    """The numbers of the lines with these words."""
    return [number for number, line in enumerate(log.read_text().splitlines(), 1) if words.lower() in line.lower()]


# Looking -------------------------------------------------------------------------------------------------------------


async def test_the_title_says_what_it_is_and_that_it_is_followed(log: Path) -> None:
    async with looking(log) as pilot:
        assert title(pilot).split("  ")[1:] == ["170 lines", "followed"]
        assert "✗ NCCL uses eth0" in text_of(pilot)


async def test_the_cursor_goes_where_the_keys_say(log: Path) -> None:
    async with looking(log) as pilot:
        await press(pilot, "tab", "tab", "home")
        rows = [view(pilot).cursor]
        for key in ("down", "j", "k", "pagedown", "space", "pageup", "G", "up", "g", "up"):
            await press(pilot, key)
            rows.append(view(pilot).cursor)
        page = view(pilot).size.height - 1
        assert rows == [0, 1, 2, 1, 1 + page, 1 + 2 * page, 1 + page, 169, 168, 0, 0]
        assert view(pilot).current == Where(str(log), 1)
        assert view(pilot).current_text == log.read_text().splitlines()[0]
        assert f"▸{1:>7} " in text_of(pilot)
        await press(pilot, "G")
        assert "followed, at its end" in title(pilot)
        assert f"▸{170:>7} " in text_of(pilot)


async def test_from_finding_to_finding_and_from_line_to_line(log: Path) -> None:
    async with looking(log) as pilot:
        document, menu = doctor_of(pilot).snapshot.document, pilot.app.screen.query_one(OptionList)
        assert len({number for number, _ in document.trail}) > 1
        firsts = [next(where for number, where in document.trail if number == at) for at in range(2)]
        assert (menu.highlighted, view(pilot).current) == (0, firsts[0])
        await press(pilot, "n")
        assert (menu.highlighted, view(pilot).current) == (1, firsts[1])
        await press(pilot, "N", "N")
        assert menu.highlighted == menu.option_count - 1
        await press(pilot, "n")
        seen = [view(pilot).current]
        for _ in document.trail:
            await press(pilot, "e")
            seen.append(view(pilot).current)
        assert seen == [where for _, where in document.trail] + [firsts[0]]
        await press(pilot, "E")
        assert view(pilot).current == document.trail[-1][1]


async def test_a_diagnosis_that_comes_late_leaves_the_reader_where_he_is(log: Path) -> None:
    async with looking(log) as pilot:
        await press(pilot, "tab", "tab", "G")
        app = doctor_of(pilot)
        diagnosis = app.snapshot.diagnosis
        app.snapshot = replace(app.snapshot, diagnosis=None)
        await pilot.pause()
        app.snapshot = replace(app.snapshot, diagnosis=diagnosis)
        await pilot.pause()
        assert view(pilot).cursor == 169
        assert "error[NC101]" in text_of(pilot)


async def test_wide_characters_and_prefixes_keep_the_columns(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text("[rank0]: 漢字" * 30 + "\n" + "[rank0]: a:1:1 [0] NCCL WARN x\n\tx\x1b[2J\n")
    async with looking(log, size=(80, 24)) as pilot:
        await press(pilot, "tab", "tab", "z")
        shown = text_of(pilot).split("\n")
        assert next(line for line in shown if "WARN" in line).startswith(f"  {2:>6} [rank0]: a:1:1 [0] NCCL WARN x")
        assert next(line for line in shown if "\\x1b[2J" in line).startswith(f"  {3:>6} " + " " * 8 + "x\\x1b[2J")
        wide = next(strip for strip in view(pilot).render_lines(view(pilot).size.region) if "漢字" in strip.text)
        assert (wide.cell_length, wide.text[-1]) == (view(pilot).size.width, "›")
        await press(pilot, "l", "l")
        assert f"{2:>6} 0] NCCL WARN x" in text_of(pilot), "sixteen cells further"


# Searching -----------------------------------------------------------------------------------------------------------


async def test_a_search_goes_along_its_hits_and_ends(log: Path) -> None:
    async with looking(log) as pilot:
        await press(pilot, "tab", "tab", "g")
        hits = lines_of(log, "refused")
        await search(pilot, "refused")
        assert (view(pilot).current or Where("", 0)).line == hits[0], "while it is typed"
        assert title(pilot).endswith(f"/refused: 1 of {len(hits)}")
        await press(pilot, "enter", "greater_than_sign")
        assert (view(pilot).current or Where("", 0)).line == hits[1]
        await press(pilot, "less_than_sign", "less_than_sign")
        assert (view(pilot).current or Where("", 0)).line == hits[-1]
        assert f"▸✗{hits[-1]:>6} " in text_of(pilot) or f"▸»{hits[-1]:>6} " in text_of(pilot)
        await press(pilot, "escape")
        assert "refused" not in title(pilot)
        assert (view(pilot).current or Where("", 0)).line == hits[-1]


async def test_escape_while_typing_goes_back(log: Path) -> None:
    async with looking(log) as pilot:
        await press(pilot, "tab", "tab", "g", "down")
        await search(pilot, "refused")
        await press(pilot, "escape")
        assert (view(pilot).cursor, view(pilot).has_focus, pane(pilot).search) == (1, True, None)


async def test_an_expression_and_what_is_none(log: Path) -> None:
    async with looking(log) as pilot:
        await search(pilot, "bus.d|refused")
        assert "/bus.d|refused: " in title(pilot)
        await press(pilot, "escape")
        await search(pilot, "<0")
        assert " of " in title(pilot)
        await press(pilot, "escape")
        await search(pilot, "refused(")
        assert title(pilot).endswith("/refused(: 0 (as plain text: no regular expression)")


async def test_an_expression_that_takes_too_long_is_taken_letter_by_letter(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sieve, "LIMIT", 0.02)
    with log.open("a") as more:
        more.write("a" * 60 + "\n")
    async with looking(log) as pilot:
        await search(pilot, "(a|aa)+c")
        await until(pilot, lambda: "takes too long" in title(pilot))
        assert title(pilot).endswith("/(a|aa)+c: 0 (as plain text: the expression takes too long)")


# Narrowing down ------------------------------------------------------------------------------------------------------


async def narrow(pilot: Pilot[None], words: str) -> None:
    """Choose a filter by typing."""
    await press(pilot, "t")
    await until(pilot, lambda: isinstance(pilot.app.screen, FilterDialog))
    await pilot.pause()
    pilot.app.screen.query_one(Input).value = words
    await pilot.pause()
    await press(pilot, "enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, LogPlace) and "so far" not in title(pilot))
    await pilot.pause()


async def test_only_some_lines_with_their_own_numbers_and_all_again(log: Path) -> None:
    async with looking(log) as pilot:
        await narrow(pilot, "warn")
        warned = lines_of(log, "NCCL WARN")
        assert [row.where.line for row in every(view(pilot).rows)] == warned
        assert title(pilot).endswith(f"only level WARN: {len(warned)}")
        await press(pilot, "down")
        at = view(pilot).current
        await press(pilot, "t")
        assert view(pilot).rows.height == 170
        assert view(pilot).current == at, "what was looked at stays"
        await narrow(pilot, "level")
        assert view(pilot).current == at, "also where a filter leaves it"
        await press(pilot, "t")
        await narrow(pilot, "any words: refused")
        assert view(pilot).rows.height == 0
        assert "only with “any words: refused”: 0" in title(pilot)
        await press(pilot, "down", "G", "pageup", "escape")
        assert (view(pilot).rows.height, pane(pilot).filter) == (170, None)


async def test_a_hidden_line_that_is_asked_for_is_shown(log: Path) -> None:
    async with looking(log) as pilot:
        await narrow(pilot, "rank 2")
        await search(pilot, "node-b")
        await press(pilot, "enter")
        assert pane(pilot).filter is None, "there is none in rank 2"
        await press(pilot, "escape")
        await narrow(pilot, "rank 2")
        await press(pilot, "n")
        first = next(where for number, where in doctor_of(pilot).snapshot.document.trail if number == 1)
        assert view(pilot).current == first


async def test_the_dialog_is_left_without_a_filter(log: Path) -> None:
    async with looking(log) as pilot:
        await press(pilot, "t")
        await until(pilot, lambda: isinstance(pilot.app.screen, FilterDialog))
        await pilot.pause()
        assert "level WARN" in text_of(pilot)
        assert "host node-b" in text_of(pilot)
        await press(pilot, "down", "up", "up", "escape")
        assert isinstance(pilot.app.screen, LogPlace)
        assert pane(pilot).filter is None


# A log that grows ----------------------------------------------------------------------------------------------------


def append(log: Path, text: str) -> None:
    """As the job does."""
    with log.open("a") as more:
        more.write(text)


async def test_new_lines_appear_and_are_diagnosed(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    texts = [path.read_text() for path in sorted(CASE.glob("*.log"))]
    log.write_text(texts[0])
    async with looking(log) as pilot:
        app = doctor_of(pilot)
        assert app.snapshot.diagnosis is not None
        assert "NC101" not in [finding.rule for finding in app.snapshot.diagnosis.findings]
        await press(pilot, "tab", "tab", "G")
        asked = app.snapshot.diagnosis
        append(log, "".join(texts[1:])[:-30])
        await until(pilot, lambda: app.snapshot.diagnosis not in (None, asked))
        await until(pilot, lambda: "NC101" in [one.rule for one in (app.snapshot.diagnosis or asked).findings])
        append(log, "".join(texts[1:])[-30:] + "end\n")
        await until(pilot, lambda: view(pilot).rows.height == 171)
        await pilot.pause()
        assert (view(pilot).cursor, view(pilot).current_text) == (170, "end")
        assert f"▸{171:>7} end" in text_of(pilot), "it stays at the end"
        await press(pilot, "up")
        append(log, "more\n")
        await until(pilot, lambda: view(pilot).rows.height == 172)
        assert (view(pilot).cursor, "at its end" in title(pilot)) == (169, False)
        assert isinstance(app.screen, LogPlace)


async def test_the_finding_in_hand_stays_in_hand(log: Path) -> None:
    async with looking(log) as pilot:
        await press(pilot, "n")
        menu, place = pilot.app.screen.query_one(OptionList), pilot.app.screen
        assert isinstance(place, LogPlace)
        before, at = place.finding, view(pilot).current
        app = doctor_of(pilot)
        asked = app.snapshot.diagnosis
        append(log, "node-a:9999:9999 [0] NCCL WARN something new\n")
        await until(pilot, lambda: app.snapshot.diagnosis is not asked)
        await pilot.pause()
        assert (menu.highlighted, view(pilot).current) == (1, at)
        assert place.finding is not None
        assert before is not None
        assert (place.finding.rule, place.finding.subject) == (before.rule, before.subject)


async def test_filter_and_search_go_on_with_the_log(log: Path) -> None:
    async with looking(log) as pilot:
        await narrow(pilot, "warn")
        await search(pilot, "socket")
        await press(pilot, "enter")
        before, hits = view(pilot).rows.height, int(title(pilot).split(" of ")[-1])
        append(log, "node-a:9999:9999 [0] NCCL WARN socket\nno\n")
        await until(pilot, lambda: view(pilot).rows.height == before + 1)
        await until(pilot, lambda: title(pilot).endswith(f" of {hits + 1}"))


@pytest.mark.parametrize("rotate", [True, False])
async def test_another_log_under_its_name_is_read_anew(log: Path, tmp_path: Path, rotate: bool) -> None:
    async with looking(log) as pilot:
        await press(pilot, "1")
        app = doctor_of(pilot)
        if rotate:
            log.rename(tmp_path / "job.log.1")
        log.write_text("node-a:1:1 [0] NCCL INFO NCCL version 2.28.9+cuda13.0\n")
        await until(pilot, lambda: app.snapshot.document.height == 1 and app.snapshot.diagnosis is not None)
        assert isinstance(app.screen, OverviewPlace), "nobody is taken away from where he is"
        await press(pilot, "2")
        assert "NCCL version 2.28.9" in text_of(pilot)


async def test_a_probe_takes_the_place_of_a_log_that_was_followed(log: Path) -> None:
    async with looking(log) as pilot:
        app = doctor_of(pilot)
        await press(pilot, "p")
        await until(pilot, lambda: app.snapshot.of_nodes)
        append(log, "more\n")
        await asyncio.sleep(0.4)
        await pilot.pause()
        assert app.snapshot.document.title == "probe of gpu-box"
        assert not [one for one in app.workers if one.group == Activity.INDEX.value and one.is_running]


async def test_it_ends_at_once_while_a_log_is_followed(log: Path) -> None:
    loop = asyncio.get_running_loop()
    async with looking(log) as pilot:
        began = loop.time()
        pilot.app.exit()
    assert loop.time() - began < 5


def stands(pilot: Pilot[None], what: str) -> Callable[[], bool]:
    """Whether a text is on the screen."""
    return lambda: what in text_of(pilot)


async def test_a_file_that_goes_bad_half_way_says_so_and_shows_what_there_is(tmp_path: Path) -> None:
    import gzip
    import os

    whole = gzip.compress(b"first line\n" + os.urandom(2_000_000).hex().encode())
    log = tmp_path / "job.gz"
    log.write_bytes(whole[: len(whole) // 2])
    app = Doctor(fake.HERE, (str(log),), replace(fake.Doctor().cases(), read=use_cases().read))
    async with app.run_test(size=LARGE) as pilot:
        await until(pilot, stands(pilot, "could not be read"))
        await until(pilot, stands(pilot, "first line"))
