"""The use case "what is wrong?" of a text that goes on: lines as they come, and an answer whenever one is wanted."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ncclcheck.doctor.diagnose import Clock, concluded, connects, of_logs
from ncclcheck.logs.job import JobReader
from ncclcheck.logs.wrapping import rejoined
from ncclcheck.model import Diagnosis, Where

if TYPE_CHECKING:
    from ncclcheck.model import Facts
    from ncclcheck.rulebook.load import Rulebook

_BATCH = 500
"""Lines between two looks at whether anybody still wants to know: a few milliseconds."""

Lines = Iterable[tuple[Where, str]]


class Examination:
    """One job's texts under diagnosis."""

    def __init__(
        self, facts: tuple[Facts, ...] = (), *, book: Rulebook | None = None, now: Clock = time.perf_counter
    ) -> None:
        self._book = book or of_logs()
        self._began, self._now = now(), now
        self._reader = JobReader(self._book.shapes, connects(), self._book.launchers, facts)

    def read(self, lines: Lines) -> Iterator[int]:
        """Take a source from its beginning to its present end; tells the number of lines after each batch."""
        number = 0
        for number, (where, text) in enumerate(rejoined(lines), start=1):
            self._reader.take(where, text)
            if number % _BATCH == 0:
                yield number
        yield number

    def take(self, lines: Lines) -> None:
        """Take what a source went on with. A text that grows was not copied from a terminal, so no line is joined."""
        for where, text in lines:
            self._reader.take(where, text)

    def diagnosis(self, size: int) -> Diagnosis:
        """What is wrong by what was read so far; ``size`` is in bytes."""
        self._reader.bytes = size
        return concluded(self._reader.reading(), self._book, self._now() - self._began)
