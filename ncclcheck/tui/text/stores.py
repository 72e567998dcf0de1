"""Where the bytes of a text lie, to be read at any offset: a file, memory, or a file without a name to unpack into.

By ``pread``, never by ``mmap``: a log that is truncated under a mapping kills the process (SIGBUS, mmap(2)).
"""

from __future__ import annotations

import errno
import os
import tempfile
import time
import weakref
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Protocol

from ncclcheck.errors import SourceError
from ncclcheck.logs import sources
from ncclcheck.logs.sources import Source
from ncclcheck.model import Where

_STEP = 1 << 20
"""Characters that are unpacked at a time."""
_QUIET = 2.0
"""Seconds after which whoever writes a file is taken to have ended its last line."""


class Store(Protocol):
    """Bytes that can be read at any offset; they may become more."""

    follows: bool
    """Whether more may come at any time."""

    @property
    def size(self) -> int:
        """Bytes that are there now."""

    @property
    def begun_with(self) -> int | None:
        """Bytes that are read before a first answer is given; None while that is not known."""

    def fetch(self) -> bool:
        """Bring more bytes here, and say whether there were any; one thread at a time.

        Raises SourceError for what can't be read.
        """

    def read(self, offset: int, size: int) -> bytes:
        """That many bytes, or fewer where there are no more."""

    def quiet(self) -> bool:
        """Whether nobody is writing at this moment."""

    def replaced(self) -> bool:
        """Whether what was read is no longer there: truncated, or another file under the same name."""


class InMemory:
    """A text that was pasted, piped or printed by a probe."""

    follows = False

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.size = self.begun_with = len(content)

    def fetch(self) -> bool:
        """All of it is here."""
        return False

    def read(self, offset: int, size: int) -> bytes:
        """A part of it."""
        return self._content[offset : offset + size]

    def quiet(self) -> bool:
        """It never changes."""
        return True

    def replaced(self) -> bool:
        """It never changes."""
        return False


class OnDisk:
    """A file of plain text, which may grow."""

    follows = True

    def __init__(self, path: Path, *, keep_open: bool) -> None:
        self._path = path
        with _told(str(path), "cannot be read", "check the name and its permissions"):
            self._fd = os.open(path, os.O_RDONLY) if keep_open else None
            status = os.stat(path)
        self._file = (status.st_dev, status.st_ino)
        self.size = self.begun_with = status.st_size
        if self._fd is not None:
            weakref.finalize(self, os.close, self._fd)

    def fetch(self) -> bool:
        """Look whether it grew."""
        before, status = self.size, self._status()
        if status is not None and (status.st_dev, status.st_ino) == self._file:
            self.size = max(before, status.st_size)
        return self.size > before

    def read(self, offset: int, size: int) -> bytes:
        """A part of it; nothing where the file is gone."""
        try:
            if self._fd is not None:
                return os.pread(self._fd, size, offset)
            with self._path.open("rb") as file:
                return os.pread(file.fileno(), size, offset)
        except OSError:
            return b""

    def quiet(self) -> bool:
        """Whether it was left alone for a while."""
        status = self._status()
        return status is None or abs(time.time() - status.st_mtime) > _QUIET

    def replaced(self) -> bool:
        """Whether it became shorter, or the name leads to another file; between the two it may lead nowhere."""
        status = self._status()
        return status is not None and ((status.st_dev, status.st_ino) != self._file or status.st_size < self.size)

    def _status(self) -> os.stat_result | None:
        try:
            return os.stat(self._path)
        except OSError:
            return None


class Spool:
    """A file without a name, for everything of a document that has to be decoded first; it goes with the document."""

    def __init__(self) -> None:
        self._fd: int | None = None
        self._size = 0
        self._writing = Lock()

    def append(self, content: bytes) -> int:
        """Keep some bytes; the result is where they are. Raises OSError where there is no room."""
        with self._writing:
            if self._fd is None:
                with tempfile.TemporaryFile(buffering=0) as file:
                    self._fd = os.dup(file.fileno())
                weakref.finalize(self, os.close, self._fd)
            place, self._size = self._size, self._size + os.pwrite(self._fd, content, self._size)
        if self._size - place < len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return place

    def read(self, place: int, size: int) -> bytes:
        """Bytes that were kept."""
        return os.pread(self._fd, size, place) if self._fd is not None else b""


class Unpacked:
    """What has to be decoded first: it comes into a spool, a piece at a time."""

    follows = False

    def __init__(self, source: Source, spool: Spool) -> None:
        self._name, self._spool = source.name, spool
        self._lines = _ended(sources.read(source))
        self._starts: list[int] = []
        """Where each piece begins in the text."""
        self._places: list[int] = []
        """Where each piece is in the spool."""
        self.size = 0
        self.begun_with: int | None = None

    def fetch(self) -> bool:
        """Unpack the next piece."""
        piece: list[str] = []
        length = 0
        while length < _STEP and (text := next(self._lines, None)) is not None:
            piece.append(text)
            length += len(text)
        if not piece:
            self.begun_with = self.size
            return False
        content = "".join(piece).encode("utf-8", "replace")
        with _told(self._name, "cannot be unpacked", "set TMPDIR to a folder with more room, or unpack it yourself"):
            self._places.append(self._spool.append(content))
        self._starts.append(self.size)
        self.size += len(content)
        return True

    def read(self, offset: int, size: int) -> bytes:
        """A part of what was unpacked."""
        found = b""
        end = min(offset + size, self.size)
        while offset < end:
            piece = bisect_right(self._starts, offset) - 1
            stop = self._starts[piece + 1] if piece + 1 < len(self._starts) else self.size
            here = self._spool.read(self._places[piece] + offset - self._starts[piece], min(stop, end) - offset)
            found, offset = found + here, offset + len(here)
        return found

    def quiet(self) -> bool:
        """Nobody else writes it."""
        return True

    def replaced(self) -> bool:
        """It is our own."""
        return False


def store(source: Source, spool: Spool, *, keep_open: bool = True) -> tuple[Store, bool]:
    """The bytes of a source, and whether the carriage return before each line end goes.

    Raises SourceError for what can't be read.
    """
    form = sources.form(source)
    if not form.plain:
        return Unpacked(source, spool), False
    if source.content is not None or source.path is None:
        return InMemory(source.content or b""), form.dos
    return OnDisk(source.path, keep_open=keep_open), form.dos


def _ended(lines: Iterator[tuple[Where, str]]) -> Iterator[str]:
    """The texts, with a line end between lines; the pieces of one line have the same number."""
    number = 1
    for where, text in lines:
        yield "\n" * (where.line - number) + text
        number = where.line


@contextmanager
def _told(place: str, problem: str, next_step: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SourceError(f"{problem}: {error.strerror}", place=place, next_step=next_step) from error
