"""A subject: something of the job that a rule can speak about, as attributes with the places they come from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from ncclcheck.model import Rank, Where

_NAMELESS = frozenset({"-", "pasted"})

Value = str | int | float | bool | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Subject:
    """One thing with its attributes; an attribute that is not known is absent."""

    kind: str
    values: dict[str, Value]
    evidence: tuple[Where, ...]
    ranks: tuple[int, ...] = ()


def known(**values: Value | None) -> dict[str, Value]:
    """The attributes that have a value."""
    return {name: value for name, value in values.items() if value is not None and value != ""}


def host_of(rank: Rank) -> str:
    """The host's name; where the log does not tell it, words that name the log."""
    if rank.host:
        return rank.host
    if rank.process.source in _NAMELESS:
        return "this node"
    return f"the node of {'/'.join(PurePath(rank.process.source).parts[-2:])}"


def ranks_of(rank: Rank) -> tuple[int, ...]:
    """The rank numbers of a process, as far as they are known."""
    return rank.numbers
