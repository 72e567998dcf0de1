"""Trying a setting: what NCCL would take with it, shown while it is typed. Nothing is changed and nothing is asked."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input, Static

from ncclcheck.model import Change
from ncclcheck.tui import content, foresight_content, wording
from ncclcheck.tui.screens.place import Dialog, footer
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.widgets.field import Field
from ncclcheck.tui.widgets.headline import Headline
from ncclcheck.tui.wording import Tone

_FIRST = "NCCL_SOCKET_IFNAME="
_REST = 0.05
"""Seconds without a key before it is worked out."""


class WhatIfDialog(Dialog[None]):
    """Asks for a variable and an NCCL version."""

    CSS_PATH = "dialog.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "scroll(-6)", "Up", show=False, id="what-if.up", tooltip="Scroll the answer up"),
        Binding("pagedown", "scroll(6)", "Down", show=False, id="what-if.down", tooltip="Scroll the answer down"),
    ]

    class Asked(Message):
        """Somebody wants to know what a change would do."""

        def __init__(self, change: Change, nccl: str) -> None:
            super().__init__()
            self.change = change
            self.nccl = nccl

    def __init__(self, version: str) -> None:
        super().__init__()
        self._version = version
        self._waiting: Timer | None = None

    def compose(self) -> ComposeResult:
        """Lay out the dialog."""
        yield Headline().data_bind(Dialog.snapshot)
        with Vertical(id="dialog"):
            yield Static("What if", id="title", markup=False)
            yield Static("NAME=VALUE in the job's environment; NAME- for not set", classes="label", markup=False)
            yield Field(_FIRST, id="change")
            yield Static("NCCL version", classes="label", markup=False)
            yield Field(self._version, id="version")
            with VerticalScroll(id="body", can_focus=False):
                yield Static(id="answer", markup=False)
        yield footer()

    def on_mount(self) -> None:
        """Answer from the start."""
        self._ask()

    def on_input_changed(self) -> None:
        """Ask anew once the keys rest for a moment."""
        if self._waiting is not None:
            self._waiting.stop()
        self._waiting = self.set_timer(_REST, self._ask)

    def watch_snapshot(self, old: Snapshot, now: Snapshot) -> None:
        """Show the answer, and ask anew where something else is known of the nodes."""
        if self.is_mounted and (old.scanned, old.diagnosis, old.pairing) != (now.scanned, now.diagnosis, now.pairing):
            self._ask()
        elif self.is_mounted and old.foresight is not now.foresight:
            self._show(now)

    def _ask(self) -> None:
        typed = self._typed()
        if isinstance(typed, Change):
            self.post_message(self.Asked(typed, self._value("version")))
        else:
            self.query_one("#answer", Static).update(content.piece(f"? {typed}", Tone.WARNING))

    def _show(self, now: Snapshot) -> None:
        seen = now.foresight
        if seen is not None and (seen.changes, seen.nccl) == ((self._typed(),), self._value("version")):
            self.query_one("#answer", Static).update(foresight_content.foresight(seen))

    def _typed(self) -> Change | str:
        return wording.typed_change(self._value("change"), self._value("version"))

    def _value(self, name: str) -> str:
        return self.query_one(f"#{name}", Input).value.strip()
