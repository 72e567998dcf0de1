"""The first half of the line: sources → lines → records → events → job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from ncclcheck.logs.attempts import ConnectLines
from ncclcheck.logs.events import Shape, Shapes
from ncclcheck.logs.launcher import Launcher, LauncherReader
from ncclcheck.logs.pasted import InterfaceReader
from ncclcheck.logs.records import Record, records
from ncclcheck.logs.sources import Source, read
from ncclcheck.logs.timeline import Timeline
from ncclcheck.logs.wrapping import rejoined
from ncclcheck.model import Event, Job, Where

if TYPE_CHECKING:
    from ncclcheck.model import Facts

_WARNING = "NCCL WARN"
_LONGEST_WARNING = 300
_MOST_LINES = 1024
"""Different lines whose meaning is remembered; each may be 64 kB long."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read, and how much it was."""

    job: Job
    lines: int
    bytes: int


class JobReader:
    """Folds lines into the job, for as long as there are any; a warning that no shape knows is an event too."""

    def __init__(
        self,
        shapes: Shapes,
        connects: Sequence[ConnectLines],
        launchers: Sequence[Launcher] = (),
        facts: tuple[Facts, ...] = (),
    ) -> None:
        self.bytes = 0
        """As stored; whoever opens a source adds its own."""
        self._facts, self._lines = facts, 0
        self._shapes, self._timeline, self._launcher = shapes, Timeline(connects), LauncherReader(launchers)
        self._lists: dict[str, InterfaceReader] = {}
        self._events_of = lru_cache(maxsize=_MOST_LINES)(partial(_events_of, shapes))

    def take(self, where: Where, text: str) -> None:
        """Fold one line of any source; those of one source come in their order."""
        self._lines += 1
        reader = self._lists.get(where.source)
        if reader is None:
            reader = self._lists[where.source] = InterfaceReader()
        reader.take(where, text)
        self._launcher.take(text)
        if self._shapes.candidates(text) or _WARNING in text:
            for event in self._events_of(where.source, text):
                self._timeline.take(event.at(where))

    def reading(self) -> Reading:
        """What has been read so far."""
        described = (facts for reader in self._lists.values() if (facts := reader.facts()))
        job = self._timeline.job((*self._facts, *described))
        name = self._launcher.found.name if self._launcher.found else None
        return Reading(replace(job, launcher=name), self._lines, self.bytes)


def read_job(
    sources: Iterable[Source],
    shapes: Shapes,
    connects: Sequence[ConnectLines],
    launchers: Sequence[Launcher] = (),
    facts: tuple[Facts, ...] = (),
) -> Reading:
    """The job that the sources tell of.

    Raises SourceError for what can't be read.
    """
    reader = JobReader(shapes, connects, launchers, facts)
    for source in sources:
        reader.bytes += source.size
        for where, text in rejoined(read(source)):
            reader.take(where, text)
    return reader.reading()


def _events_of(shapes: Shapes, source: str, text: str) -> tuple[Event, ...]:
    """The events in a line, wherever it stands in its source: lines of a retry loop are alike."""
    candidates = shapes.candidates(text)
    return tuple(event for record in records(Where(source, 0), text) for event in _events(record, shapes, candidates))


def _events(record: Record, shapes: Shapes, candidates: Sequence[Shape]) -> Iterator[Event]:
    known = False
    for event in shapes.events(record, candidates):
        known = True
        yield event
    if record.level == "WARN" and not known:
        fields = (("text", record.text[:_LONGEST_WARNING].strip()), ("level", "WARN"), ("location", record.location))
        yield Event("warning", record.where, record.process, fields, record.rank, record.thread)
