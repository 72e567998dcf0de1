"""The place of the peers: the nodes beside each other, who reaches whom, what follows, and the ways on."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import OptionList, Static

from ncclcheck.model import Finding
from ncclcheck.tui import peers, peers_content
from ncclcheck.tui.commands import PeersCommands
from ncclcheck.tui.offers import applies_between, next_between, offers_between
from ncclcheck.tui.screens.place import Place, footer
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.widgets.headline import Headline
from ncclcheck.tui.widgets.ways import Ways

_NARROW, _WIDE = 3, 6
"""Interfaces that the matrix has room for."""
_PARTS = ("#answer", "#one", "#other", "#others", "#reach", "#details")


class PeersPlace(Place):
    """What is between this node and others."""

    CSS_PATH = "peers.tcss"
    COMMANDS: ClassVar = {PeersCommands}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("i", "app.invite", "Invite", show=False, id="peers.invite", tooltip="Begin: between ours, or invite"),
        Binding("j", "app.join", "Join", show=False, id="peers.join", tooltip="Take part in what another node shows"),
        Binding("pageup", "scroll_sides(-1)", "Up", show=False, id="peers.up", tooltip="Scroll up"),
        Binding("pagedown", "scroll_sides(1)", "Down", show=False, id="peers.down", tooltip="Scroll down"),
    ]

    @property
    def finding(self) -> Finding | None:
        """What is wrong between the nodes, with the fix for those of ours."""
        return peers.finding(self.snapshot)

    @property
    def copied(self) -> str:
        """The line or the card for the other node, or all that was found out."""
        return peers_content.text(self.snapshot) or super().copied

    def applies(self, action: str) -> bool:
        """By what is known between the nodes."""
        return applies_between(action, self.snapshot)

    def compose(self) -> ComposeResult:
        """Lay out the place."""
        yield Headline(peers.verdict).data_bind(Place.snapshot)
        with VerticalScroll(id="sides", can_focus=False):
            yield Static(id="answer", markup=False)
            with Horizontal(id="nodes"):
                yield Static(id="one", markup=False)
                yield Static(id="other", markup=False)
            yield Static(id="others", markup=False)
            yield Static(id="reach", markup=False)
            yield Static(id="details", markup=False)
        yield Ways(id="ways")
        yield footer()

    def on_mount(self) -> None:
        """Begin with the menu in hand."""
        self._show(self.snapshot)
        self.query_one(Ways).focus()

    def on_resize(self) -> None:
        """More columns where there is more room."""
        self._show(self.snapshot)

    def watch_snapshot(self, now: Snapshot) -> None:
        """Show what is new."""
        if self.is_mounted:
            self._show(now)

    def _show(self, now: Snapshot) -> None:
        parts = (
            peers_content.answer(now),
            *peers_content.beside(now),
            peers_content.reach(now, _WIDE if self.has_class("-wide") else _NARROW),
            peers_content.details(now),
        )
        for name, content in zip(_PARTS, parts, strict=True):
            part = self.query_one(name, Static)
            part.update(content)
            part.display = bool(content.plain)
        self.query_one(Ways).offer(offers_between(now), next_between(now))

    async def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take the way that was chosen."""
        await self.run_action(f"app.{event.option_id}")

    def action_scroll_sides(self, direction: int) -> None:
        """Move the text by half of what is visible."""
        sides = self.query_one("#sides", VerticalScroll)
        sides.scroll_relative(y=direction * max(1, sides.size.height // 2), animate=False)
