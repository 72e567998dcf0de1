"""A place that tells something above and offers the ways on below; the ways have the keys, the text only scrolls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static

from ncclcheck.tui.screens.place import Place, footer
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.widgets.headline import Headline
from ncclcheck.tui.widgets.ways import Ways


class GuidedPlace(Place):
    """What such places have in common; their style sheets begin with ``guided.tcss``."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "scroll_told(-1)", "Up", show=False, id="guided.up", tooltip="Scroll up"),
        Binding("pagedown", "scroll_told(1)", "Down", show=False, id="guided.down", tooltip="Scroll down"),
    ]

    def headline(self) -> Headline:
        """The verdict line."""
        raise NotImplementedError

    def told(self) -> Iterable[Widget]:
        """What stands above the ways."""
        raise NotImplementedError

    def show_snapshot(self, now: Snapshot) -> None:
        """Bring the text and the ways up to date."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        """Lay out the place."""
        yield self.headline().data_bind(Place.snapshot)
        yield VerticalScroll(*self.told(), id="told", can_focus=False)
        yield Ways(id="ways")
        yield footer()

    def fill(self, parts: Mapping[str, Content]) -> None:
        """Put each content into the part of that id; an empty one takes no room."""
        for name, content in parts.items():
            part = self.query_one(f"#{name}", Static)
            part.update(content)
            part.display = bool(content.plain)

    def on_mount(self) -> None:
        """Begin with the ways in hand."""
        self.show_snapshot(self.snapshot)
        self.query_one(Ways).focus()

    def on_resize(self) -> None:
        """Show more where there is more room."""
        self.show_snapshot(self.snapshot)

    def watch_snapshot(self, now: Snapshot) -> None:
        """Show what is new."""
        if self.is_mounted:
            self.show_snapshot(now)

    async def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take the way that was chosen."""
        await self.run_action(f"app.{event.option_id}")

    def action_scroll_told(self, direction: int) -> None:
        """Move the text by half of what is visible."""
        told = self.query_one("#told", VerticalScroll)
        told.scroll_relative(y=direction * max(1, told.size.height // 2), animate=False)


def part(name: str) -> Static:
    """A place for text, by its id."""
    return Static(id=name, markup=False)
