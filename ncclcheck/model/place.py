"""Where something stands, and what nobody could tell."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Where:
    """A place in a log, by which the text can be read again."""

    source: str
    """File name as given, or ``-`` for standard input."""
    line: int
    """Counted from 1."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A question that these logs cannot settle, and what would."""

    question: str
    missing: str
