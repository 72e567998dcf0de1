"""The help of a place: its keys as they are bound at this moment, with what each is good for."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from ncclcheck.tui import content
from ncclcheck.tui.screens.place import Dialog, footer
from ncclcheck.tui.widgets.headline import Headline
from ncclcheck.tui.wording import Tone

_INTRODUCTION = """\
ncclcheck finds out why a training job over several machines hangs, fixes it, and proves the fix.
Paste a log anywhere with your terminal's own paste key: it is diagnosed at once."""


class HelpDialog(Dialog[None]):
    """Shows keys."""

    CSS_PATH = "dialog.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "close", show=False, id="help.close", tooltip="Back to where you were"),
    ]

    def __init__(self, keys: tuple[tuple[str, str], ...]) -> None:
        super().__init__()
        self._keys = keys

    def compose(self) -> ComposeResult:
        """Lay out the dialog."""
        rows = (content.piece(row) for row in content.table(self._keys))
        yield Headline().data_bind(Dialog.snapshot)
        with Vertical(id="dialog"):
            yield Static(content.piece("Help", Tone.STRONG), id="title", markup=False)
            with VerticalScroll(id="body"):
                yield Static(content.lines([content.piece(_INTRODUCTION), Content(), *rows]), markup=False)
        yield footer()
