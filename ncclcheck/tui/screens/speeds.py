"""The place of the speed test: what it does, what came out, what it should have been, and the ways on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget

from ncclcheck.tui import speeds, speeds_content
from ncclcheck.tui.commands import SpeedsCommands
from ncclcheck.tui.offers import applies_to_speed, next_for_speed, offers_for_speed
from ncclcheck.tui.screens.guided import GuidedPlace, part
from ncclcheck.tui.screens.place import WIDE
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.widgets.headline import Headline
from ncclcheck.tui.widgets.ways import Ways

_NARROW, _WIDE = (44, 8), (72, 14)
"""Columns and rows of the curve that there is room for."""


class SpeedsPlace(GuidedPlace):
    """How fast it is between the nodes."""

    MODE = "speeds"
    CSS_PATH: ClassVar = ["guided.tcss", "speeds.tcss"]
    COMMANDS: ClassVar = {SpeedsCommands}

    @property
    def copied(self) -> str:
        """The result with all of its figures."""
        return speeds_content.text(self.snapshot) or super().copied

    @property
    def best(self) -> str:
        """By what was measured."""
        return next_for_speed(self.snapshot)

    def applies(self, action: str) -> bool:
        """By what was measured."""
        return applies_to_speed(action, self.snapshot)

    def headline(self) -> Headline:
        """What the figure means, in a line."""
        return Headline(speeds.verdict)

    def told(self) -> Iterator[Widget]:
        """The answer, before and after, the curve with its legend, the table, and earlier runs."""
        yield from map(part, ("answer", "bars"))
        yield Horizontal(part("curve"), part("beside"), id="drawn")
        yield from map(part, ("table", "runs"))

    def show_snapshot(self, now: Snapshot) -> None:
        """Bring the text and the ways up to date."""
        wide = self.size.width >= WIDE
        compared = now.comparison if now.live is None else None
        drawn = {
            "curve": speeds_content.curve(now, *(_WIDE if wide else _NARROW)),
            "beside": speeds_content.beside(now),
        }
        self.fill(
            {
                "answer": speeds_content.answer(now),
                "bars": speeds_content.bars(compared) if compared else Content(),
                **drawn,
                "table": speeds_content.table(now),
                "runs": speeds_content.runs(now, wide=wide),
            }
        )
        self.query_one("#drawn", Horizontal).display = any(content.plain for content in drawn.values())
        self.query_one(Ways).offer(offers_for_speed(now), next_for_speed(now))
