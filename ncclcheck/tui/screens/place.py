"""What every place and dialog has in common: the snapshot, the footer, and a way to the palette."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.reactive import var
from textual.screen import ModalScreen, Screen
from textual.widgets import Footer

from ncclcheck.model import Finding
from ncclcheck.tui import advice
from ncclcheck.tui.offers import applies, first_fixable, next_step
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.verdict import summary

Answer = TypeVar("Answer")
WIDE = 110
"""Columns from which two things have room beside each other."""
_WIDTHS = [(0, "-narrow"), (WIDE, "-wide")]


class Place(Screen[None]):
    """A mode of the app; it shows the snapshot that the app binds to it."""

    HORIZONTAL_BREAKPOINTS = _WIDTHS
    MODE: ClassVar = ""
    """Its name as a mode of the app."""
    snapshot: var[Snapshot] = var(Snapshot)

    @property
    def finding(self) -> Finding | None:
        """The finding that fix and copy are about here."""
        fixable = first_fixable(self.snapshot)
        found = self.snapshot.diagnosis.findings if self.snapshot.diagnosis else ()
        return fixable or next(iter(found), None)

    @property
    def copied(self) -> str:
        """What is copied here: the finding, or what is known of the nodes."""
        return (
            advice.report(self.finding, self.snapshot.document, self.snapshot.launcher)
            if self.finding
            else summary(self.snapshot)
        )

    @property
    def best(self) -> str:
        """The action that is most worth taking here and now: Enter takes it."""
        return next_step(self.snapshot)

    def applies(self, action: str) -> bool:
        """Whether an action makes sense here and now."""
        return applies(action, self.snapshot)


class Dialog(ModalScreen[Answer]):
    """A question or a journey over a place; Escape always leaves it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close", id="dialog.close", tooltip="Back to where you were; nothing is changed"),
    ]

    snapshot: var[Snapshot] = var(Snapshot)

    @property
    def copied(self) -> str:
        """What is copied here; empty for what the place beneath has."""
        return ""

    def action_close(self) -> None:
        """Leave without an answer."""
        self.dismiss(None)

    def action_scroll(self, step: int) -> None:
        """Move the body, in a dialog that binds keys for it."""
        self.query_one("#body", VerticalScroll).scroll_relative(y=step, animate=False)


def footer() -> Footer:
    """The same footer everywhere."""
    return Footer(show_command_palette=False, compact=True)
