"""The first frame, drawn before the toolkit is loaded: where we are, and that this node is being looked at. [effects]

Loading takes some tenths of a second, in which a terminal would show nothing and mix typed keys into it. What is typed
or pasted by then is kept by the terminal's own buffer and read by the toolkit.
"""

from __future__ import annotations

import os
import signal
import termios
from collections.abc import Mapping, Sequence
from types import FrameType

from ncclcheck.printable import one_line
from ncclcheck.tui.places import DESTINATIONS
from ncclcheck.tui.terminal.signs import ascii_wanted, to_ascii

_BEGIN = "\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[0m\x1b[H\x1b[2J"
"""The second screen (xterm, ctlseqs), no cursor, pastes with marks."""
_END = "\x1b[?2004l\x1b[?25h\x1b[?1049l"
_SIGNALLED = 128


def rows(names: Sequence[str], width: int) -> tuple[str, ...]:
    """The lines of the frame, by the names of the nodes; they stand where the overview has them."""
    bar = "".join(f" {place.key} {place.label} " for place in DESTINATIONS)
    who = one_line(", ".join(names))
    waiting = [text for name in names for text in (f" {one_line(name)}", "   looking…", "")]
    return tuple(text[:width] for text in (f"{bar}{who:>{max(0, width - len(bar) - 1)}}", "", "", *waiting))


class Opening:
    """A terminal that is taken over for the time of loading."""

    def __init__(self, keys: int, screen: int) -> None:
        self._keys = keys
        self._screen = screen
        self._modes = termios.tcgetattr(keys)
        self._open = True

    def draw(self, names: Sequence[str], encoding: str, environment: Mapping[str, str] = os.environ) -> None:
        """Show the frame, and keep what is typed for later."""
        _silence(self._keys, self._modes)
        signal.signal(signal.SIGTERM, self._leave)
        signal.signal(signal.SIGHUP, self._leave)
        size = os.get_terminal_size(self._screen)
        here, *rest = rows(names, size.columns or 80)
        text = "\r\n".join([f"\x1b[1;7m{here[: _first()]}\x1b[0m{here[_first() :]}", *rest[: max(0, size.lines - 1)]])
        plain = ascii_wanted(environment, encoding)
        self._write(_BEGIN + (to_ascii(text) if plain else text), "ascii" if plain else encoding)

    def hand_over(self) -> bool:
        """Let the toolkit have the terminal as it was, and say whether the frame is still on it."""
        was_open, self._open = self._open, False
        if was_open:
            termios.tcsetattr(self._keys, termios.TCSANOW, self._modes)
        return was_open

    def close(self) -> None:
        """Give the terminal back, where the toolkit did not come to have it."""
        if self.hand_over():
            self._write(_END, "ascii")

    def _leave(self, number: int, _: FrameType | None) -> None:
        # An exception would be lost in whatever is being loaded, or wait for a toolkit that is half begun.
        termios.tcsetattr(self._keys, termios.TCSANOW, self._modes)
        self._write(_END, "ascii")
        os._exit(_SIGNALLED + number)

    def _write(self, text: str, encoding: str) -> None:
        os.write(self._screen, text.encode(encoding, "replace"))


def _first() -> int:
    return len(f" {DESTINATIONS[0].key} {DESTINATIONS[0].label} ")


def _silence(keys: int, modes: list[object]) -> None:
    """No echo and no line by line, as the toolkit will have it; a key of a signal is read by it too."""
    changed = list(modes)
    local = changed[3]
    assert isinstance(local, int)
    changed[3] = local & ~(termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG)
    entered = changed[0]
    assert isinstance(entered, int)
    changed[0] = entered & ~termios.ICRNL
    termios.tcsetattr(keys, termios.TCSANOW, changed)  # type: ignore[arg-type]
