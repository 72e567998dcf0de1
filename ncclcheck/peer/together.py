"""Several conversations at once, and what they bring in the order in which it comes. [effects]"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


class _End:
    """A task is over, well or not."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


def together(tasks: Sequence[Callable[[], Iterator[T]]]) -> Iterator[T]:
    """Run each task on a thread of its own and give what they yield; the first error of any is raised once all ended.

    Tasks have time limits of their own.
    """
    arrivals: queue.Queue[T | _End] = queue.Queue()
    threads = [threading.Thread(target=_run, args=(task, arrivals), daemon=True) for task in tasks]
    for thread in threads:
        thread.start()
    failed: BaseException | None = None
    running = len(threads)
    while running:
        value = arrivals.get()
        if isinstance(value, _End):
            running -= 1
            failed = failed or value.error
        else:
            yield value
    if failed is not None:
        raise failed


def _run(task: Callable[[], Iterator[T]], arrivals: queue.Queue[T | _End]) -> None:
    try:
        for value in task():
            arrivals.put(value)
    except BaseException as error:
        # Handed to whoever asked, on his own thread.
        arrivals.put(_End(error))
    else:
        arrivals.put(_End())
