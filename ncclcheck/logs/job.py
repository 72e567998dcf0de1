"""The first half of the line: sources → lines → records → events → job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from ncclcheck.logs.attempts import ConnectLines
from ncclcheck.logs.events import Shape, Shapes
from ncclcheck.logs.launcher import Launcher, LauncherReader
from ncclcheck.logs.pasted import InterfaceReader
from ncclcheck.logs.records import Record, records
from ncclcheck.logs.sources import Source, read
from ncclcheck.logs.timeline import Timeline
from ncclcheck.logs.wrapping import rejoined
from ncclcheck.model import Event, Facts, Job, Where

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


def read_job(
    sources: Iterable[Source],
    shapes: Shapes,
    connects: Sequence[ConnectLines],
    launchers: Sequence[Launcher] = (),
    facts: tuple[Facts, ...] = (),
) -> Reading:
    """The job that the sources tell of; a warning that no shape knows is an event of the kind ``warning``.

    Raises SourceError for what can't be read.
    """
    timeline, nodes, lines, size = Timeline(connects), list(facts), 0, 0
    launcher = LauncherReader(launchers)
    events_of = lru_cache(maxsize=_MOST_LINES)(partial(_events_of, shapes))
    for source in sources:
        reader = InterfaceReader()
        size += source.size
        for where, text in rejoined(read(source)):
            lines += 1
            reader.take(where, text)
            launcher.take(text)
            if shapes.candidates(text) or _WARNING in text:
                for event in events_of(where.source, text):
                    timeline.take(event.at(where))
        if described := reader.facts():
            nodes.append(described)
    job = timeline.job(tuple(nodes))
    return Reading(replace(job, launcher=launcher.found.name if launcher.found else None), lines, size)


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
