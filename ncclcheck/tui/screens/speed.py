"""The prompt for this machine's half of a speed test, with the other half as a command line to type over there."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input, Static

from ncclcheck.speedtest.plan import Side
from ncclcheck.tui import content, wording
from ncclcheck.tui.screens.place import Dialog, footer
from ncclcheck.tui.widgets.field import Field
from ncclcheck.tui.widgets.headline import Headline
from ncclcheck.tui.wording import Tone


class SpeedDialog(Dialog[Side]):
    """Asks where the two sides meet, how much to send, and which side this is."""

    CSS_PATH = "dialog.tcss"

    def __init__(self, address: str, interface: str | None) -> None:
        super().__init__()
        self._address = address
        self._interface = interface

    def compose(self) -> ComposeResult:
        """Lay out the dialog."""
        yield Headline().data_bind(Dialog.snapshot)
        with Vertical(id="dialog"):
            yield Static("Speed test to another node", id="title", markup=False)
            yield Static("HOST:PORT of rank 0, reachable from both nodes", classes="label", markup=False)
            yield Field(self._address, placeholder="10.0.0.1:29500", id="address")
            yield Static("Size: a number with K, M or G", classes="label", markup=False)
            yield Field("64M", id="size")
            yield Static("Rank of this machine: 0 or 1", classes="label", markup=False)
            yield Field("0", id="rank")
            yield Static(id="other", markup=False)
            yield Static(id="problem", markup=False)
        yield footer()

    def on_mount(self) -> None:
        """Show the other side's command from the start."""
        self._check()

    def on_input_changed(self) -> None:
        """Keep the other side's command in step with what is typed."""
        self._check()

    def on_input_submitted(self) -> None:
        """Start, if everything is right."""
        typed = self._typed()
        if isinstance(typed, Side):
            self.dismiss(typed)

    def _check(self) -> None:
        typed = self._typed()
        problem = self.query_one("#problem", Static)
        problem.set_class(isinstance(typed, str), "-shown")
        problem.update(content.piece(f"? {typed}", Tone.WARNING) if isinstance(typed, str) else "")
        size = self.query_one("#size", Input).value.strip()
        other = wording.other_side(typed, size) if isinstance(typed, Side) else ()
        self.query_one("#other", Static).update(content.lines(content.piece(text) for text in other))

    def _typed(self) -> Side | str:
        address, size, rank = (self.query_one(f"#{name}", Input).value.strip() for name in ("address", "size", "rank"))
        return wording.side(address, size, rank, self._interface)
