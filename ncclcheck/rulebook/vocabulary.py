"""The words that rules may use: attributes by kind of subject, and the closed list of causes.

Both are data beside the rules; only checking and explaining rules needs them, running them does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from ncclcheck.rulebook.library import builtin_folder
from ncclcheck.rulebook.load import toml
from ncclcheck.rulebook.schema import EventShape

_SECTIONS = {
    "job": ("every", "job"),
    **{kind: ("every", "process", kind) for kind in ("rank", "event", "interface", "connect", "setting")},
}
"""Sections of the list that a kind's attributes stand in, where it is more than its own."""
_OF_EVERY_EVENT = frozenset({"level", "location", "function", "style"})


@dataclass(frozen=True)
class Vocabulary:
    """What can be asked for."""

    described: Mapping[str, Mapping[str, str]]
    """Attributes with a description, by section of ``rules/attributes.toml``."""
    causes: Mapping[str, str]
    """Causes with a description."""
    shapes: tuple[EventShape, ...]

    @cached_property
    def fields(self) -> dict[str, set[str]]:
        """The fields of events, by kind."""
        found: dict[str, set[str]] = {}
        for shape in self.shapes:
            found.setdefault(shape.kind, set()).update(shape.fields, group_names(shape.pattern))
        return found

    def attributes(self, kind: str, events: Iterable[str] = ()) -> set[str]:
        """The attributes of a kind of subject; ``events`` narrows those of events down to some kinds."""
        names = {name for section in _SECTIONS.get(kind, (kind,)) for name in self.described[section]}
        if kind == "event":
            wanted = [event for event in events if event in self.fields] or list(self.fields)
            fields = {name for event in wanted for name in self.fields.get(event, ())} | _OF_EVERY_EVENT
            names |= fields | {f"event.{name}" for name in fields}
        return names


def group_names(pattern: str) -> list[str]:
    """The named groups of a pattern, by its text: it need not compile."""
    return [piece.partition(">")[0] for piece in pattern.split("(?P<")[1:]]


def vocabulary(shapes: Iterable[EventShape]) -> Vocabulary:
    """The words of ``rules/attributes.toml`` and ``rules/causes.toml``, with the events given."""
    folder = builtin_folder()
    return Vocabulary(toml(folder / "attributes.toml"), toml(folder / "causes.toml"), tuple(shapes))
