"""A text as numbered rows, found by a sparse index: one entry for each block of 64 KiB, however long the text is.

A row is a line; a line that goes on through a whole block is cut behind it, so that no row is longer than two blocks.
Line numbers are those of ``logs.sources``. Any thread may index or read.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from threading import Lock

from ncclcheck.model import Where
from ncclcheck.tui.text.stores import Store

BLOCK = 1 << 16
"""Bytes."""
_STEP = 64
"""Blocks that are indexed at a time."""
_CACHED = 16
"""Blocks whose rows are kept as text."""

Numbered = tuple[Where, str]


class Lines:
    """One text."""

    def __init__(self, name: str, store: Store, *, dos: bool = False) -> None:
        self.name = name
        self.store = store
        self._dos = dos
        self._first = array("Q", [0])
        """For each block, the row that is the first to begin in it or behind it."""
        self._at_start = bytearray([True])
        """For each block, whether a row begins with its first byte."""
        self._cuts = array("Q")
        """The rows that go on with the line of the row before."""
        self._size = 0
        self._rows = self._ended = 0
        self._growing = Lock()
        self._cache: dict[tuple[int, int], tuple[str, ...]] = {}

    @property
    def size(self) -> int:
        """Bytes that are indexed."""
        return self._size

    @property
    def rows(self) -> int:
        """Rows that are indexed."""
        return self._rows

    @property
    def ended(self) -> int:
        """Rows that have an end; the last one may still be written."""
        return self._ended

    @property
    def begun(self) -> bool:
        """Whether all is indexed that was there at the beginning."""
        return self.store.begun_with is not None and self._size >= self.store.begun_with

    # Indexing --------------------------------------------------------------------------------------------------------

    def grow(self) -> bool:
        """Index some more; whether there was any. Raises SourceError for what can't be read."""
        with self._growing:
            return (self._size < self.store.size or self.store.fetch()) and self._index()

    def _index(self) -> bool:
        done = len(self._first) - 1
        last = min(self.store.size // BLOCK, done + _STEP)
        for block in range(done, last):
            content = self.store.read(block * BLOCK, BLOCK)
            if len(content) < BLOCK:
                return False  # It became shorter meanwhile; somebody else looks after that.
            self._take(content)
        tail = b"" if last > done else self.store.read(last * BLOCK, self.store.size - last * BLOCK)
        self._publish(last * BLOCK, tail)
        return True

    def _take(self, content: bytes) -> None:
        count, ends = content.count(b"\n"), content.endswith(b"\n")
        self._first.append(self._first[-1] + self._at_start[-1] + count - ends)
        if not count:
            self._cuts.append(self._first[-1])
        self._at_start.append(ends or not count)

    def _publish(self, offset: int, tail: bytes) -> None:
        open_row = not self._at_start[-1]
        rows = self._first[-1]
        if tail:
            ends = tail.endswith(b"\n")
            rows += self._at_start[-1] + tail.count(b"\n") - ends
            open_row = not ends
        self._size, self._ended, self._rows = offset + len(tail), rows - (open_row and rows > 0), rows

    # Numbers ---------------------------------------------------------------------------------------------------------

    def number(self, row: int) -> int:
        """The number of the line that a row belongs to."""
        return row + 1 - bisect_right(self._cuts, row)

    def row_of(self, line: int) -> int | None:
        """The row in which a line begins; None where it is not indexed."""
        cuts = range(len(self._cuts))
        row = line - 1 + bisect_left(cuts, line - 1, key=lambda cut: self._cuts[cut] - cut - 1)
        return row if 0 <= row < self._rows else None

    # Reading ---------------------------------------------------------------------------------------------------------

    def text(self, row: int) -> str:
        """A row's text, as it is in the log."""
        block = self.block_of(row)
        texts = self._texts(block)
        place = row - self._first[block]
        return texts[place] if place < len(texts) else ""

    def from_row(self, row: int, end: int) -> Iterator[Numbered]:
        """The rows from one on to another one, which is left out, each with its place."""
        while row < end:
            block = self.block_of(row)
            first, texts = self._first[block], self._read_texts(block)
            wanted = texts[row - first : end - first]
            if not wanted:
                return  # The file became shorter.
            for number, text in zip(self._numbers(row, len(wanted)), wanted, strict=True):
                yield Where(self.name, number), text
            row += len(wanted)

    def _numbers(self, row: int, count: int) -> Iterator[int]:
        # Only the first row that begins in a block can go on with the line before.
        number = self.number(row)
        yield from range(number, number + count)

    def block(self, block: int) -> tuple[int, bytes]:
        """The first row that begins in a block, and the bytes of all rows that do."""
        size = self._size
        content = self.store.read(block * BLOCK, min(2 * BLOCK, size - block * BLOCK))
        begin = 0 if self._at_start[block] else content.find(b"\n", 0, BLOCK) + 1 or BLOCK
        if len(content) <= BLOCK:
            return self._first[block], content[begin:]
        end = BLOCK if self._at_start[block + 1] else content.find(b"\n", BLOCK) + 1 or len(content)
        return self._first[block], content[begin:end] if begin < BLOCK else b""

    def block_of(self, row: int) -> int:
        """The block in which a row begins."""
        return bisect_right(self._first, row) - 1

    def first_in(self, block: int) -> int:
        """The row that is the first to begin in a block or behind it."""
        return self._first[block]

    @property
    def blocks(self) -> int:
        """Blocks that are indexed, the last one in part."""
        return -(-self._size // BLOCK)

    def _texts(self, block: int) -> tuple[str, ...]:
        """The rows that begin in a block, kept for a while; those at the end until the text grows."""
        key = (block, self._size if (block + 2) * BLOCK > self._size else 0)
        found = self._cache.get(key)
        if found is None:
            if len(self._cache) >= _CACHED:
                self._cache.clear()
            found = self._cache[key] = self._read_texts(block)
        return found

    def _read_texts(self, block: int) -> tuple[str, ...]:
        content = self.block(block)[1]
        texts = content.removesuffix(b"\n").decode("utf-8", "replace").split("\n") if content else []
        return tuple(text.removesuffix("\r") for text in texts) if self._dos else tuple(texts)
