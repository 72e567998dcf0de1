"""The ways through a text, step by step: what is told, and which lines a diagnosis gets."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ncclcheck.logs.sources import open_sources
from ncclcheck.model import Diagnosis, Where
from ncclcheck.tui.outcomes import Activity, Diagnosed, Ended, Grew, Noted, Outcome, Renewed, Replaced
from ncclcheck.tui.seam import UseCases
from ncclcheck.tui.state import Snapshot, advance
from ncclcheck.tui.terminal import courtesy
from ncclcheck.tui.text import document, reading
from ncclcheck.tui.text.document import Document
from tests.tui import fake

OLD = (1_700_000_000, 1_700_000_000)
"""A time at which nobody writes any more."""


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "POLL", 0.01)
    monkeypatch.setattr(reading, "RENEW", 0.0)


class Listener:
    """Remembers every line that it gets."""

    def __init__(self) -> None:
        self.lines: list[tuple[int, str]] = []

    def read(self, lines: Iterable[tuple[Where, str]]) -> Iterator[int]:
        """One after the other."""
        for where, text in lines:
            self.take([(where, text)])
            yield len(self.lines)

    def take(self, lines: Iterable[tuple[Where, str]]) -> None:
        """All of them."""
        self.lines += [(where.line, text) for where, text in lines]

    def diagnosis(self, size: int) -> Diagnosis:
        """As many lines as came."""
        return replace(fake.Doctor().diagnosis("x"), lines=len(self.lines), bytes=size)


def listening(listener: Listener) -> UseCases:
    """The use cases with this one."""
    return replace(fake.Doctor().cases(), examine=lambda facts: listener)


def opened(log: Path) -> Document:
    """A log."""
    return document.opened("log", open_sources([str(log)]), (str(log),))


def until(outcomes: Iterator[Outcome], kind: type[Outcome]) -> Outcome:
    """What comes first of this kind."""
    return next(outcome for outcome in outcomes if isinstance(outcome, kind))


def write(log: Path, text: str, *, quiet: bool) -> None:
    """Add to a log that is written at this moment, or was left long ago."""
    with log.open("a") as more:
        more.write(text)
    if quiet:
        os.utime(log, OLD)


def test_a_line_without_an_end_is_taken_once_nobody_writes_it_and_then_as_a_whole(tmp_path: Path) -> None:
    log, listener = tmp_path / "job.log", Listener()
    write(log, "one\ntw", quiet=False)
    text = opened(log)
    outcomes = reading.diagnose(listening(listener), text)
    assert until(outcomes, Diagnosed)
    assert listener.lines == [(1, "one")], "the second one is still written"
    assert until(outcomes, Ended)
    os.utime(log, OLD)
    assert until(outcomes, Renewed)
    assert listener.lines == [(1, "one"), (2, "tw")]
    write(log, "o\nthree", quiet=True)
    text.texts[0].grow()
    assert until(outcomes, Renewed)
    assert listener.lines[2:] == [(2, "two"), (3, "three")]
    outcomes.close()


def test_a_log_without_a_last_line_end_is_diagnosed_whole(tmp_path: Path) -> None:
    log, listener = tmp_path / "job.log", Listener()
    write(log, "one\ntwo", quiet=True)
    answer = until(reading.diagnose(listening(listener), opened(log)), Diagnosed)
    assert isinstance(answer, Diagnosed)
    assert (answer.diagnosis.lines, answer.diagnosis.bytes) == (2, 7)


def test_a_diagnosis_does_not_wait_for_the_index_and_tells_how_far_it_is(tmp_path: Path) -> None:
    log, listener = tmp_path / "job.log", Listener()
    write(log, "0123456789\n" * 600_000, quiet=True)
    text = opened(log)
    assert text.texts[0].rows < 600_000
    told = []
    for outcome in reading.diagnose(listening(listener), text):
        told.append(outcome)
        if isinstance(outcome, Ended):
            break
    assert listener.lines[-1] == (600_000, "0123456789")
    assert len(listener.lines) == 600_000
    assert next(note.note for note in told if isinstance(note, Noted)).endswith(" lines")


def test_a_log_that_grows_all_the_time_is_diagnosed_all_the_same(tmp_path: Path) -> None:
    log, listener = tmp_path / "job.log", Listener()
    write(log, "line\n" * 10, quiet=False)
    text = opened(log)

    class Growing(Listener):
        def read(self, lines: Iterable[tuple[Where, str]]) -> Iterator[int]:
            for number in super().read(lines):
                write(log, "line\n", quiet=False)
                text.texts[0].grow()
                yield number

    listener = Growing()
    assert until(reading.diagnose(listening(listener), text), Diagnosed)
    assert len(listener.lines) < 100


def test_the_index_follows_what_grows_and_tells_what_was_replaced(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    write(log, "one\n", quiet=False)
    text = opened(log)
    outcomes = reading.index(text)
    known = until(outcomes, Grew)
    assert isinstance(known, Grew)
    assert (known.document.height, known.document.whole) == (1, True)
    write(log, "two\n", quiet=False)
    assert [outcome.document.height for outcome in (next(outcomes), next(outcomes)) if isinstance(outcome, Grew)][
        -1
    ] == 2
    log.unlink()
    log.write_text("new\n")
    assert list(outcomes)[-1] == Replaced((str(log),))


def test_what_is_told_late_of_another_text_is_dropped(tmp_path: Path) -> None:
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text("one\ntwo\n")
    old, new = opened(tmp_path / "a.log"), opened(tmp_path / "b.log")
    now = Snapshot(document=new)
    assert advance(now, Grew(old.grown())) is now
    assert advance(now, Renewed(fake.Doctor().diagnosis("x"), old)) is now
    known = advance(now, Grew(new.grown()))
    assert known.document.whole
    assert advance(known, Grew(new)).document is known.document, "what is known is not forgotten"
    assert advance(known, Renewed(fake.Doctor().diagnosis("x"), new)).diagnosis is not None


def test_work_makes_way_only_while_somebody_is_at_the_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    rests: list[float] = []
    monkeypatch.setattr(courtesy, "_last_key", [0.0])
    monkeypatch.setattr(courtesy.time, "sleep", rests.append)
    monkeypatch.setattr(courtesy.time, "monotonic", lambda: 100.0)
    courtesy.make_way()
    assert not rests
    courtesy.key_pressed()
    courtesy.make_way()
    assert len(rests) == 1
    monkeypatch.setattr(courtesy.time, "monotonic", lambda: 101.0)
    courtesy.make_way()
    assert len(rests) == 1


def test_reading_again_takes_nobody_to_the_log(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("one\n")
    os.utime(tmp_path / "a.log", OLD)
    cases = replace(listening(Listener()), read=open_sources)
    began = time.monotonic()
    told = []
    for outcome in reading.read_files(cases, (str(tmp_path / "a.log"),), again=True):
        told.append(outcome)
        if isinstance(outcome, Diagnosed):
            break
    now = Snapshot()
    for outcome in told:
        now = advance(now, outcome)
        assert not now.running_in(Activity.DIAGNOSE)
    assert time.monotonic() - began < 5
