"""The first look at this node, begun while the screens are still being loaded: by another process, since loading and
looking would take each other's time in one. [effects]
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from ncclcheck.model import Facts, Node
    from ncclcheck.tui.seam import UseCases


class Early:
    """A look at a node, begun before anybody asked; nothing else may run in this process yet (it is forked)."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._answer, into = os.pipe()
        self._told = False
        self._process = os.fork()
        if self._process == 0:
            _look(name, into)
        os.close(into)

    def first(self, scan: Callable[[Node], Facts]) -> Callable[[Node], Facts]:
        """The same look, whose first answer is the one that was begun early."""

        def look(node: Node) -> Facts:
            first = node.name == self._name and not self._told
            return (self._taken() if first else None) or scan(node)

        return look

    def _taken(self) -> Facts | None:
        """What was found; nothing where it went wrong: whoever asks looks for himself, and says what is wrong."""
        from msgspec import DecodeError, json

        from ncclcheck.model import Facts

        self._told = True
        with open(self._answer, "rb") as answer:
            found = answer.read()
        os.waitpid(self._process, 0)
        try:
            return json.decode(found, type=Facts)
        except DecodeError:
            return None


def begin(name: str) -> Early | None:
    """A look under way; nothing where no further process may be started."""
    try:
        return Early(name)
    except OSError:
        return None


def _look(name: str, into: int) -> NoReturn:
    try:
        # Those of the opening give the terminal back, which is not this process's.
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        from msgspec import json

        from ncclcheck.doctor.scan import scan
        from ncclcheck.model import Node

        with open(into, "wb") as answer:
            answer.write(json.encode(scan(Node(name))))
    finally:
        os._exit(0)


def begun_with(cases: UseCases, early: Early | None) -> UseCases:
    """The use cases, with a first look that is under way."""
    from dataclasses import replace

    return replace(cases, scan=early.first(cases.scan)) if early else cases
