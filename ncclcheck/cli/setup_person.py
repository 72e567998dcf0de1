"""The person at a setup on the command line: at a terminal they are asked, without one the usual is taken. [effects]"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from ncclcheck.cli.diagnostics import note
from ncclcheck.doctor.setup.person import Leave, Repeat, Skip, TakeBack, Wish
from ncclcheck.doctor.setup.state import Setup, Stage
from ncclcheck.rulebook.guide_schema import Question

if TYPE_CHECKING:
    from ncclcheck.doctor.part import Agree
    from ncclcheck.model import Edit, Fix

UNASKED = "nobody was there to say whether it is done"

Hear = Callable[[], str]


def _line() -> str:
    """What is typed; empty at the end of the input."""
    return sys.stdin.readline()


class Unattended:
    """Nobody is there: what has no usual answer stays open, and a step that failed ends it."""

    def __init__(self, agree: Agree) -> None:
        self._agree = agree

    def agree(self, edits: tuple[Edit, ...], fix: Fix) -> bool:
        """By ``--yes`` alone."""
        return self._agree(edits, fix)

    def answer(self, name: str, question: Question) -> str:
        """The usual one."""
        return ""

    def prepared(self, stages: tuple[Stage, ...]) -> tuple[tuple[str, str], ...]:
        """Nobody says so, and the checks between the nodes will tell."""
        return tuple((stage.id, UNASKED) for stage in stages)

    def wish(self, setup: Setup) -> Wish:
        """To come back with ``--resume``."""
        return Leave()

    def gone(self) -> bool:
        """Never: Ctrl-C ends the whole program."""
        return False


class AtTerminal(Unattended):
    """Somebody types."""

    def __init__(self, agree: Agree, hear: Hear = _line) -> None:
        super().__init__(agree)
        self._hear = hear

    def answer(self, name: str, question: Question) -> str:
        """Asked until it fits; Enter alone means that they do not know."""
        while True:
            note(f"{question.question} (such as {question.example}; Enter if you do not know)")
            said = self._hear().strip()
            if not said or re.fullmatch(question.pattern, said):
                return said
            note(f"That does not look like {question.example}.")

    def prepared(self, stages: tuple[Stage, ...]) -> tuple[tuple[str, str], ...]:
        """One question for all of them."""
        note("These are for you to do; ncclcheck setup --print says how:")
        for number, stage in enumerate(stages, 1):
            note(f"  {number}. {stage.title}")
        note("Enter when they are done; or say why you leave them out, and Enter.")
        reason = self._hear().strip()
        return tuple((stage.id, reason) for stage in stages) if reason else ()

    def wish(self, setup: Setup) -> Wish:
        """A letter and Enter."""
        who = "waits until the first node repeats" if setup.choices.role else "looks again"
        while True:
            note(f"Enter {who}; s STEP REASON leaves a step out; u takes back what was written here; q ends.")
            said = self._hear()
            # At the end of the input there is nobody to ask again.
            if wished := _wish(said.split()) if said else Leave():
                return wished


def _wish(words: list[str]) -> Wish | None:
    match words:
        case []:
            return Repeat()
        case ["s", stage, reason, *more]:
            return Skip(stage, " ".join((reason, *more)))
        case ["u"]:
            return TakeBack()
        case ["q"]:
            return Leave()
        case _:
            return None
