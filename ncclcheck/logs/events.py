"""Line shapes: a record → the events in it.

Pure. A shape's literal is its gate: patterns run, and are compiled, only on records that hold theirs. Every search
has a time limit, since shapes may come from users.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from ncclcheck.logs.records import Record
from ncclcheck.model import Event

if TYPE_CHECKING:
    import regex

PATTERN_LIMIT = 0.25
"""Seconds that one search may take; a pattern that needs more does not match."""

_MOST_TIMEOUTS = 4
_SHORT = 2048
"""Characters; NCCL cuts its lines at 1024."""
_GATE_LENGTH = 5
"""Letters of a literal that the gate looks at."""
_LONGEST_FIELD = 1024
"""Characters; NCCL's own lines are no longer."""
_MOST_SKELETONS = 20_000
_LONGEST_SKELETON = 1000


_Match: TypeAlias = "re.Match[str] | regex.Match[str]"


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
    checked: bool = False
    """Its pattern is known to be quick: on texts as short as NCCL's lines it needs no time limit."""

    @cached_property
    def names(self) -> tuple[tuple[str, int], ...]:
        """The named groups with their numbers."""
        groups = self._quick.groupindex if self.checked else self._limited.groupindex
        return tuple(sorted(groups.items(), key=lambda item: item[1]))

    def matches(self, text: str) -> list[_Match]:
        """Where the pattern matches; raises TimeoutError where that can't be told in time."""
        if self.checked and len(text) <= _SHORT:
            return _found(self._quick.finditer(text) if self.repeated else self._quick.search(text))
        if self.repeated:
            return list(self._limited.finditer(text, timeout=PATTERN_LIMIT))
        return _found(self._limited.search(text, timeout=PATTERN_LIMIT))

    # Compiled when the literal is first hit. A search with a time limit costs nine times as much.
    @cached_property
    def _quick(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    @cached_property
    def _limited(self) -> regex.Pattern[str]:
        import regex  # Only users' own shapes and long lines need it, and it takes long to load.

        return regex.compile(self.pattern)


def _found(matches: _Match | Iterator[_Match] | None) -> list[_Match]:
    return [] if matches is None else list(matches) if isinstance(matches, Iterator) else [matches]


class Shapes:
    """All shapes together behind their gate.

    Lines of a log differ mostly in numbers and addresses. So a line's skeleton, which is the line without hexadecimal
    digits, tells which literals it can hold, and that is looked up once for each skeleton.
    """

    def __init__(self, shapes: Sequence[Shape]) -> None:
        self.all = tuple(shapes)
        self._by_literal: dict[str, list[Shape]] = {}
        for shape in self.all:
            self._by_literal.setdefault(skeleton(shape.literal), []).append(shape)
        self._gate = re.compile("|".join(_branches(sorted(self._by_literal))) or r"(?!)")
        self._seen: dict[str, tuple[Shape, ...]] = {}
        self._timeouts: Counter[Shape] = Counter()

    def candidates(self, text: str) -> tuple[Shape, ...]:
        """The shapes whose literal occurs: the cheap question, asked of every line."""
        key = skeleton(text)
        found = self._seen.get(key)
        if found is None:
            found = self._look_up(key)
            if len(self._seen) >= _MOST_SKELETONS:
                self._seen.clear()
            if len(key) <= _LONGEST_SKELETON:
                self._seen[key] = found
        return tuple(shape for shape in found if shape.literal in text) if found else ()

    def _look_up(self, key: str) -> tuple[Shape, ...]:
        if not self._gate.search(key):
            return ()
        return tuple(shape for literal in self._by_literal if literal in key for shape in self._by_literal[literal])

    def events(self, record: Record, candidates: Sequence[Shape] | None = None) -> Iterator[Event]:
        """What the record means; usually nothing or one event. ``candidates`` are those of the record's line."""
        for shape in self.candidates(record.text) if candidates is None else candidates:
            if shape.literal in record.text and not (self._timeouts and shape in self.given_up):
                try:
                    matches = shape.matches(record.text)
                except TimeoutError:
                    self._timeouts[shape] += 1
                else:
                    for match in matches:
                        yield _event(shape, record, match)

    @property
    def given_up(self) -> tuple[Shape, ...]:
        """Shapes whose patterns took too long on several lines, and are not tried any more."""
        return tuple(shape for shape, times in self._timeouts.items() if times >= _MOST_TIMEOUTS)


def skeleton(text: str) -> str:
    """The text without hexadecimal digits: alike for lines that differ in numbers and addresses only."""
    return text.encode("utf-8", "surrogatepass").translate(None, b"0123456789abcdef").decode("latin-1")


def _branches(literals: Sequence[str]) -> Iterator[str]:
    """Beginnings of the literals by first letter: an alternation of whole literals tries each at every letter."""
    for letter, group in groupby(dict.fromkeys(literal[:_GATE_LENGTH] for literal in literals), key=lambda s: s[:1]):
        yield f"{re.escape(letter)}(?:{'|'.join(re.escape(beginning[1:]) for beginning in group)})"


def _event(shape: Shape, record: Record, match: _Match) -> Event:
    groups = match.groups()
    named = tuple(
        (name, text[:_LONGEST_FIELD]) for name, number in shape.names if (text := groups[number - 1]) is not None
    )
    return Event(
        kind=shape.kind,
        where=record.where,
        process=record.process,
        fields=(*shape.fields, *named, *_origin(record)),
        rank=record.rank,
        thread=record.thread,
    )


def _origin(record: Record) -> Iterator[tuple[str, str]]:
    """Level and place in NCCL's source, as far as the line carries them; the pattern's own groups come first."""
    for name, value in (("level", record.level), ("location", record.location), ("function", record.function)):
        if value:
            yield name, value
    if record.bare:
        yield "style", "2.2"
