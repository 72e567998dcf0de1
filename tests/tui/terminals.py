"""A terminal on a node of the lab with the program in it; what would be seen is kept by pyte."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pexpect
import pyte

from ncclcheck.model import Node

_LIMIT = 40.0
"""Seconds to wait for anything."""


class Terminal:
    """80x24."""

    def __init__(self, node: Node, home: Path) -> None:
        self._screen = pyte.Screen(80, 24)
        self._stream = pyte.ByteStream(self._screen)
        env = {**os.environ, **dict(node.env), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        program, *words = [*node.prefix, sys.executable, "-m", "ncclcheck"]
        self.process = pexpect.spawn(
            program, words, dimensions=(24, 80), env={**env, "XDG_STATE_HOME": str(home / node.name)}
        )

    @property
    def text(self) -> str:
        """What is to be seen."""
        return "\n".join(line.rstrip() for line in self._screen.display)

    def until(self, words: str) -> None:
        """Wait until these words are on the screen."""
        end = time.monotonic() + _LIMIT
        while words not in self.text:
            assert time.monotonic() < end, f"{words!r} never came:\n{self.text}"
            self._take()

    def send(self, keys: str) -> None:
        """Type."""
        self.process.send(keys)

    def paste(self, text: str) -> None:
        """What a terminal does with its own paste key."""
        self.send(f"\x1b[200~{text}\x1b[201~")

    def end(self) -> float:
        """Wait for the end of the program; how many seconds it took."""
        began = time.monotonic()
        while self.process.isalive():
            assert time.monotonic() < began + _LIMIT, "it does not end"
            try:
                self._take()
            except pexpect.EOF:
                self.process.wait()
        return time.monotonic() - began

    def _take(self) -> None:
        try:
            self._stream.feed(self.process.read_nonblocking(65536, timeout=0.2))
        except pexpect.TIMEOUT:
            return


@contextmanager
def terminals(nodes: tuple[Node, ...], home: Path) -> Iterator[list[Terminal]]:
    """One on each node; all are closed in the end."""
    opened = [Terminal(node, home) for node in nodes]
    try:
        yield opened
    finally:
        for terminal in opened:
            terminal.process.close(force=True)
