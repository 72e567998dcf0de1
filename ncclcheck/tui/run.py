"""The way into the assistant from the command line. [effects]

Whether a terminal can show it is known before anything heavy is loaded.
"""

from __future__ import annotations

import gc
import os
import socket
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, TextIO

from ncclcheck.errors import NcclcheckError
from ncclcheck.tui.terminal.early import begin, begun_with
from ncclcheck.tui.terminal.opening import Opening
from ncclcheck.tui.terminal.signs import monochrome

if TYPE_CHECKING:
    from ncclcheck.model import Node

_DRIVER = "TEXTUAL_DRIVER"
"""Textual's own variable: what draws instead of a terminal, such as a browser (textual-serve sets it)."""


def unfit(
    environment: Mapping[str, str] = os.environ,
    keys: TextIO | None = sys.__stdin__,
    screen: TextIO | None = sys.__stderr__,
) -> str:
    """Why the assistant cannot be shown; empty where it can."""
    if environment.get(_DRIVER):
        return ""
    if environment.get("TERM", "") == "dumb":
        return "this terminal cannot move its cursor (TERM=dumb)"
    if screen is None or not screen.isatty():
        return "standard error is redirected, and the assistant draws there"
    if keys is None or not keys.isatty():
        return "standard input is no terminal, and the assistant takes its keys from there"
    return ""


def run_app(nodes: tuple[Node, ...] = (), paths: tuple[str, ...] = ()) -> int:
    """Run the assistant on these nodes, or on this machine; 0 when it was left in the ordinary way.

    Raises NcclcheckError where no terminal can show it.
    """
    if problem := unfit():
        raise NcclcheckError(problem, next_step="as text: ncclcheck --plain")
    if monochrome(os.environ):
        os.environ["NO_COLOR"] = "1"
    opening = _opening(nodes)
    try:
        return _run(nodes, paths, opening)
    finally:
        if opening is not None:
            opening.close()


def _run(nodes: tuple[Node, ...], paths: tuple[str, ...], opening: Opening | None) -> int:
    # A third of the time that loading takes, and nothing of what is loaded is garbage; tui.courtesy turns it on again.
    gc.disable()
    early = None if nodes else begin(socket.gethostname())
    from ncclcheck.tui.app import Doctor
    from ncclcheck.tui.real import use_cases
    from ncclcheck.tui.terminal.own import Terminal

    Terminal.opening = opening
    app = Doctor(nodes, paths, begun_with(use_cases(), early))
    app.run()
    return app.return_code or 0


def _opening(nodes: tuple[Node, ...]) -> Opening | None:
    """The first frame, where there is a terminal for it."""
    if os.environ.get(_DRIVER) or not (sys.__stdin__ and sys.__stderr__):
        return None
    opening = Opening(sys.__stdin__.fileno(), sys.__stderr__.fileno())
    opening.draw([node.name for node in nodes] or [socket.gethostname()], sys.__stderr__.encoding)
    return opening
