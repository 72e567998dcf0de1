"""The first look at this node, begun while the screens are still being loaded: much of it is waiting for a Python to
say where its NCCL is. [effects]
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import TYPE_CHECKING

from ncclcheck.errors import NcclcheckError

if TYPE_CHECKING:
    from ncclcheck.model import Facts, Node
    from ncclcheck.tui.seam import UseCases


class Early:
    """A look at a node, begun before anybody asked."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._found: list[Facts] = []
        self._thread = Thread(target=self._look, name="early-look", daemon=True)
        self._thread.start()

    def _look(self) -> None:
        from ncclcheck.doctor.scan import scan
        from ncclcheck.model import Node

        try:
            self._found.append(scan(Node(self._name)))
        except NcclcheckError:
            return  # Whoever asks looks for himself, and says what is wrong.

    def first(self, scan: Callable[[Node], Facts]) -> Callable[[Node], Facts]:
        """The same look, whose first answer is the one that was begun early."""

        def look(node: Node) -> Facts:
            self._thread.join()
            return self._found.pop() if self._found and node.name == self._name else scan(node)

        return look


def begun_with(cases: UseCases, early: Early | None) -> UseCases:
    """The use cases, with a first look that is under way."""
    from dataclasses import replace

    return replace(cases, scan=early.first(cases.scan)) if early else cases
