"""The overview: each node, what NCCL does there, the verdict, and the ways on."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import OptionList, Static

from ncclcheck.model import Node
from ncclcheck.tui import content
from ncclcheck.tui.commands import PlaceCommands
from ncclcheck.tui.offers import Offer, next_step, offers
from ncclcheck.tui.screens.place import Place, footer
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.widgets.headline import Headline
from ncclcheck.tui.widgets.ways import Ways
from ncclcheck.tui.wording import Tone


class NodePanel(Vertical):
    """One node."""

    def __init__(self, node: Node) -> None:
        super().__init__()
        self.node = node

    def compose(self) -> ComposeResult:
        """Name, and what is known."""
        yield Static(content.piece(self.node.name, Tone.STRONG), markup=False)
        yield Static(classes="known", markup=False)

    def show(self, now: Snapshot) -> None:
        """Say what is known of the node."""
        self.query_one(".known", Static).update(content.node(self.node, now))


class OverviewPlace(Place):
    """The first thing anybody sees."""

    MODE = "overview"
    CSS_PATH = "overview.tcss"
    COMMANDS: ClassVar = {PlaceCommands}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "scroll_nodes(-1)", "Up", show=False, id="overview.up", tooltip="Scroll the nodes up"),
        Binding("pagedown", "scroll_nodes(1)", "Down", show=False, id="overview.down", tooltip="Scroll the nodes down"),
    ]

    def __init__(self, nodes: tuple[Node, ...]) -> None:
        super().__init__()
        self._machines = nodes

    def compose(self) -> ComposeResult:
        """Lay out the place."""
        yield Headline().data_bind(Place.snapshot)
        with VerticalScroll(id="nodes", can_focus=False):
            yield Static(id="speed", markup=False)
            yield from (NodePanel(node) for node in self._machines)
        yield Ways(id="ways")
        yield footer()

    def on_mount(self) -> None:
        """Begin with the menu in hand."""
        self._show(self.snapshot)
        self.query_one(Ways).focus()

    def watch_snapshot(self, now: Snapshot) -> None:
        """Show what is new."""
        if self.is_mounted:
            self._show(now)

    def _show(self, now: Snapshot) -> None:
        for panel in self.query(NodePanel):
            panel.show(now)
        speed = self.query_one("#speed", Static)
        speed.update(content.speeds(now))
        speed.display = now.speed is not None or (now.earlier is not None and now.earlier.speed is not None)
        if not now.busy:
            self._offer(offers(now), next_step(now))

    def _offer(self, ways: tuple[Offer, ...], best: str) -> None:
        shown = (way for way in ways if way.action not in ("copy", "stop", "log") or way.action == best)
        self.query_one(Ways).offer(tuple(shown), best)

    async def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take the way that was chosen."""
        await self.run_action(f"app.{event.option_id}")

    def action_scroll_nodes(self, direction: int) -> None:
        """Move the nodes by half of what is visible."""
        nodes = self.query_one("#nodes", VerticalScroll)
        nodes.scroll_relative(y=direction * max(1, nodes.size.height // 2), animate=False)
