"""The place of the peers: the nodes beside each other, who reaches whom, what follows, and the ways on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widget import Widget

from ncclcheck.model import Finding
from ncclcheck.tui import peers, peers_content
from ncclcheck.tui.commands import PeersCommands
from ncclcheck.tui.offers import applies_between, next_between, offers_between
from ncclcheck.tui.screens.guided import GuidedPlace, part
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.widgets.headline import Headline
from ncclcheck.tui.widgets.ways import Ways

_NARROW, _WIDE = 3, 6
"""Interfaces that the matrix has room for."""


class PeersPlace(GuidedPlace):
    """What is between this node and others."""

    MODE = "peers"
    CSS_PATH: ClassVar = ["guided.tcss", "peers.tcss"]
    COMMANDS: ClassVar = {PeersCommands}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("i", "app.invite", "Invite", show=False, id="peers.invite", tooltip="Begin: between ours, or invite"),
        Binding("j", "app.join", "Join", show=False, id="peers.join", tooltip="Take part in what another node shows"),
    ]

    @property
    def finding(self) -> Finding | None:
        """What is wrong between the nodes, with the fix for those of ours."""
        return peers.finding(self.snapshot)

    @property
    def copied(self) -> str:
        """The line or the card for the other node, or all that was found out."""
        return peers_content.text(self.snapshot) or super().copied

    @property
    def best(self) -> str:
        """By what is known between the nodes."""
        return next_between(self.snapshot)

    def applies(self, action: str) -> bool:
        """By what is known between the nodes."""
        return applies_between(action, self.snapshot)

    def headline(self) -> Headline:
        """What is between the nodes, in a line."""
        return Headline(peers.verdict)

    def told(self) -> Iterator[Widget]:
        """The answer, the nodes beside each other, and the matrix."""
        yield part("answer")
        yield Horizontal(part("one"), part("other"), id="nodes")
        yield from map(part, ("others", "reach", "details"))

    def show_snapshot(self, now: Snapshot) -> None:
        """Bring the text and the ways up to date."""
        one, other, others = peers_content.beside(now)
        self.fill(
            {
                "answer": peers_content.answer(now),
                "one": one,
                "other": other,
                "others": others,
                "reach": peers_content.reach(now, _WIDE if self.has_class("-wide") else _NARROW),
                "details": peers_content.details(now),
            }
        )
        self.query_one(Ways).offer(offers_between(now), next_between(now))
