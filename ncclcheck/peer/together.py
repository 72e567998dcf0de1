"""Several conversations at once, and what they bring in the order in which it comes. [effects]"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")

_LOOK = 0.2
"""Seconds between two looks at whether anybody still listens."""


@dataclass(frozen=True)
class _Value(Generic[T]):
    """Something that a task brought; the task goes on once it was taken in."""

    value: T
    taken: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True)
class _End:
    """A task is over, well or not."""

    error: BaseException | None = None


def together(tasks: Sequence[Callable[[], Iterator[T]]]) -> Iterator[T]:
    """Run each task on a thread of its own and give what they yield; the first error of any is raised once all ended.

    As with a plain generator, a task goes on only when its value was dealt with: so a plan is on the screen before its
    question is. Tasks have time limits of their own; once nobody listens any more, they end with their next value.
    """
    arrivals: queue.Queue[_Value[T] | _End] = queue.Queue()
    given_up = threading.Event()
    for task in tasks:
        threading.Thread(target=_run, args=(task, arrivals, given_up), daemon=True).start()
    failed: BaseException | None = None
    running = len(tasks)
    try:
        while running:
            arrived = arrivals.get()
            if isinstance(arrived, _End):
                running -= 1
                failed = failed or arrived.error
                continue
            yield arrived.value
            arrived.taken.set()
    finally:
        given_up.set()
    if failed is not None:
        raise failed


def _run(task: Callable[[], Iterator[T]], arrivals: queue.Queue[_Value[T] | _End], given_up: threading.Event) -> None:
    try:
        for value in task():
            brought = _Value(value)
            arrivals.put(brought)
            while not given_up.is_set() and not brought.taken.wait(_LOOK):
                pass
            if given_up.is_set():
                break
    except BaseException as error:
        # Handed to whoever asked, on his own thread.
        arrivals.put(_End(error))
    else:
        arrivals.put(_End())
