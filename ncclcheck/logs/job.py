"""The first half of the line: sources → lines → records → events → job."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ncclcheck.logs.attempts import ConnectLines
from ncclcheck.logs.events import Shapes
from ncclcheck.logs.pasted import InterfaceReader
from ncclcheck.logs.records import records
from ncclcheck.logs.sources import Source, read
from ncclcheck.logs.timeline import Timeline
from ncclcheck.logs.wrapping import rejoined
from ncclcheck.model import Facts, Job


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read, and how much it was."""

    job: Job
    lines: int
    bytes: int


def read_job(
    sources: Iterable[Source], shapes: Shapes, connects: Sequence[ConnectLines], facts: tuple[Facts, ...] = ()
) -> Reading:
    """The job that the sources tell of; raises SourceError for what can't be read."""
    timeline, nodes, lines, size = Timeline(connects), list(facts), 0, 0
    for source in sources:
        reader = InterfaceReader()
        size += source.size
        for where, text in rejoined(read(source)):
            lines += 1
            reader.take(where, text)
            if candidates := shapes.candidates(text):
                for record in records(where, text):
                    for event in shapes.events(record, candidates):
                        timeline.take(event)
        if described := reader.facts():
            nodes.append(described)
    return Reading(timeline.job(tuple(nodes)), lines, size)
