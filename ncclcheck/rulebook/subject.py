"""A subject: something of the job that a rule can speak about, as attributes with the places they come from."""

from __future__ import annotations

from dataclasses import dataclass

from ncclcheck.model import Rank, Where

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
    """The host's name, else the log's."""
    return rank.host or rank.process.source


def ranks_of(rank: Rank) -> tuple[int, ...]:
    """The rank numbers of a process, as far as they are known."""
    return rank.numbers
