"""The ways through a text, each a generator of outcomes: open it, index it, diagnose it, and follow what grows.

Runs on worker threads: one indexes, another one diagnoses. The index is much the faster one, so that a long log can be
looked at everywhere long before its diagnosis is there. Each says something several times a second, since whoever
listens may want to stop. Raises SourceError for what can't be read.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

from ncclcheck.model import Facts
from ncclcheck.tui.outcomes import Activity, Diagnosed, Doing, Ended, Grew, Noted, Opened, Outcome, Renewed, Replaced
from ncclcheck.tui.seam import Examiner, UseCases
from ncclcheck.tui.terminal.courtesy import make_way, settle
from ncclcheck.tui.text import document
from ncclcheck.tui.text.document import Document
from ncclcheck.tui.text.known import known_of
from ncclcheck.tui.text.lines import Lines, Numbered

POLL = 0.25
"""Seconds between two looks whether a text grew, and between two words about how far it was read."""
RENEW = 1.0
"""Seconds between two diagnoses of a text that grows, at least."""
_SHARE = 4
"""And at least so many times what the last one took."""
_BATCH = 500
"""Rows that are taken at a time of what a text went on with."""

Outcomes = Generator[Outcome, None, None]


def read_files(cases: UseCases, paths: Sequence[str], *, again: bool = False) -> Outcomes:
    """Show and diagnose files and folders, and follow those that grow; ``again`` where nobody asked for it."""
    title = ", ".join(paths)
    if not again:
        yield Doing(Activity.DIAGNOSE, f"reading {title}")
    text = document.opened(title, cases.read(paths), tuple(paths))
    yield Opened(text)
    yield from diagnose(cases, text, known_of(text, ()))


def diagnose(cases: UseCases, text: Document, facts: tuple[Facts, ...] = ()) -> Outcomes:
    """Diagnose a text that is shown already, and go on with what it grows by."""
    examiner, parts = cases.examine(facts), tuple(map(_Part, text.texts))
    settle()
    told = _Pace(POLL)
    done = 0
    for part in parts:
        for done_here in examiner.read(part.beginning()):
            make_way()
            if told.due():
                yield Noted(Activity.DIAGNOSE, f"{done + done_here:,} lines")
        done += part.row
    yield Diagnosed(examiner.diagnosis(text.size), text.grown(whole=False))
    yield Ended(Activity.DIAGNOSE)
    if text.follows:
        yield from _follow(examiner, text, parts)


def index(text: Document) -> Outcomes:
    """Find where the rows begin, to the end; then look whether there are more, until the text is another one."""
    told = _Pace(POLL)
    while not any(part.store.replaced() for part in text.texts):
        for part in text.texts:
            for _ in _caught_up(part):
                make_way()
                if told.due():
                    yield Grew(text.grown(whole=False))
        yield Grew(text.grown())
        if not text.follows:
            return
        time.sleep(POLL)
    yield Replaced(text.paths)


def _caught_up(lines: Lines) -> Iterator[None]:
    """Index up to the present end; one that is written all the time has no other."""
    more = lines.grow()
    end = lines.store.size
    while more:
        yield
        more = not (lines.store.follows and lines.size >= end) and lines.grow()


def _follow(examiner: Examiner, text: Document, parts: Sequence[_Part]) -> Outcomes:
    due, fresh = time.monotonic() + RENEW, False
    while True:
        began = time.monotonic()
        for part in parts:
            while time.monotonic() - began < POLL and (lines := part.since()):
                examiner.take(lines)
                fresh = True
                make_way()
        if fresh and (began := time.monotonic()) >= due:
            yield Renewed(examiner.diagnosis(text.size), text)
            ended = time.monotonic()
            due, fresh = ended + max(RENEW, _SHARE * (ended - began)), False
        yield Grew(text.grown())
        time.sleep(max(0.0, began + POLL - time.monotonic()))


@dataclass(slots=True)
class _Part:
    """A text, and how far it was diagnosed."""

    lines: Lines
    row: int = 0
    _unended: str = ""
    """What was taken of the last row, which had no end yet."""

    def beginning(self) -> Iterator[Numbered]:
        """What was there when it was opened; where the index has not come so far, it is driven on."""
        while True:
            begun = self.lines.begun
            yield from self._to(self.lines.ended)
            if begun or not self.lines.grow():
                break
        yield from self._last()

    def since(self) -> list[Numbered]:
        """What came since, if it is not too much."""
        end = self.lines.ended
        found = list(self._to(min(end, self.row + _BATCH)))
        return found if self.row < end else [*found, *self._last()]

    def _to(self, end: int) -> Iterator[Numbered]:
        row, self.row = self.row, max(self.row, end)
        yield from self.lines.from_row(row, end)

    def _last(self) -> Iterator[Numbered]:
        """The row without an end, once nobody writes it; it comes again as a whole should it get one."""
        if self.lines.ended == self.row < self.lines.rows and self.lines.store.quiet():
            text = self.lines.text(self.row)
            if text != self._unended:
                self._unended = text
                yield from self.lines.from_row(self.row, self.row + 1)


class _Pace:
    """Says when it is time again."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._due = time.monotonic() + seconds

    def due(self) -> bool:
        """Whether it is; then the next time begins."""
        now = time.monotonic()
        if now < self._due:
            return False
        self._due = now + self._seconds
        return True
