"""Questions that may take long, asked beside the others and waited for no longer than one likes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Later(Generic[T]):
    """A question in a thread of its own, which nobody waits for at the end of the program."""

    def __init__(self, ask: Callable[[], T]) -> None:
        self._ask = ask
        self._answers: list[T] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._started = time.monotonic()
        self._thread.start()

    def _run(self) -> None:
        try:
            self._answers.append(self._ask())
        except BaseException as error:  # raised again where the answer is asked for
            self._error = error

    def answer(self) -> T:
        """The answer, however long it takes."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._answers[0]

    def within(self, limit: float) -> T | None:
        """The answer if it came within ``limit`` seconds of the question, else ``None``."""
        self._thread.join(max(0.0, self._started + limit - time.monotonic()))
        return None if self._thread.is_alive() else self.answer()
