"""The person at the keys, as a setup on a worker's thread meets them: asked on the screen, waited for, and free to go.
[effects]
"""

from __future__ import annotations

from queue import Empty, Queue
from threading import Event
from typing import TYPE_CHECKING, cast

from ncclcheck.errors import NcclcheckError
from ncclcheck.tui.setup.values import Agreement, Asking, Asks, Preparing, Wishing

if TYPE_CHECKING:
    from ncclcheck.doctor.setup.person import Wish
    from ncclcheck.doctor.setup.state import Setup, Stage
    from ncclcheck.model import Edit, Fix
    from ncclcheck.rulebook.guide_schema import Question

_LOOK = 0.2
"""Seconds between two looks at whether the person is still there."""


class Newcomer:
    """Answers ``doctor.setup.person.Person``'s questions; one is open at a time.

    An answer counts for the question that it was given to, so that no key pressed twice says yes to the next one.
    """

    def __init__(self) -> None:
        self.arrivals: Queue[object] = Queue()
        """What is asked, in its turn among the steps of the setup."""
        self._replies: Queue[tuple[Asking, object]] = Queue()
        self._gone = Event()

    # As the setup meets them -----------------------------------------------------------------------------------------

    def agree(self, edits: tuple[Edit, ...], fix: Fix) -> bool:
        """Whether this may be written; whoever goes says no, and to nothing everybody says yes."""
        return not edits or self._ask(Agreement(edits, fix.title)) is True

    def answer(self, name: str, question: Question) -> str:
        """What they know was said before it began."""
        return ""

    def prepared(self, stages: tuple[Stage, ...]) -> tuple[tuple[str, str], ...]:
        """Which of these steps they leave out, and why; NcclcheckError where they went and said nothing."""
        said = self._ask(Preparing(tuple(stage.id for stage in stages)))
        if said is None:
            raise NcclcheckError("ended before anybody said what is done", next_step="6 takes it up again")
        return cast("tuple[tuple[str, str], ...]", said)

    def wish(self, setup: Setup) -> Wish:
        """What to do next; whoever goes leaves."""
        from ncclcheck.doctor.setup.person import Leave

        return cast("Wish", self._ask(Wishing()) or Leave())

    def gone(self) -> bool:
        """Whether they went."""
        return self._gone.is_set()

    # As the screens meet them ----------------------------------------------------------------------------------------

    def reply(self, asking: Asking, said: object) -> None:
        """Give the answer to a question."""
        self._replies.put((asking, said))

    def go(self) -> None:
        """Go away."""
        self._gone.set()

    def _ask(self, asking: Asking) -> object:
        """The answer; None when they went."""
        self.arrivals.put(Asks(asking))
        try:
            while not self._gone.is_set():
                try:
                    to, said = self._replies.get(timeout=_LOOK)
                except Empty:
                    continue
                if to is asking:
                    return said
            return None
        finally:
            self.arrivals.put(Asks(None))
