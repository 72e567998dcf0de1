"""The text under diagnosis, as numbered lines of named sources. Pure; what is read here was written by strangers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ncclcheck.logs import sources
from ncclcheck.model import Diagnosis, Probe, Severity, Where
from ncclcheck.printable import printable

_TAB = 8


@dataclass(frozen=True, slots=True)
class Row:
    """One line on the screen; number 0 is a source's heading."""

    where: Where
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """Lines to look at, and where each source begins."""

    title: str = ""
    rows: tuple[Row, ...] = ()
    starts: tuple[tuple[str, int], ...] = ()
    """Each source, and the index of its first row."""
    width: int = 0
    """Cells of the longest line, at most."""
    trail: tuple[tuple[int, int], ...] = ()
    """Every evidence row to jump to, as number of the finding and index of the row, finding by finding."""
    marks: Mapping[int, Severity] = field(default_factory=dict)
    """The severity of every row that is evidence; the worst one wins."""

    def row_of(self, where: Where) -> int | None:
        """Index of the row that shows this place."""
        start = dict(self.starts).get(where.source)
        if start is None:
            return None
        index = bisect_left(self.rows, where.line, lo=start, key=lambda row: _line_in(where.source, row))
        if index < len(self.rows) and self.rows[index].where == where:
            return index
        return None

    def text_at(self, where: Where) -> str:
        """The line at a place, or an empty text where it is not in this document."""
        index = self.row_of(where)
        return "" if index is None else self.rows[index].text


def _line_in(source: str, row: Row) -> int:
    # Rows of later sources sort behind every line of this one.
    return row.where.line if row.where.source == source else 1 << 62


def document(title: str, texts: Sequence[tuple[str, Iterable[tuple[int, str]]]]) -> Document:
    """One document of all sources, each under a heading of its own where there are several."""
    rows: list[Row] = []
    starts: list[tuple[str, int]] = []
    for name, lines in texts:
        starts.append((name, len(rows)))
        if len(texts) > 1:
            rows.append(Row(Where(name, 0), shown(name)))
        rows += [Row(Where(name, number), shown(text)) for number, text in lines]
    width = max((_cells(row.text) for row in rows), default=0)
    return Document(title, tuple(rows), tuple(starts), width)


def pasted(text: str, name: str) -> Document:
    """A document of one pasted text, cut into the same lines as its diagnosis."""
    return document("pasted text", [(name, _lines(text, name))])


def probed(probes: Sequence[Probe]) -> Document:
    """NCCL's own lines of these probes, a source for each host."""
    title = "probe of " + ", ".join(probe.host for probe in probes)
    return document(title, [(probe.host, _lines("\n".join(probe.log), probe.host)) for probe in probes])


def _lines(text: str, name: str) -> Iterator[tuple[int, str]]:
    return ((where.line, line) for where, line in sources.read(sources.pasted(text, name)))


def shown(text: str) -> str:
    """One line as it may stand on a terminal."""
    return text if text.isprintable() else printable(text.expandtabs(_TAB)).replace("\n", "\\x0a")


def _cells(text: str) -> int:
    # Upper bound: no character is wider than two cells, and measuring a long line exactly would take too long.
    return len(text) if text.isascii() else 2 * len(text)


def annotated(text: Document, diagnosis: Diagnosis) -> Document:
    """The document with its evidence rows; a log may have thousands of them, so this is a worker's task."""
    trail = tuple(
        (number, index)
        for number, finding in enumerate(diagnosis.findings)
        for where in finding.evidence
        if (index := text.row_of(where)) is not None
    )
    marks: dict[int, Severity] = {}
    for number, index in trail:
        severity = diagnosis.findings[number].severity
        marks[index] = max(severity, marks.get(index, severity))
    return replace(text, trail=trail, marks=marks)
