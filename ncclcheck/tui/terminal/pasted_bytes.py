"""What a terminal sends, told apart: keys, and pasted texts. Pure; knows no clock, only pauses that it is told of.

A text between the marks of bracketed paste (xterm, "Bracketed Paste Mode") is collected by whole reads, never character
by character. A terminal without such marks (GNU screen 4, the Linux console) sends a paste as if it were typed, and
every letter of a log would be a key: many different characters with a line end among them, without the rest that a
hand needs between two keys, are a paste as well.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass

BEGIN, END = b"\x1b[200~", b"\x1b[201~"
HAND = 0.008
"""Seconds between two keys of a hand, at least; so long a key is held back. Key repeat takes 25 ms or more."""
_BURST_OVER = 0.3
"""Seconds of silence that end a paste without marks; pieces of one come over ssh with pauses."""
_STALLED = 1.0
"""Seconds of silence after which a lone key says that the end mark was lost."""
_RESCUES = (b"\x1b", b"\x03", b"\x1b[27u", b"\x1b[99;5u")
"""Escape and Ctrl-C, also as the Kitty protocol writes them."""
_SHORTEST_BURST = 32
"""Bytes; a line of a log has more, keys typed ahead on a slow link seldom are so many with an Enter among them."""
_LEAST_DIFFERENT = 8
"""Different bytes in them: a key that is held down on a slow link comes as many of one."""
_MOST_HELD = 4096
_PART = 1 << 16
"""Bytes that are decoded together."""
_TYPED_TEXT = re.compile(rb"[\t\r\n\x20-\x7e\x80-\xff]+")
_INNER_LINE_END = re.compile(rb"[^\r\n][\r\n]+[^\r\n]")


@dataclass(frozen=True, slots=True)
class Typed:
    """Bytes that are keys, mouse reports and whatever else a terminal says; the marks of a paste too."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Pasted:
    """A whole pasted text; its line ends are line feeds, and bytes that are no UTF-8 were replaced."""

    text: str


class _Collector:
    """A text in the making: decoded as it comes, so that little is left to do at its end."""

    def __init__(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        # Terminals send a carriage return for each line end.
        self._decode = io.IncrementalNewlineDecoder(decoder, translate=True).decode
        self._parts: list[str] = []
        # tmux hands a paste on byte by byte, and millions of parts are slow to join.
        self._bytes = bytearray()
        self.size = 0

    def take(self, data: bytes) -> None:
        self._bytes += data
        self.size += len(data)
        if len(self._bytes) >= _PART:
            self._decoded(final=False)

    def text(self) -> str:
        self._decoded(final=True)
        # They are as long as the text, and somebody may still have the collector.
        parts, self._parts = self._parts, []
        return "".join(parts)

    def _decoded(self, *, final: bool) -> None:
        # As Textual does: widgets cannot show a NUL.
        self._parts.append(self._decode(bytes(self._bytes), final).replace("\x00", ""))
        self._bytes.clear()


class Splitter:
    """Takes what is read, in pieces of any size, and gives keys and pasted texts in their order."""

    def __init__(self) -> None:
        self._bracketed: _Collector | None = None
        self._burst: _Collector | None = None
        self._carry = b""
        """The last bytes: they may be the beginning of a mark. Outside of a paste they have been given away already."""
        self._held = b""

    @property
    def patience(self) -> float | None:
        """Seconds of silence after which ``silence`` is to be called; None where nothing waits for it."""
        return _BURST_OVER if self._burst else HAND if self._held else None

    @property
    def arriving(self) -> int:
        """Bytes of the paste that is on its way."""
        going = self._bracketed or self._burst
        return going.size if going else 0

    def feed(self, data: bytes, pause: float = 0.0) -> Iterator[Typed | Pasted]:
        """What these bytes bring, ``pause`` seconds after those before them."""
        if self._bracketed and pause > _STALLED and data in _RESCUES:
            yield from self._end()
            return
        while data:
            if self._bracketed:
                data = yield from self._inside(self._bracketed, data)
            else:
                data = yield from self._outside(data)

    def silence(self) -> Iterator[Typed | Pasted]:
        """What was held back, now that nothing followed for as long as ``patience`` said."""
        if self._burst:
            yield Pasted(self._burst.text())
            self._burst = None
        yield from self._release()

    def _inside(self, going: _Collector, data: bytes) -> Generator[Typed | Pasted, None, bytes]:
        data = self._carry + data
        body, found, rest = data.partition(END)
        kept = b"" if found else body[len(body) - _begun(body, END) :]
        going.take(body[: len(body) - len(kept)])
        self._carry = kept
        if found:
            yield from self._end()
        return rest

    def _end(self) -> Iterator[Typed | Pasted]:
        going, lost = self._bracketed, self._carry
        self._bracketed, self._carry = None, b""
        yield Typed(END)
        if going:
            going.take(lost)
            yield Pasted(going.text())

    def _outside(self, data: bytes) -> Generator[Typed | Pasted, None, bytes]:
        known = len(self._carry)
        before, found, rest = (self._carry + data).partition(BEGIN)
        if found:
            yield from self._typed(before[known:])
            yield from self.silence()
            # What follows the part of the mark that was given away before.
            yield Typed(BEGIN[max(0, known - len(before)) :])
            self._bracketed, self._carry = _Collector(), b""
            return rest
        yield from self._typed(data)
        self._carry = before[len(before) - _begun(before, BEGIN) :]
        return b""

    def _typed(self, data: bytes) -> Iterator[Typed | Pasted]:
        if self._burst:
            self._burst.take(data)
        elif data and _TYPED_TEXT.fullmatch(data) and len(self._held) < _MOST_HELD:
            self._held += data
            if _is_burst(self._held):
                self._burst, held = _Collector(), self._held
                self._held = b""
                self._burst.take(held)
        else:
            yield from self._release()
            if data:
                yield Typed(data)

    def _release(self) -> Iterator[Typed | Pasted]:
        if self._held:
            yield Typed(self._held)
            self._held = b""


def _begun(data: bytes, mark: bytes) -> int:
    """How many bytes at the end of the data are the beginning of the mark."""
    return next((length for length in range(len(mark) - 1, 0, -1) if data.endswith(mark[:length])), 0)


def _is_burst(held: bytes) -> bool:
    return (
        len(held) >= _SHORTEST_BURST and len(set(held)) >= _LEAST_DIFFERENT and _INNER_LINE_END.search(held) is not None
    )
