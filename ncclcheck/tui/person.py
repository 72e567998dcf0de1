"""The person at the keys, as a pairing on a worker's thread meets them: they may answer, and they may go. [effects]

A pairing can wait for minutes, for another node or for its user. Whoever goes away here must not have to wait with it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from queue import Empty, Queue
from threading import Event, Thread
from typing import TypeVar

from ncclcheck.model import Edit, Fix

T = TypeVar("T")

_LOOK = 0.2
"""Seconds between two looks at whether the person is still there."""


class Person:
    """Gives one answer to one question."""

    def __init__(self) -> None:
        self._answers: Queue[bool] = Queue()
        self._gone = Event()

    def agree(self, edits: tuple[Edit, ...], fix: Fix) -> bool:
        """Wait for the answer; whoever goes says no, and to nothing everybody says yes."""
        return not edits or self._answers.get()

    def answer(self, yes: bool) -> None:
        """Give it."""
        self._answers.put(yes)

    def go(self) -> None:
        """Go away."""
        self._gone.set()
        self._answers.put(False)

    def gone(self) -> bool:
        """Whether they went."""
        return self._gone.is_set()


@dataclass(frozen=True, slots=True)
class _End:
    """There are no more steps."""

    error: BaseException | None = None


def attended(
    steps: Generator[T, None, None], gone: Callable[[], bool], arrivals: Queue[object] | None = None
) -> Generator[T, None, None]:
    """The steps, as long as somebody is there to see them.

    A step that is still being waited for when they go is nobody's; the pairing is closed once it has come. What
    somebody else puts into ``arrivals`` comes in between, each in its turn.
    """
    arrivals = Queue() if arrivals is None else arrivals
    Thread(target=_go_on, args=(steps, gone, arrivals), daemon=True).start()
    while not gone():
        try:
            value = arrivals.get(timeout=_LOOK)
        except Empty:
            continue
        if isinstance(value, _End):
            if value.error is not None:
                raise value.error
            return
        yield value  # type: ignore[misc]


def _go_on(steps: Generator[T, None, None], gone: Callable[[], bool], arrivals: Queue[object]) -> None:
    try:
        with closing(steps):
            for step in steps:
                if gone():
                    return
                arrivals.put(step)
    except BaseException as error:
        # Handed to whoever looks, on his own thread.
        arrivals.put(_End(error))
    else:
        arrivals.put(_End())
