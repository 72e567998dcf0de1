"""The prompt for a file or folder; it stays open, with what was typed, until the text could be read."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Static

from ncclcheck.tui.screens.place import Dialog, footer
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.text.document import Document
from ncclcheck.tui.widgets.field import Field
from ncclcheck.tui.widgets.headline import Headline


class OpenDialog(Dialog[None]):
    """Asks for a path."""

    CSS_PATH = "dialog.tcss"

    class Asked(Message):
        """Somebody wants this path read."""

        def __init__(self, path: str) -> None:
            super().__init__()
            self.path = path

    def __init__(self) -> None:
        super().__init__()
        self._before: Document | None = None

    def compose(self) -> ComposeResult:
        """Lay out the dialog."""
        yield Headline().data_bind(Dialog.snapshot)
        with Vertical(id="dialog"):
            yield Static("Open a log", id="title", markup=False)
            yield Field(placeholder="path of a file, a .gz or a folder of logs", id="path")
            yield Static("Enter opens it. A log can also be pasted, here or anywhere.", classes="label", markup=False)
        yield footer()

    def on_input_submitted(self, event: Field.Submitted) -> None:
        """Ask for it, unless nothing was typed."""
        if event.value.strip():
            self._before = self.snapshot.document
            self.post_message(self.Asked(event.value.strip()))

    def watch_snapshot(self, now: Snapshot) -> None:
        """Close once the text was read; say why when it could not be."""
        if not self.is_mounted:
            return
        if self._before is not None and not self._before.same_texts(now.document):
            self.dismiss(None)
