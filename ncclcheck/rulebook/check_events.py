"""Checks line shapes: each is reached by a sample of its own, reads the right values, and is quick."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ncclcheck.logs.events import Shapes
from ncclcheck.logs.records import records
from ncclcheck.model import Event, Where
from ncclcheck.rulebook.book import Book
from ncclcheck.rulebook.load import shape_of
from ncclcheck.rulebook.patterns import Flaw, slow_flaws
from ncclcheck.rulebook.schema import EventFile, EventShape, LineSample
from ncclcheck.rulebook.vocabulary import group_names

_VERSIONS = re.compile(r"(?:\d+\.\d+(?:\.\d+)?)?-?(?:\d+\.\d+(?:\.\d+)?)?")
_KIND = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)?")


def event_flaws(file: EventFile, book: Book) -> Iterator[Flaw]:
    """What is wrong with the shapes of a file."""
    for number, shape in enumerate(file.event):
        key = f"event[{number}]"
        yield from _form_flaws(key, shape)
        yield from _sample_flaws(key, shape, book)
        lines = [sample.line for sample in shape.sample if sample.match]
        yield from slow_flaws(f"{key}.pattern", shape.pattern, shape.literal, lines)


def _form_flaws(key: str, shape: EventShape) -> Iterator[Flaw]:
    if not _KIND.fullmatch(shape.kind):
        yield Flaw(f"{key}.kind", f"{shape.kind!r} is no name for a kind", "small letters, as in connect.failed")
    if not _VERSIONS.fullmatch(shape.versions):
        yield Flaw(f"{key}.versions", f"{shape.versions!r} is no range", 'as in "2.4-", "-2.7" or "2.16-2.26"')
    if not any(sample.match for sample in shape.sample):
        yield Flaw(f"{key}.sample", "no sample reaches the pattern", "add a [[event.sample]] with a genuine line")


def _sample_flaws(key: str, shape: EventShape, book: Book) -> Iterator[Flaw]:
    alone = Shapes((shape_of(shape),))
    for number, sample in enumerate(shape.sample):
        here = f"{key}.sample[{number}]"
        found = events_in(alone, sample.line)
        if sample.match:
            yield from _hit_flaws(here, shape, sample, found)
            yield from _rival_flaws(here, shape, sample, book)
        elif found:
            yield Flaw(here, "the near miss is matched", "a narrower pattern, or a sample that is no near miss")


def _hit_flaws(key: str, shape: EventShape, sample: LineSample, found: Sequence[Event]) -> Iterator[Flaw]:
    if shape.literal not in sample.line:
        yield Flaw(key, f"the literal {shape.literal!r} is not in the line", "words for literal that the line holds")
    elif not found:
        yield Flaw(key, "the pattern does not match the line", "a pattern that does, or match = false for a near miss")
    else:
        yield from _value_flaws(key, shape, sample, found[0])


def _value_flaws(key: str, shape: EventShape, sample: LineSample, event: Event) -> Iterator[Flaw]:
    own = {"level", "location", "function"} - set(group_names(shape.pattern))
    read = {
        name: value for name, value in event.fields if name not in own and (name, value) not in shape.fields.items()
    }
    promised = {pair for pair in sample.values.items() if pair not in shape.fields.items()}
    if set(read.items()) != promised:
        shown = ", ".join(f'{name} = "{value}"' for name, value in read.items())
        yield Flaw(f"{key}.values", "the values read are not these", f"values = {{ {shown} }}, or another pattern")


def _rival_flaws(key: str, shape: EventShape, sample: LineSample, book: Book) -> Iterator[Flaw]:
    kinds = {event.kind for event in events_in(book.gated, sample.line)} - {shape.kind, *shape.beside}
    for kind in sorted(kinds):
        instead = f'a narrower pattern for one of them, or beside = ["{kind}"] where both are meant'
        yield Flaw(key, f"the line is read as {kind} too", instead)


def events_in(shapes: Shapes, line: str) -> list[Event]:
    """The events that shapes see in a line."""
    return [event for record in records(Where("sample", 1), line) for event in shapes.events(record)]
