"""A rule in the making, and what its pattern finds on the whole log, as values. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from ncclcheck.model import Where


@dataclass(frozen=True, slots=True)
class Draft:
    """What is proposed for a line, and what somebody made of it."""

    where: Where
    line: str
    """As it is in the log."""
    pattern: str
    title: str
    name: str


@dataclass(frozen=True, slots=True)
class Trial:
    """What a pattern finds."""

    pattern: str
    refused: str = ""
    """Why no rule can be made with it."""
    count: int = 0
    """Lines that it matches, so far."""
    first: Where | None = None
    ended: bool = True
    """Whether the whole log was searched."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """There is a proposal for a line."""

    draft: Draft


@dataclass(frozen=True, slots=True)
class Tried:
    """How far a trial came."""

    trial: Trial


@dataclass(frozen=True, slots=True)
class RuleKept:
    """A rule was written."""

    path: str


RuleOutcome = Proposed | Tried | RuleKept
