"""The question before a change is taken back: what would be written. Without a yes nothing is."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.message import Message
from textual.widgets import Static

from ncclcheck.tui import content, history_content
from ncclcheck.tui.screens.place import Dialog, footer
from ncclcheck.tui.widgets.headline import Headline

if TYPE_CHECKING:
    from ncclcheck.doctor.history import Made


class UndoDialog(Dialog[None]):
    """Shows what would be written, and takes a yes or a no."""

    CSS_PATH = "dialog.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "agree", "Yes, take it back", id="undo.yes", tooltip="Write what stood there before"),
        Binding("n", "refuse", "No", id="undo.no", tooltip="Leave everything as it is"),
        Binding("c", "app.copy", "Copy", id="undo.copy", tooltip="Copy what would be written as text"),
    ]

    class Agreed(Message):
        """Somebody said yes."""

        def __init__(self, made: Made) -> None:
            super().__init__()
            self.made = made

    def __init__(self, made: Made) -> None:
        super().__init__()
        self._made = made

    @property
    def copied(self) -> str:
        """What would be written."""
        return f"{history_content.reverse(self._made).plain}\n"

    def compose(self) -> ComposeResult:
        """Lay out the dialog."""
        yield Headline().data_bind(Dialog.snapshot)
        with Vertical(id="dialog"):
            yield Static("Take this change back?", id="title", markup=False)
            with VerticalScroll(id="body"):
                yield Static(history_content.reverse(self._made), markup=False)
            yield Static(content.said(history_content.hint(self._made)), id="hint", markup=False)
        yield footer()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """There is nothing to be asked about what cannot be done."""
        return action not in ("agree", "refuse") or not self._made.review.refusal

    def action_refuse(self) -> None:
        """No."""
        self.dismiss(None)

    def action_agree(self) -> None:
        """Yes."""
        self.post_message(self.Agreed(self._made))
        self.dismiss(None)
