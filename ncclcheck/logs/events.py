"""Line shapes: a record → the events in it.

Pure. A shape's literal is its gate: one alternation of all literals is searched first, and patterns run only on records
that hold theirs. Every search has a time limit, since shapes may come from users.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import regex

from ncclcheck.logs.records import Record
from ncclcheck.model import Event

PATTERN_LIMIT = 0.25
"""Seconds that one search may take; a pattern that needs more does not match."""


@dataclass(frozen=True)
class Shape:
    """A line shape from ``rules/events/``."""

    kind: str
    literal: str
    pattern: str
    fields: tuple[tuple[str, str], ...] = ()
    """Fixed fields besides the pattern's named groups."""
    repeated: bool = False
    """Every occurrence in the record is an event of its own."""

    @cached_property
    def compiled(self) -> regex.Pattern[str]:
        """The pattern, compiled when its literal is first hit."""
        return regex.compile(self.pattern)


class Shapes:
    """All shapes together behind their gate."""

    def __init__(self, shapes: Sequence[Shape]) -> None:
        self.all = tuple(shapes)
        self._by_literal: dict[str, list[Shape]] = {}
        for shape in self.all:
            self._by_literal.setdefault(shape.literal, []).append(shape)
        longest_first = sorted(self._by_literal, key=len, reverse=True)
        self._gate = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")

    def may_match(self, text: str) -> bool:
        """Whether any literal occurs: the cheap question, asked of every line."""
        return self._gate.search(text) is not None

    def events(self, record: Record) -> Iterator[Event]:
        """What the record means; usually nothing or one event."""
        if not self.may_match(record.text):
            return
        for literal, shapes in self._by_literal.items():
            if literal in record.text:
                for shape in shapes:
                    yield from _events(shape, record)


def _events(shape: Shape, record: Record) -> Iterator[Event]:
    for match in _matches(shape, record.text):
        named = tuple((name, value) for name, value in match.groupdict().items() if value is not None)
        function = (("function", record.function),) if record.function and "function" not in match.groupdict() else ()
        yield Event(
            kind=shape.kind,
            where=record.where,
            process=record.process,
            fields=(*shape.fields, ("level", record.level), *named, *function),
            rank=record.rank,
            thread=record.thread,
        )


def _matches(shape: Shape, text: str) -> list[regex.Match[str]]:
    try:
        if shape.repeated:
            return list(shape.compiled.finditer(text, timeout=PATTERN_LIMIT))
        match = shape.compiled.search(text, timeout=PATTERN_LIMIT)
        return [match] if match else []
    except TimeoutError:
        return []
