"""Rows of text with a cursor: only what is visible is ever rendered, so the number of rows does not matter."""

from __future__ import annotations

from itertools import chain
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from ncclcheck.tui.wording import Tone

Part = tuple[str, Tone]
"""A piece of a row; text that may stand on a terminal."""


class RowList(ScrollView, can_focus=True):
    """A list of rows; whoever inherits it says how many there are and what they say."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--cursor", *(f"rows--{tone.name.lower()}" for tone in Tone)}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False, id="rows.up", tooltip="The row above"),
        Binding("down,j", "move(1)", "Down", show=False, id="rows.down", tooltip="The row below"),
        Binding("pageup", "page(-1)", "Page up", show=False, id="rows.page_up", tooltip="One page up"),
        Binding("pagedown", "page(1)", "Page down", show=False, id="rows.page_down", tooltip="One page down"),
        Binding("home,g", "edge(False)", "First", show=False, id="rows.first", tooltip="The first row"),
        Binding("end,G", "edge(True)", "Last", show=False, id="rows.last", tooltip="The last row"),
    ]
    DEFAULT_CSS = """
    RowList {
        background: $background;
        color: $foreground;
        overflow-x: hidden;
        scrollbar-size: 0 1;
        & > .rows--plain { color: $foreground; }
        & > .rows--muted { text-style: dim; }
        & > .rows--good { color: $text-success; }
        & > .rows--bad { color: $text-error; }
        & > .rows--warning { color: $text-warning; }
        & > .rows--strong { text-style: bold; }
        & > .rows--cursor { text-style: bold; }
        &:focus > .rows--cursor { text-style: reverse; }
    }
    """

    class Moved(Message):
        """The cursor stands on another row, or its row says something else."""

    class Clicked(Message):
        """Somebody clicked on the row under the cursor once more."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.cursor = 0
        self._strips: LRUCache[tuple[int, int, bool], Strip] = LRUCache(512)

    @property
    def count(self) -> int:
        """How many rows there are."""
        raise NotImplementedError

    def parts(self, index: int) -> tuple[Part, ...]:
        """What a row says, as wide as the list is."""
        raise NotImplementedError

    def stands(self, index: int) -> bool:
        """Whether the cursor may stand on a row."""
        return True

    # Drawing ---------------------------------------------------------------------------------------------------------

    def renew(self, cursor: int) -> None:
        """Draw everything anew, with the cursor on this row or the nearest one where it may stand."""
        self._strips.clear()
        self.virtual_size = Size(self.size.width, self.count)
        self.cursor = self._nearest(cursor)
        self._show_cursor()
        self.refresh()
        self.post_message(self.Moved())

    def on_resize(self) -> None:
        """A row is as wide as the list."""
        self._strips.clear()
        self.virtual_size = Size(self.size.width, self.count)
        self._show_cursor()

    def notify_style_update(self) -> None:
        """Forget strips that were rendered in the old colours."""
        super().notify_style_update()
        self._strips.clear()

    def on_focus(self) -> None:
        """The cursor is drawn in another way."""
        self._strips.clear()

    def on_blur(self) -> None:
        """The cursor is drawn in another way."""
        self._strips.clear()

    def render_line(self, y: int) -> Strip:
        """One visible row."""
        index, width = self.scroll_offset.y + y, self.size.width
        if index >= self.count:
            return Strip.blank(width, self.rich_style)
        key = (index, width, index == self.cursor)
        strip = self._strips.get(key)
        if strip is None:
            strip = self._strips[key] = self._render_row(index, width)
        return strip

    def _render_row(self, index: int, width: int) -> Strip:
        # In the cursor's row the cursor's own colours have to stay readable.
        here = self._style("cursor") if index == self.cursor and self.stands(index) else None
        segments = [Segment(text, here or self._style(tone.name.lower())) for text, tone in self.parts(index)]
        return Strip(segments).adjust_cell_length(width, here or self.rich_style)

    def _style(self, component: str) -> Style:
        return self.rich_style + self.get_component_rich_style(f"rows--{component}", partial=True)

    # The cursor ------------------------------------------------------------------------------------------------------

    def point_at(self, index: int) -> None:
        """Put the cursor on this row, or on the nearest one where it may stand."""
        before, self.cursor = self.cursor, self._nearest(index)
        self._show_cursor()
        if self.cursor != before:
            self.refresh()
            self.post_message(self.Moved())

    def action_move(self, step: int) -> None:
        """Go on to the next row where the cursor may stand."""
        index = self.cursor + step
        while 0 <= index < self.count and not self.stands(index):
            index += step
        if 0 <= index < self.count:
            self.point_at(index)
        else:
            self._to_edge(step > 0)

    def action_page(self, step: int) -> None:
        """Move by what is visible."""
        self.point_at(self.cursor + step * max(1, self.size.height - 1))

    def action_edge(self, last: bool) -> None:
        """Go to an end."""
        self.point_at(self.count - 1 if last else 0)
        self._to_edge(last)

    def on_click(self, event: events.Click) -> None:
        """Put the cursor there; a click on it again means Enter."""
        index = self.scroll_offset.y + event.y
        if index >= self.count or not self.stands(index):
            return
        if index == self.cursor:
            self.post_message(self.Clicked())
        self.point_at(index)

    def _nearest(self, index: int) -> int:
        index = max(0, min(index, self.count - 1))
        further = chain(range(index, self.count), range(index - 1, -1, -1))
        return next((at for at in further if self.stands(at)), 0)

    def _to_edge(self, last: bool) -> None:
        """Show what stands beyond the last row where the cursor may stand."""
        self.scroll_to(y=self.count if last else 0, animate=False, immediate=True)

    def _show_cursor(self) -> None:
        top, height = self.scroll_offset.y, self.size.height
        if height and not top <= self.cursor < top + height:
            row = self.cursor if self.cursor < top else self.cursor - height + 1
            self.scroll_to(y=row, animate=False, immediate=True)


def cut(text: str, width: int) -> str:
    """The text in so many cells at most, with a sign where something is missing."""
    return text if cell_len(text) <= width else set_cell_size(text, max(0, width - 1)).rstrip() + "…"
