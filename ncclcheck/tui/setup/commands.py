"""What the command palette offers in the place of the setup."""

from __future__ import annotations

from collections.abc import Iterator

from ncclcheck.tui.commands import Command, PlaceCommands
from ncclcheck.tui.setup import words as setup_words
from ncclcheck.tui.state import Snapshot


class SetupCommands(PlaceCommands):
    """What applies to the setup first."""

    def commands(self) -> Iterator[Command]:
        """The setup's own commands first."""
        now = getattr(self.screen, "snapshot", None)
        if isinstance(now, Snapshot):
            yield from _own(now)
        yield from super().commands()


def _own(now: Snapshot) -> Iterator[Command]:
    yield ("Go on", "the next best step of the setup", "screen.go_on")
    if setup_words.begun(now) and setup_words.may_repeat(now):
        yield ("Repeat", "go back to this step: from here on nothing counts any more", "screen.repeat")
    if setup_words.may_take_back(now):
        yield ("Take back", "put back what the setup has written on this node", "screen.take_back")
    if setup_words.begun(now) and not setup_words.goes_on(now):
        yield ("Begin anew", "choose again, and begin another setup", "screen.anew")
