"""Textual's driver for terminals, with pastes of any size: the text is collected beside the thread that handles keys,
and arrives as one event.

Textual's own parser goes through a paste character by character (8.2.8: 1 s a MB and 15 bytes of memory a byte), loses
escape sequences in it, and stops at a byte that is no UTF-8.
"""

from __future__ import annotations

import codecs
import os
import selectors
import time

from textual import events
from textual._xterm_parser import XTermParser
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from ncclcheck.tui.terminal.pasted_bytes import Pasted, Splitter, Typed

READ = 65536
"""Bytes that are read at a time."""
_IDLE = 0.1
"""Seconds between two looks at whether the program ends."""
_WORTH_TELLING = 1 << 20
"""Bytes of a paste from which on it is said that it is on its way."""
_TELL_EVERY = 0.25
"""Seconds."""


class PasteArrives(Message):
    """A large paste is on its way; the later word replaces the earlier one."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size
        """Bytes by now."""

    def can_replace(self, message: Message) -> bool:
        """Only the latest size counts."""
        return isinstance(message, PasteArrives)


class PasteDriver(LinuxDriver):
    """Reads the terminal as Textual does, but for pastes."""

    def run_input_thread(self) -> None:
        """Read until the program ends or the terminal does."""
        reading = Reading(self)
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if not selector.select(reading.patience):
                    reading.idle()
                elif data := os.read(self.fileno, READ):
                    reading.take(data)
                else:
                    return


class Reading:
    """From bytes to events, since the terminal was taken over; a suspended program begins a new one."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._splitter = Splitter()
        self._parser = XTermParser(driver._debug)
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._last = self._told = time.monotonic()

    @property
    def patience(self) -> float:
        """Seconds to wait for more before ``idle``."""
        held = self._splitter.patience
        return _IDLE if held is None else held

    def take(self, data: bytes) -> None:
        """Bytes have come."""
        now = time.monotonic()
        for piece in self._splitter.feed(data, now - self._last):
            self._send(piece)
        self._last = now
        if self._splitter.arriving > _WORTH_TELLING and now > self._told + _TELL_EVERY:
            self._told = now
            self._driver.process_message(PasteArrives(self._splitter.arriving))
        self._tick()

    def idle(self) -> None:
        """Nothing has come for as long as there was patience."""
        for piece in self._splitter.silence():
            self._send(piece)
        self._tick()

    def _send(self, piece: Typed | Pasted) -> None:
        if isinstance(piece, Pasted):
            self._driver.process_message(events.Paste(piece.text))
            return
        text = self._decode(piece.data)
        for event in self._parser.feed(text) if text else ():  # An empty text would be the end of all.
            self._process(event)

    def _tick(self) -> None:
        for event in self._parser.tick():
            self._process(event)

    def _process(self, event: Message) -> None:
        # The parser sees the marks of a paste and nothing between them, and has an empty text to tell of.
        if not isinstance(event, events.Paste):
            self._driver.process_message(event)


def with_pastes(chosen: type[Driver]) -> type[Driver]:
    """Our driver in place of Textual's for terminals; any other one (in a browser, in tests) stays."""
    return PasteDriver if chosen is LinuxDriver else chosen
