"""The small questions of a setup: why a step is left out, whether what was written is put back; and a rule's page."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Input, Static

from ncclcheck.tui import content
from ncclcheck.tui.screens.place import Dialog, footer
from ncclcheck.tui.setup import words as setup_words
from ncclcheck.tui.widgets.field import Field
from ncclcheck.tui.widgets.headline import Headline
from ncclcheck.tui.wording import line


class ReasonDialog(Dialog[str]):
    """Asks why a step is left out; the summary tells it later."""

    CSS_PATH = "dialog.tcss"

    def __init__(self, step: str) -> None:
        super().__init__()
        self._step = step

    def compose(self) -> ComposeResult:
        """Lay out the dialog."""
        yield Headline(setup_words.verdict).data_bind(Dialog.snapshot)
        with Vertical(id="dialog"):
            yield Static(content.piece(f"Leave out: {line(self._step)}"), id="title", markup=False)
            yield Static("Why? The summary tells it, for whoever reads it later.", classes="label", markup=False)
            yield Field(placeholder="the provider has done it", id="reason")
            yield Static("Enter leaves the step out.", classes="label", markup=False)
        yield footer()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """A reason is needed."""
        if event.value.strip():
            self.dismiss(event.value.strip())


class TakeBackDialog(Dialog[str]):
    """Asks before what was there before is written again."""

    CSS_PATH = "dialog.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "agree", "Yes, take it back", id="setup-undo.yes", tooltip="Write what stood there before"),
        Binding("n", "close", "No", id="setup-undo.no", tooltip="Leave everything as it is"),
    ]

    def compose(self) -> ComposeResult:
        """Lay out the dialog."""
        yield Headline(setup_words.verdict).data_bind(Dialog.snapshot)
        with Vertical(id="dialog"):
            yield Static("Take back what this setup has written?", id="title", markup=False)
            yield Static(
                "Each file gets what stood there before, or is removed where there was none. "
                "A file that somebody has changed since stays as it is.",
                classes="label",
                markup=False,
            )
            yield Static("y takes it back, n or Esc leaves everything as it is.", id="hint", markup=False)
        yield footer()

    def action_agree(self) -> None:
        """Yes."""
        self.dismiss("yes")


class PageDialog(Dialog[str]):
    """A rule's page on a whole screen."""

    CSS_PATH = "dialog.tcss"

    def __init__(self, page: str) -> None:
        super().__init__()
        self._page = page

    @property
    def copied(self) -> str:
        """The page."""
        return self._page

    def compose(self) -> ComposeResult:
        """Lay out the dialog."""
        yield Headline(setup_words.verdict).data_bind(Dialog.snapshot)
        with Vertical(id="dialog"), VerticalScroll(id="body"):
            yield Static(content.piece(self._page), markup=False)
        yield footer()
