"""One line of standard error that says how far something is: rewritten on a terminal, else now and then."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from typing import TextIO

from ncclcheck.printable import printable

_APART = 1.0
"""Seconds between two passing lines where they can't be rewritten."""
_CLEARED = "\r\x1b[K"


class Line:
    """What is shown; ``passing`` lines give way to the next one, others stay."""

    def __init__(self, stream: TextIO | None = None, now: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._now = stream or sys.stderr, now
        self._rewrites = self._stream.isatty()
        self._said = float("-inf")
        self._open = False

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the terminal with nothing half said."""
        if self._open:
            self._write(_CLEARED)
            self._open = False

    def show(self, text: str, *, passing: bool) -> None:
        """Say it, if there is room and time for it."""
        if not self._rewrites:
            self._now_and_then(text, passing)
            return
        room = shutil.get_terminal_size().columns - 1
        self._write(f"{_CLEARED}{printable(text)[:room]}" if passing else f"{_CLEARED}{printable(text)}\n")
        self._open = passing

    def _now_and_then(self, text: str, passing: bool) -> None:
        if passing and self._now() - self._said < _APART:
            return
        self._said = self._now() if passing else self._said
        self._write(f"{printable(text)}\n")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
