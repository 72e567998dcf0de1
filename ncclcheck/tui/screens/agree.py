"""The question of a pairing: what would change on this node. Without a yes nothing is written."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.message import Message
from textual.widgets import Static

from ncclcheck.tui import content, peers
from ncclcheck.tui.outcomes import NodeEdits
from ncclcheck.tui.screens.place import Dialog, footer
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.widgets.headline import Headline
from ncclcheck.tui.wording import Said, Tone

_HINT = Said(
    "?",
    "y writes this, n leaves everything as it is; Esc decides later. The other node's user is asked there.",
    Tone.STRONG,
)


class AgreeDialog(Dialog[None]):
    """Shows the change, and takes a yes or a no."""

    CSS_PATH: ClassVar = ["dialog.tcss", "fix.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "say(True)", "Yes, write it", id="agree.yes", tooltip="Write the change on this node"),
        Binding("n", "say(False)", "No", id="agree.no", tooltip="Change nothing on this node"),
        Binding("up", "scroll(-1)", show=False, id="agree.up", tooltip="Scroll up"),
        Binding("down", "scroll(1)", show=False, id="agree.down", tooltip="Scroll down"),
    ]

    class Answered(Message):
        """Somebody said yes or no."""

        def __init__(self, yes: bool) -> None:
            super().__init__()
            self.yes = yes

    def compose(self) -> ComposeResult:
        """Lay out the dialog."""
        yield Headline(peers.verdict).data_bind(Dialog.snapshot)
        with Vertical(id="dialog"):
            yield Static("Change this on this node?", id="title", markup=False)
            with VerticalScroll(id="body", can_focus=False):
                yield Static(id="text", markup=False)
            yield Static(content.said(_HINT), id="hint", markup=False)
        yield footer()

    def on_mount(self) -> None:
        """Show the change."""
        self.watch_snapshot(self.snapshot)

    def watch_snapshot(self, now: Snapshot) -> None:
        """Close once nobody asks any more, such as when the other node went away."""
        if not self.is_mounted:
            return
        asked = peers.question(now)
        if asked is None:
            self.dismiss(None)
        else:
            self.query_one("#text", Static).update(content.plan([NodeEdits(peers.own_node(now), asked.edits)]))

    def action_say(self, yes: bool) -> None:
        """Give the answer; the snapshot that takes it up closes this."""
        self.app.post_message(self.Answered(yes))
