"""A browser tab in place of a terminal: a paste is a text there too, and it ends with whoever serves it. [effects]"""

from __future__ import annotations

import os
import selectors
import sys
from contextlib import suppress

from textual import messages
from textual.driver import Driver
from textual.drivers._byte_stream import ByteStream
from textual.drivers.web_driver import WebDriver, _ExitInput

from ncclcheck.tui.terminal.driver import READ, Reading


class Tab(WebDriver):
    """Textual's own (8.2.8) takes what follows an escape sequence in a paste for keys, so that a log could press them;
    and it lives on where its server was killed.
    """

    def run_input_thread(self) -> None:
        """Read until the session ends; the end of the input ends it."""
        with suppress(_ExitInput):
            self._read(sys.__stdin__.fileno() if sys.__stdin__ else -1)
        if not self.exit_event.is_set():
            self.send_message(messages.ExitApp())

    def _read(self, keys: int) -> None:
        reading, packets = Reading(self), ByteStream()
        with selectors.DefaultSelector() as selector:
            selector.register(keys, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if not selector.select(reading.patience):
                    reading.idle()
                elif data := os.read(keys, READ):
                    for kind, payload in packets.feed(data):
                        self._take(reading, kind, payload)
                else:
                    return

    def _take(self, reading: Reading, kind: str, payload: bytes) -> None:
        if kind == "D":
            reading.take(payload)
        else:
            self._on_meta(kind, payload)


def tab_driver(chosen: type[Driver]) -> type[Driver]:
    """Ours in place of Textual's for browsers; any other one stays."""
    return Tab if chosen is WebDriver else chosen
