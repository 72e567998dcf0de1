"""The prompt for the line that another node shows; it stays open, with what was typed, until it can be read."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input, Static

from ncclcheck.tui import content, peers
from ncclcheck.tui.screens.place import Dialog, footer
from ncclcheck.tui.widgets.field import Field
from ncclcheck.tui.widgets.headline import Headline
from ncclcheck.tui.wording import Tone


class JoinDialog(Dialog[None]):
    """Asks for an invitation."""

    CSS_PATH: ClassVar = "dialog.tcss"

    class Asked(Message):
        """Somebody wants this node to take part."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self._text = " ".join(text.split())

    def compose(self) -> ComposeResult:
        """Lay out the dialog."""
        yield Headline(peers.verdict).data_bind(Dialog.snapshot)
        with Vertical(id="dialog"):
            yield Static("Join another node", id="title", markup=False)
            yield Static("The line that ncclcheck shows there", classes="label", markup=False)
            yield Field(self._text, placeholder="ncclcheck join …", id="invitation")
            yield Static("Enter joins. Both nodes then try every way between them.", classes="label", markup=False)
            yield Static(id="problem", markup=False)
        yield footer()

    def on_mount(self) -> None:
        """Say at once what is wrong with a line that was pasted."""
        self._check(self._text)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Keep the complaint in step with what is typed."""
        self._check(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Join, if everything is right."""
        if event.value.strip() and not peers.invitation_problem(event.value):
            self.dismiss(None)
            self.app.post_message(self.Asked(event.value))

    def _check(self, text: str) -> None:
        wrong = peers.invitation_problem(text) if text.strip() else ""
        problem = self.query_one("#problem", Static)
        problem.set_class(bool(wrong), "-shown")
        problem.update(content.piece(f"? {wrong}", Tone.WARNING) if wrong else "")
