"""The terminal that the program runs in: what it can show, who has its mouse, and how it is left. [effects]

Textual alone (8.2.8) leaves a terminal in disorder when a signal ends the program, and never ends when its terminal is
gone.
"""

from __future__ import annotations

import os
import re
import signal
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import IO, Any, ClassVar

from textual.app import App
from textual.driver import Driver

from ncclcheck.tui.terminal.driver import PasteDriver, with_pastes
from ncclcheck.tui.terminal.opening import Opening
from ncclcheck.tui.terminal.signs import ascii_wanted, bare, to_ascii

ENDS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
"""Signals that end the program in good order, its children with it."""
_SIGNALLED = 128
"""The exit code of a program that a signal ended is this and the signal's number, as in a shell."""

_SECOND_SCREEN = "\x1b[?1049h"
_NEWER = re.compile(r"\x1b\[[<>?]\d*(u|\$p)")
"""Sent by Textual to every terminal, for the Kitty protocol and for requests of modes; an old one prints the letter."""


class _Fading:
    """A terminal to write to, which may be gone: then what is written goes nowhere."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Write, as long as somebody is there."""
        try:
            return self._file.write(text)
        except OSError:
            return len(text)

    def flush(self) -> None:
        """The same of what is held back."""
        try:
            self._file.flush()
        except OSError:
            return

    def fileno(self) -> int:
        """The file behind it."""
        return self._file.fileno()


class Terminal(PasteDriver):
    """Draws in the signs that the terminal has, lends its mouse, and leaves it as it was."""

    opening: ClassVar[Opening | None] = None
    """What shows the first frame until there is another one."""

    def __init__(
        self, app: App[Any], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._ascii = ascii_wanted(os.environ, self._file.encoding)
        self._bare = bare(os.environ)
        self._file: Any = _Fading(self._file)
        self._taken = self._drawn = False

    def write(self, data: str) -> None:
        """Draw, or change a mode."""
        if data == _SECOND_SCREEN and self._drawn:
            self._drawn = False
        elif not (self._bare and _NEWER.fullmatch(data)):
            super().write(to_ascii(data) if self._ascii else data)

    # The mouse -------------------------------------------------------------------------------------------------------

    @property
    def mouse_lent(self) -> bool:
        """Whether the terminal has its mouse for itself."""
        return not self._mouse

    def lend_mouse(self, lend: bool) -> None:
        """Let the terminal have its mouse, to select text as anywhere else, or take it back."""
        if lend:
            self._disable_mouse_support()
        self._mouse = not lend
        self._enable_mouse_support()

    def _disable_mouse_support(self) -> None:
        super()._disable_mouse_support()
        if self._mouse_pixels:
            self.write("\x1b[?1016l")

    # Start and end ---------------------------------------------------------------------------------------------------

    def start_application_mode(self) -> None:
        """Take the terminal over."""
        self._taken = True
        for number in ENDS:
            signal.signal(number, self._signalled)
        self._drawn = self.opening is not None and self.opening.hand_over()
        super().start_application_mode()  # type: ignore[no-untyped-call]

    def stop_application_mode(self) -> None:
        """Give it back."""
        self._taken = False
        if self._bare:
            # It has no second screen to leave, so the shell would go on in the middle of ours.
            self.write("\x1b[0m\x1b[H\x1b[2J")
        super().stop_application_mode()

    def run_input_thread(self) -> None:
        """Read until the program ends; a terminal that is gone ends it."""
        with suppress(OSError):
            super().run_input_thread()
        if not self.exit_event.is_set():
            self._end(signal.SIGHUP)

    def _signalled(self, number: int, _: FrameType | None) -> None:
        self._end(number)
        if not self._taken:
            # A text is being shown on the normal screen, and a key waited for.
            raise KeyboardInterrupt

    def _end(self, number: int) -> None:
        if not self._loop.is_closed():
            # In its turn: a place that is being laid out when the app is told to end goes on without its parts.
            leave = partial(self._app.call_after_refresh, self._app.exit, None, _SIGNALLED + number)
            self._loop.call_soon_threadsafe(leave)

    def _get_terminal_size(self) -> tuple[int, int]:
        # Textual asks standard output, which may lead into a file.
        try:
            width, height = os.get_terminal_size(self._file.fileno())
        except OSError:
            return super()._get_terminal_size()
        return width or 80, height or 24


def own_driver(chosen: type[Driver]) -> type[Driver]:
    """Ours in place of Textual's for terminals and for browsers; the one of tests stays."""
    if chosen.is_web is not Driver.is_web:
        from ncclcheck.tui.terminal.tab import tab_driver

        return tab_driver(chosen)
    return Terminal if with_pastes(chosen) is PasteDriver else chosen
