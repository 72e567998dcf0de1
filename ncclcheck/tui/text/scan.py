"""The rows of a document that a sieve lets through, collected block by block; where the text goes on, the scan can too.

One thread scans, any thread reads what it found by then.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate

from ncclcheck.model import Where
from ncclcheck.tui.text.document import Document, Row
from ncclcheck.tui.text.lines import Lines
from ncclcheck.tui.text.sieve import Sieve

SieveFor = Callable[[str], "Sieve | None"]
"""The sieve for a source by its name; None where nothing of it is meant."""


class Scan:
    """One search, or one filter."""

    def __init__(self, document: Document, sieve_for: SieveFor) -> None:
        self._sieve_for = sieve_for
        self._sieves: list[Sieve | None] | None = None
        self._texts = document.texts
        self._rows = [array("I") for _ in document.texts]
        self._next = [0] * len(document.texts)
        self.done = False
        """Whether all is scanned that was there when it was last asked to."""

    def run(self) -> Iterator[None]:
        """Go on to the end of what is indexed, block by block. Raises TimeoutError where a pattern takes too long."""
        self.done = False
        if self._sieves is None:
            self._sieves = [self._sieve_for(text.name) for text in self._texts]
        for number, (text, sieve) in enumerate(zip(self._texts, self._sieves, strict=True)):
            if sieve is not None:
                yield from self._scan(number, text, sieve)
        self.done = True

    def _scan(self, number: int, text: Lines, sieve: Sieve) -> Iterator[None]:
        found, block = self._rows[number], text.block_of(self._next[number])
        while block < text.blocks:
            first, content = text.block(block)
            ended = text.ended
            for line in sieve.hits(content.decode("utf-8", "replace")):
                # The last row may come again, since more may have been written to it.
                if first + line >= self._next[number] and not (found and first + line <= found[-1]):
                    found.append(first + line)
            block += 1
            self._next[number] = min(ended, text.first_in(block)) if block < text.blocks else ended
            yield

    def take(self, places: Iterable[Where]) -> None:
        """Keep these lines, which are known without a search."""
        for text, rows in zip(self._texts, self._rows, strict=True):
            known = (text.row_of(place.line) for place in places if place.source == text.name)
            rows.extend(sorted({row for row in known if row is not None}))
        self.done = True

    @property
    def total(self) -> int:
        """How many were found by now."""
        return sum(map(len, self._rows))

    def kept(self, document: Document) -> Kept:
        """The rows that were found by now."""
        counts = tuple(map(len, self._rows))
        heights = (count + (document.headed and count > 0) for count in counts)
        return Kept(document, tuple(self._rows), counts, tuple(accumulate(heights, initial=0)))


@dataclass(frozen=True, slots=True)
class Kept:
    """Some rows of a document, in its order, each text with its heading where there are several."""

    document: Document
    rows: tuple[array[int], ...]
    """Of each text; they may become more."""
    counts: tuple[int, ...]
    starts: tuple[int, ...]

    @property
    def height(self) -> int:
        """All rows with headings."""
        return self.starts[-1]

    def row(self, index: int) -> Row:
        """One row; the index counts headings too."""
        number = bisect_right(self.starts, index, hi=len(self.counts)) - 1
        place = index - self.starts[number] - self.document.headed
        return self.document.row_in(number, self.rows[number][place] if place >= 0 else -1)

    def row_of(self, where: Where) -> int | None:
        """Index of the row that shows this place; None where it was left out."""
        found = self._find(where)
        return found.index if found is not None and found.exact else None

    def near(self, where: Where) -> int:
        """Index of the row that shows this place, or of what comes next."""
        found = self._find(where)
        return min(found.index if found else 0, max(0, self.height - 1))

    def number(self, where: Where) -> int | None:
        """Which one it is, counted from 1 without headings; None where it was left out."""
        found = self._find(where)
        return found.before + 1 if found is not None and found.exact and where.line else None

    def first_from(self, where: Where) -> int | None:
        """Index of the first row that shows this place or a later one; None where there is none."""
        found = self._find(where)
        return self._line_from(found.index if found else 0)

    def after(self, where: Where, step: int) -> int | None:
        """Index of the next row (1) or the one before (-1), round the ends; None where there is none at all."""
        found = self._find(where) or _Found(0, 0, exact=False)
        if step > 0:
            next_one = self._line_from(found.index + found.exact)
            return next_one if next_one is not None else self._line_from(0)
        before = self._line_to(found.index - 1)
        return before if before is not None else self._line_to(self.height - 1)

    def _line_from(self, index: int) -> int | None:
        """The row itself, or the one below where it is a heading."""
        return next((row for row in range(index, min(index + 2, self.height)) if self.row(row).where.line), None)

    def _line_to(self, index: int) -> int | None:
        """The row itself, or the one above where it is a heading."""
        return next((row for row in range(index, max(index - 2, -1), -1) if self.row(row).where.line), None)

    def _find(self, where: Where) -> _Found | None:
        number = next((at for at, text in enumerate(self.document.texts) if text.name == where.source), None)
        if number is None:
            return None
        text, rows, count = self.document.texts[number], self.rows[number], self.counts[number]
        before, start = sum(self.counts[:number]), self.starts[number]
        headed = self.document.headed and count > 0
        if where.line == 0:
            return _Found(start, before, exact=headed)
        row = text.row_of(where.line)
        place = count if row is None else bisect_left(rows, row, hi=count)
        # A long line has several rows, and perhaps not the first one was kept.
        exact = place < count and text.number(rows[place]) == where.line
        return _Found(start + headed + place, before + place, exact=exact)


@dataclass(frozen=True, slots=True)
class _Found:
    """A place among the rows that were kept, or where it would be."""

    index: int
    before: int
    """Rows before it, without headings."""
    exact: bool
