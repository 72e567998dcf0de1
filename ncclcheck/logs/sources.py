"""Where log text comes from: files, gzip, folders, standard input, a pasted text.

Owns decoding and line numbers. Bytes that are no text are replaced, never refused; a line is cut at ``LONGEST``
characters into several texts with the same number, so that a file without line ends stays within memory.
"""

from __future__ import annotations

import codecs
import io
import os
import stat
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from ncclcheck.errors import SourceError
from ncclcheck.model import Where

LONGEST = 65536
"""Characters of one text."""

_SUFFIXES = frozenset({".log", ".txt", ".out", ".err", ".gz", ""})
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_SAMPLE = 65536
_SHORT = 1024
"""Bytes up to which anything is taken for text."""
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\x1b\f\b"))


@dataclass(frozen=True, slots=True)
class Source:
    """Something that can be read more than once: evidence is a place, and its text is read again."""

    name: str
    path: Path | None = None
    content: bytes | None = None
    """What was pasted or piped; kept, since it can't be read twice."""

    @property
    def size(self) -> int:
        """Bytes as stored."""
        return len(self.content) if self.content is not None else os.stat(self.name).st_size


@dataclass(frozen=True, slots=True)
class Form:
    """How the bytes of a source stand for its text, by their beginning."""

    encoding: str
    packed: bool
    dos: bool
    """Whether the carriage return before a line end goes."""

    @property
    def plain(self) -> bool:
        """Whether the bytes are the text's own in UTF-8, so that a line can be read by its offset."""
        return self.encoding == "utf-8" and not self.packed


def open_sources(names: Iterable[str]) -> tuple[Source, ...]:
    """The files behind the names given: a folder stands for the logs in it, ``-`` for standard input.

    Raises SourceError for what can't be read; nothing is skipped in silence.
    """
    return tuple(source for name in names for source in _sources_of(name))


def pasted(text: str, name: str) -> Source:
    """A text that is already here."""
    return Source(name=name, content=text.encode("utf-8", "surrogatepass"))


def read(source: Source) -> Iterator[tuple[Where, str]]:
    """Every line with its place, without its line end; the carriage return of a CRLF text goes, a stray one stays."""
    try:
        with _opened(source) as stream:
            yield from _numbered(stream, source.name)
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(source.name, error) from error


def form(source: Source) -> Form:
    """How its bytes stand for text; raises SourceError where they do not, or can't be read."""
    try:
        with _stored(source) as raw:
            packed = _packed(raw)
            head = (_unpacked(raw) if packed else raw).read(_SAMPLE)
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(source.name, error) from error
    return _form(head, source.name, packed)


def excerpts(sources: Iterable[Source], places: Iterable[Where]) -> dict[Where, str]:
    """The text at each place, read again."""
    wanted = set(places)
    found: dict[Where, str] = {}
    for source in sources:
        last = max((place.line for place in wanted if place.source == source.name), default=0)
        for where, text in read(source) if last else ():
            if where.line > last:
                break
            if where in wanted:
                found.setdefault(where, text)
    return found


def _sources_of(name: str) -> Iterator[Source]:
    if name == "-":
        yield Source(name="-", content=sys.stdin.buffer.read())
        return
    path = Path(name)
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            yield from _folder(path)
        elif not stat.S_ISREG(mode):
            # A pipe such as <(kubectl logs …) can be read only once.
            yield Source(name=name, content=path.read_bytes())
        else:
            with path.open("rb"):
                yield Source(name=name, path=path)
    except OSError as error:
        raise _unreadable(name, error) from error


def _folder(folder: Path) -> Iterator[Source]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix in _SUFFIXES)
    if not files:
        next(folder.iterdir(), None)  # A folder that can't be listed says so here.
        raise SourceError("no log files in this folder", place=str(folder), next_step="name the files themselves")
    for path in files:
        with path.open("rb"):
            yield Source(name=str(path), path=path)


def _unreadable(name: str, error: OSError | EOFError | zlib.error) -> SourceError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return SourceError(f"cannot be read: {reason}", place=name, next_step="check the name and its permissions")


@contextmanager
def _opened(source: Source) -> Iterator[BinaryIO]:
    with _stored(source) as raw:
        yield _unpacked(raw) if _packed(raw) else raw


def _stored(source: Source) -> BinaryIO:
    return io.BytesIO(source.content) if source.content is not None else open(source.name, "rb")


def _packed(raw: BinaryIO) -> bool:
    mark = raw.read(2)
    raw.seek(0)
    return mark == b"\x1f\x8b"


def _unpacked(raw: BinaryIO) -> BinaryIO:
    from gzip import GzipFile

    return cast(BinaryIO, GzipFile(fileobj=raw))


def _numbered(stream: BinaryIO, name: str) -> Iterator[tuple[Where, str]]:
    head = stream.read(_SAMPLE)
    known = _form(head, name)
    dos, decode = known.dos, codecs.getincrementaldecoder(known.encoding)("replace").decode
    number, rest = 1, ""
    chunk = head
    while chunk:
        lines = (rest + decode(chunk)).split("\n")
        rest = lines.pop()
        for line in lines:
            yield from _pieces(Where(name, number), line, dos)
            number += 1
        if len(rest) > LONGEST:
            yield from _pieces(Where(name, number), rest[:-1024], dos=False)
            rest = rest[-1024:]
        chunk = stream.read(_SAMPLE)
    rest += decode(b"", True)
    if rest:
        yield from _pieces(Where(name, number), rest, dos)


def _form(head: bytes, name: str, packed: bool = False) -> Form:
    encoding = _encoding(head)
    if encoding == "utf-8" and _is_binary(head):
        raise SourceError("this is no text", place=name, next_step="gzip is read as it is; unpack anything else first")
    sample = head.decode(encoding, "replace")
    return Form(encoding, packed, dos=sample.count("\r\n") * 2 > sample.count("\n"))


def _is_binary(head: bytes) -> bool:
    """Many control bytes; a few are normal, since NCCL prints uninitialised memory at times."""
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return len(head) > _SHORT and controls * 20 > len(head)


def _encoding(head: bytes) -> str:
    """By its mark; UTF-16 without one (the middle of a file) shows by a zero in every second byte."""
    by_mark = next((label for mark, label in _MARKS if head.startswith(mark)), None)
    if by_mark or len(head) < _SHORT:
        return by_mark or "utf-8"
    zeros = {"utf-16-le": head[1::2].count(0), "utf-16-be": head[0::2].count(0)}
    likeliest = max(zeros, key=lambda label: zeros[label])
    return likeliest if zeros[likeliest] * 4 > len(head) else "utf-8"


def _pieces(where: Where, line: str, dos: bool) -> Iterator[tuple[Where, str]]:
    text = line.removesuffix("\r") if dos else line
    if len(text) <= LONGEST:
        yield where, text
        return
    for start in range(0, len(text), LONGEST):
        yield where, text[start : start + LONGEST]
