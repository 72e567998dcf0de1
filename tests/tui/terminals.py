"""A terminal with the program in it: what would be seen is kept by pyte, and what was asked of the terminal by us."""

from __future__ import annotations

import os
import re
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pexpect
import pyte

from ncclcheck.model import Node

LIMIT = 40.0
"""Seconds to wait for anything."""
PROGRAM = ("-m", "ncclcheck")
_MODE = re.compile(rb"\x1b\[\?([\d;]+)([hl])|\x1b\[([<>])\d*u")
_ON_AT_FIRST = {7, 25}
"""Line wrap and the cursor; all other modes of xterm are off (xterm, ctlseqs, "DEC Private Mode Set")."""


class Terminal:
    """80x24 unless told otherwise."""

    def __init__(
        self,
        home: Path,
        *words: str,
        node: Node | None = None,
        env: Mapping[str, str] | None = None,
        size: tuple[int, int] = (80, 24),
    ) -> None:
        self.screen = pyte.Screen(*size)
        self._stream = pyte.ByteStream(self.screen)
        self.output = b""
        own = {name: value for name, value in os.environ.items() if not name.startswith(("NCCL", "LC_", "NO_COLOR"))}
        own |= {"HOME": str(home), "XDG_STATE_HOME": str(home), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        prefix, more = (node.prefix, dict(node.env)) if node else ((), {})
        program, *rest = [*prefix, sys.executable, *(words or PROGRAM)]
        self.process = pexpect.spawn(program, rest, dimensions=size[::-1], env={**own, **more, **(env or {})})
        # The child sets its own modes at once, but only after this.
        self.modes = termios.tcgetattr(self.process.child_fd)

    @property
    def text(self) -> str:
        """What is to be seen."""
        return "\n".join(line.rstrip() for line in self.screen.display)

    @property
    def changed(self) -> set[int | str]:
        """The modes of the terminal that are not as they were at first."""
        found: set[int | str] = set()
        stacked = 0
        for numbers, letter, stack in _MODE.findall(self.output):
            stacked += {b">": 1, b"<": -1, b"": 0}[stack]
            for number in map(int, filter(None, numbers.split(b";"))):
                (found.discard if (letter == b"h") is (number in _ON_AT_FIRST) else found.add)(number)
        return found | ({"kitty"} if stacked else set())

    @property
    def sane(self) -> bool:
        """Whether a shell could go on in it."""
        return not self.changed and termios.tcgetattr(self.process.child_fd) == self.modes

    def until(self, words: str, limit: float = LIMIT) -> None:
        """Wait until these words are on the screen; the limit is in seconds."""
        end = time.monotonic() + limit
        while words not in self.text:
            assert time.monotonic() < end, f"{words!r} never came:\n{self.text}"
            self.take()

    def send(self, keys: str) -> None:
        """Type."""
        self.process.send(keys)

    def paste(self, text: str) -> None:
        """What a terminal does with its own paste key."""
        self.send(f"\x1b[200~{text}\x1b[201~")

    def resize(self, columns: int, rows: int) -> None:
        """Make the window larger or smaller."""
        self.screen.resize(rows, columns)
        self.process.setwinsize(rows, columns)

    def end(self) -> float:
        """Wait for the end of the program; how many seconds it took."""
        began = time.monotonic()
        while self.process.isalive():
            assert time.monotonic() < began + LIMIT, f"it does not end:\n{self.text}"
            self._take_or_wait()
        seconds = time.monotonic() - began
        while not self.process.flag_eof:
            self._take_or_wait()  # What it said last.
        return seconds

    def _take_or_wait(self) -> None:
        try:
            self.take()
        except pexpect.EOF:
            self.process.wait()

    def take(self) -> None:
        """Take in what it prints, for a moment."""
        try:
            news = self.process.read_nonblocking(65536, timeout=0.1)
        except pexpect.TIMEOUT:
            return
        self.output += news
        self._stream.feed(news)

    def close(self) -> None:
        """End whatever is left of it."""
        self.process.close(force=True)


@contextmanager
def terminals(nodes: tuple[Node, ...], home: Path) -> Iterator[list[Terminal]]:
    """One on each node; all are closed in the end."""
    opened = [Terminal(home / node.name, node=node) for node in nodes]
    try:
        yield opened
    finally:
        for terminal in opened:
            terminal.close()
