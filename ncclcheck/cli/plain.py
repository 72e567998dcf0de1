"""``ncclcheck --plain``: what the assistant shows, as text."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from ncclcheck.cli.diagnostics import ExitCode, note
from ncclcheck.cli.output import write


def run(words: Sequence[str]) -> ExitCode:
    """Every place, or the one that is named first, about this node and the logs that are named."""
    from ncclcheck.tui.places import DESTINATIONS

    names = {name: place.mode for place in DESTINATIONS for name in (place.mode, place.label.lower())}
    mode = names.get(words[0]) if words else None
    paths = tuple(words[1:] if mode else words)
    if mode is None and paths and paths[0] != "-" and not Path(paths[0]).exists():
        note(f"ncclcheck: {paths[0]}: no place is called so, and no file\n  places: {', '.join(dict.fromkeys(names))}")
        return ExitCode.USAGE
    return _told((mode,) if mode else tuple(place.mode for place in DESTINATIONS), paths)


def instead(problem: str) -> ExitCode:
    """The overview where the assistant cannot be shown, and why."""
    note(f"ncclcheck: as text, since {problem}. All places: ncclcheck --plain")
    return _told(("overview",), ())


def _told(modes: Sequence[str], paths: Sequence[str]) -> ExitCode:
    from ncclcheck.cli.analyze import exit_code
    from ncclcheck.model import Node
    from ncclcheck.tui import plain
    from ncclcheck.tui.real import use_cases

    now = plain.look(use_cases(), (Node(socket.gethostname()),), paths)
    write(_fitted("\n".join(plain.text(mode, now) for mode in modes).rstrip()))
    return exit_code(now.diagnosis) if now.diagnosis else ExitCode.CLEAR


def _fitted(text: str) -> str:
    """The text in the signs that standard output takes."""
    from ncclcheck.tui.terminal.signs import ascii_wanted, to_ascii

    # Where it goes into a file, the terminal's fonts do not matter.
    environment = {name: value for name, value in os.environ.items() if name != "TERM" or sys.stdout.isatty()}
    return to_ascii(text) if ascii_wanted(environment, sys.stdout.encoding) else text
