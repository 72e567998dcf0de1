"""The person at a setup, as the use case meets them: a few questions, each answered by whoever shows the screens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ncclcheck.doctor.setup.state import Setup, Stage
from ncclcheck.model import Edit, Fix
from ncclcheck.rulebook.guide_schema import Question


@dataclass(frozen=True, slots=True)
class Repeat:
    """Look at everything between the nodes again."""

    stage: str = ""
    """The step from which on nothing counts any more; empty to keep what was measured."""


@dataclass(frozen=True, slots=True)
class Skip:
    """Leave a step out."""

    stage: str
    reason: str


@dataclass(frozen=True, slots=True)
class TakeBack:
    """Take back what was written on this node."""


@dataclass(frozen=True, slots=True)
class Leave:
    """Stop here; it can be taken up again."""


Wish = Repeat | Skip | TakeBack | Leave


class Person(Protocol):
    """Every call may take as long as a person does; they come one after the other, on the thread of the use case.

    ``agree`` alone comes on a thread of its own, while other nodes' persons are asked too.
    """

    def agree(self, edits: tuple[Edit, ...], fix: Fix) -> bool:
        """Whether this may be written on this node."""

    def answer(self, name: str, question: Question) -> str:
        """The answer to a guide's question; empty where they do not know."""

    def prepared(self, stages: tuple[Stage, ...]) -> tuple[tuple[str, str], ...]:
        """Which of these steps, that no check can tell of, are not done, each with the reason; the others are done."""

    def wish(self, setup: Setup) -> Wish:
        """What to do now that a step has failed. On a node that joins, Repeat waits for the first node to repeat."""

    def gone(self) -> bool:
        """Whether they went away; asked several times a second."""
