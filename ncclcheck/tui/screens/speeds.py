"""The place of the speed test: what it does, what came out, what it should have been, and the ways on."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static

from ncclcheck.tui import speeds, speeds_content
from ncclcheck.tui.commands import SpeedsCommands
from ncclcheck.tui.offers import applies_to_speed, next_for_speed, offers_for_speed
from ncclcheck.tui.screens.place import WIDE, Place, footer
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.widgets.headline import Headline
from ncclcheck.tui.widgets.ways import Ways

_NARROW, _WIDE = (44, 8), (72, 14)
"""Columns and rows of the curve that there is room for."""
_PARTS = ("#answer", "#bars", "#curve", "#beside", "#table", "#runs")


class SpeedsPlace(Place):
    """How fast it is between the nodes."""

    CSS_PATH = "speeds.tcss"
    COMMANDS: ClassVar = {SpeedsCommands}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "scroll_figures(-1)", "Up", show=False, id="speeds.up", tooltip="Scroll up"),
        Binding("pagedown", "scroll_figures(1)", "Down", show=False, id="speeds.down", tooltip="Scroll down"),
    ]

    @property
    def copied(self) -> str:
        """The result with all of its figures."""
        return speeds_content.text(self.snapshot) or super().copied

    def applies(self, action: str) -> bool:
        """By what was measured."""
        return applies_to_speed(action, self.snapshot)

    def compose(self) -> ComposeResult:
        """Lay out the place."""
        yield Headline(speeds.verdict).data_bind(Place.snapshot)
        with VerticalScroll(id="figures", can_focus=False):
            yield Static(id="answer", markup=False)
            yield Static(id="bars", markup=False)
            with Horizontal(id="drawn"):
                yield Static(id="curve", markup=False)
                yield Static(id="beside", markup=False)
            yield Static(id="table", markup=False)
            yield Static(id="runs", markup=False)
        yield Ways(id="ways")
        yield footer()

    def on_mount(self) -> None:
        """Begin with the menu in hand."""
        self._show(self.snapshot)
        self.query_one(Ways).focus()

    def on_resize(self) -> None:
        """A larger curve where there is more room."""
        self._show(self.snapshot)

    def watch_snapshot(self, now: Snapshot) -> None:
        """Show what is new."""
        if self.is_mounted:
            self._show(now)

    def _show(self, now: Snapshot) -> None:
        wide = self.size.width >= WIDE
        measuring = now.live is not None
        parts = (
            speeds_content.answer(now),
            speeds_content.bars(now.comparison) if now.comparison and not measuring else Content(),
            speeds_content.curve(now, *(_WIDE if wide else _NARROW)),
            speeds_content.beside(now),
            speeds_content.table(now),
            speeds_content.runs(now, wide=wide),
        )
        for name, content in zip(_PARTS, parts, strict=True):
            part = self.query_one(name, Static)
            part.update(content)
            part.display = bool(content.plain)
        self.query_one("#drawn", Horizontal).display = bool(parts[2].plain or parts[3].plain)
        self.query_one(Ways).offer(offers_for_speed(now), next_for_speed(now))

    async def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take the way that was chosen."""
        await self.run_action(f"app.{event.option_id}")

    def action_scroll_figures(self, direction: int) -> None:
        """Move the text by half of what is visible."""
        figures = self.query_one("#figures", VerticalScroll)
        figures.scroll_relative(y=direction * max(1, figures.size.height // 2), animate=False)
