"""The text under diagnosis as rows of named sources; what is read here was written by strangers.

A value of the moment: its texts may grow, and then another one with more rows takes its place.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Protocol

from ncclcheck.logs import sources
from ncclcheck.logs.sources import Source
from ncclcheck.model import Diagnosis, Probe, Severity, Where
from ncclcheck.printable import one_line
from ncclcheck.tui.text.lines import Lines
from ncclcheck.tui.text.stores import Spool, store

_AT_ONCE = 8
"""Texts of which the first rows are there at once; of more the others follow."""
_MOST_OPEN = 64
"""Files that are kept open; of a larger folder each is opened when it is read."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row on the screen; number 0 is a source's heading."""

    where: Where
    raw: str
    """As it is in the log."""

    @property
    def text(self) -> str:
        """As it may stand on a terminal."""
        return shown(self.raw)


class Rows(Protocol):
    """What the log view shows: a whole document, or the rows of it that a filter left."""

    @property
    def height(self) -> int:
        """How many there are."""

    def row(self, index: int) -> Row:
        """One of them."""

    def row_of(self, where: Where) -> int | None:
        """The first one that shows a place; None where none does."""

    def near(self, where: Where) -> int:
        """The one that shows a place, or else what comes next."""


@dataclass(frozen=True, slots=True)
class Document:
    """Texts to look at, one under the other."""

    title: str = ""
    texts: tuple[Lines, ...] = ()
    counts: tuple[int, ...] = ()
    """Rows of each text."""
    starts: tuple[int, ...] = (0,)
    """The row with which each text begins, with its heading where there are several; and the end of all."""
    paths: tuple[str, ...] = ()
    """What was asked for, to be read again where a text was replaced."""
    whole: bool = True
    """Whether every text is known to its end."""
    trail: tuple[tuple[int, Where], ...] = ()
    """Every evidence line to jump to, with the number of its finding, finding by finding."""
    marks: Mapping[Where, Severity] = field(default_factory=dict)
    """The severity of every line that is evidence; the worst one wins."""

    @property
    def follows(self) -> bool:
        """Whether more may come at any time."""
        return any(text.store.follows for text in self.texts)

    @property
    def size(self) -> int:
        """Bytes of all that is known."""
        return sum(text.size for text in self.texts)

    @property
    def lines(self) -> int:
        """Lines of all that is known."""
        return sum(text.number(count - 1) for text, count in zip(self.texts, self.counts, strict=True) if count)

    @property
    def headed(self) -> bool:
        """Whether each text has a heading."""
        return len(self.texts) > 1

    @property
    def height(self) -> int:
        """All rows."""
        return self.starts[-1]

    def row(self, index: int) -> Row:
        """One row; the index counts headings too."""
        number = bisect_right(self.starts, index, hi=len(self.texts)) - 1
        return self.row_in(number, index - self.starts[number] - self.headed)

    def row_in(self, number: int, row: int) -> Row:
        """A row of one of the texts; -1 is its heading."""
        text = self.texts[number]
        if row < 0:
            return Row(Where(text.name, 0), text.name)
        return Row(Where(text.name, text.number(row)), text.text(row))

    def row_of(self, where: Where) -> int | None:
        """Index of the row that shows this place; of a heading by the line number 0."""
        number = next((number for number, text in enumerate(self.texts) if text.name == where.source), None)
        if number is None:
            return None
        if where.line == 0:
            return self.starts[number] if self.headed else None
        row = self.texts[number].row_of(where.line)
        return None if row is None or row >= self.counts[number] else self.starts[number] + self.headed + row

    def near(self, where: Where) -> int:
        """Index of the row that shows this place, or of the last one."""
        row = self.row_of(where)
        return max(0, self.height - 1) if row is None else row

    def text_at(self, where: Where) -> str:
        """The line at a place as it may be shown, or an empty text where it is not in this document."""
        row = self.row_of(where)
        return "" if row is None else self.row(row).text

    def same_texts(self, other: Document) -> bool:
        """Whether it is the same document, though perhaps at another moment."""
        return self.texts == other.texts

    def extended(self, other: Document) -> Document:
        """The document as far as another value of the same texts knows it, which may be the earlier one."""
        whole = self.whole or other.whole
        if other.height < self.height or (other.height, whole) == (self.height, self.whole):
            return self
        return replace(self, counts=other.counts, starts=other.starts, whole=whole)

    def grown(self, *, whole: bool = True) -> Document:
        """The document with the rows that are there by now."""
        counts = tuple(text.rows for text in self.texts)
        heights = (count + self.headed for count in counts)
        return replace(self, counts=counts, starts=tuple(accumulate(heights, initial=0)), whole=whole)


def opened(title: str, texts: Sequence[Source], paths: tuple[str, ...] = ()) -> Document:
    """A document of these sources, with the first rows of the first ones; raises SourceError for what can't be read."""
    keep_open = len(texts) <= _MOST_OPEN
    spool = Spool()
    stored = ((text.name, *store(text, spool, keep_open=keep_open)) for text in texts)
    parts = tuple(Lines(name, kept, dos=dos) for name, kept, dos in stored)
    for part in parts if len(parts) <= _AT_ONCE else parts[:1]:
        part.grow()
    return Document(title, parts, paths=paths).grown(whole=False)


def pasted(text: str, name: str, title: str) -> Document:
    """A document of one pasted text, cut into the same lines as its diagnosis."""
    return _whole(opened(title, [sources.pasted(text, name)]))


def probed(probes: Sequence[Probe]) -> Document:
    """NCCL's own lines of these probes, a source for each host."""
    title = "probe of " + ", ".join(probe.host for probe in probes)
    return _whole(opened(title, [sources.pasted("\n".join(probe.log), probe.host) for probe in probes]))


def _whole(text: Document) -> Document:
    for part in text.texts:
        while part.grow():
            pass
    return text.grown()


def every(rows: Rows) -> Iterator[Row]:
    """All rows, one after the other."""
    return (rows.row(index) for index in range(rows.height))


def goes_on(old: Rows, new: Rows) -> bool:
    """Whether the rows are where they were, except perhaps for the last one."""
    return isinstance(old, Document) and isinstance(new, Document) and not new.headed and old.same_texts(new)


def shown(text: str) -> str:
    """One line as it may stand on a terminal."""
    return one_line(text)


def annotated(text: Document, diagnosis: Diagnosis) -> Document:
    """The document with its evidence."""
    names = {part.name for part in text.texts}
    trail = tuple(
        (number, where)
        for number, finding in enumerate(diagnosis.findings)
        for where in finding.evidence
        if where.source in names
    )
    marks: dict[Where, Severity] = {}
    for number, where in trail:
        severity = diagnosis.findings[number].severity
        marks[where] = max(severity, marks.get(where, severity))
    return replace(text, trail=trail, marks=marks)
