"""Lines of a log with a gutter: only what is visible is ever rendered, so the length of the log does not matter."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from ncclcheck.model import Severity
from ncclcheck.tui.content import SIGNS
from ncclcheck.tui.document import Document

_GUTTER = 9
"""Cells: pointer, severity, line number, blank."""
_COMPONENTS = {
    Severity.ERROR: "log-view--error",
    Severity.WARNING: "log-view--warning",
    Severity.INFO: "log-view--info",
}


class LogView(ScrollView, can_focus=True):
    """Shows a document; one row can be pointed at."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "log-view--gutter",
        "log-view--heading",
        "log-view--pointed",
        *_COMPONENTS.values(),
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_up", "Up", show=False, id="log.up", tooltip="One line up"),
        Binding("down,j", "scroll_down", "Down", show=False, id="log.down", tooltip="One line down"),
        Binding("left,h", "scroll_left", "Left", show=False, id="log.left", tooltip="Towards the start of the line"),
        Binding("right,l", "scroll_right", "Right", show=False, id="log.right", tooltip="Towards the end of the line"),
        Binding("pageup", "page_up", "Page up", show=False, id="log.page_up", tooltip="One page up"),
        Binding("pagedown,space", "page_down", "Page down", show=False, id="log.page_down", tooltip="One page down"),
        Binding("home,g", "scroll_home", "Start", show=False, id="log.home", tooltip="First line"),
        Binding("end,G", "scroll_end", "End", show=False, id="log.end", tooltip="Last line"),
    ]
    DEFAULT_CSS = """
    LogView {
        background: $background;
        color: $foreground;
        scrollbar-size: 0 1;
        & > .log-view--gutter { text-style: dim; }
        & > .log-view--heading { text-style: bold; }
        & > .log-view--pointed { text-style: bold; background: $panel; }
        & > .log-view--error { color: $text-error; }
        & > .log-view--warning { color: $text-warning; }
        & > .log-view--info { color: $foreground; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.document = Document()
        self.pointed: int | None = None
        self._strips: LRUCache[tuple[int, int, int], Strip] = LRUCache(1024)

    def show(self, document: Document) -> None:
        """Show another document, from its first line."""
        self.document, self.pointed = document, None
        self._strips.clear()
        self.virtual_size = Size(document.width + _GUTTER, len(document.rows))
        self.scroll_to(0, 0, animate=False)
        self.refresh()

    def point_at(self, row: int) -> None:
        """Mark a row and bring it to the middle of the view."""
        self.pointed = row
        self._strips.clear()
        self.scroll_to(0, max(0, row - self.size.height // 2), animate=False)
        self.refresh()

    def notify_style_update(self) -> None:
        """Forget strips that were rendered in the old colours."""
        super().notify_style_update()
        self._strips.clear()

    def render_line(self, y: int) -> Strip:
        """One visible line."""
        left, top = self.scroll_offset
        row, width = top + y, self.size.width
        if row >= len(self.document.rows):
            return Strip.blank(width, self.rich_style)
        key = (row, left, width)
        strip = self._strips.get(key)
        if strip is None:
            strip = self._strips[key] = self._render_row(row, left, width)
        return strip

    def _render_row(self, row: int, left: int, width: int) -> Strip:
        shown = self.document.rows[row]
        style = self._row_style(row)
        gutter = Strip(self._gutter(row))
        # Wide characters take two cells, so this many characters always fill the window.
        body = Strip([Segment(shown.text[: left + width], style)])
        room = max(0, width - _GUTTER)
        if body.cell_length <= left + room:
            return Strip.join([gutter, body.crop_extend(left, left + room, style)])
        more = Strip([Segment("›", self._style("log-view--gutter"))])
        return Strip.join([gutter, body.crop(left, left + room - 1), more])

    def _gutter(self, row: int) -> list[Segment]:
        severity = self.document.marks.get(row)
        number = self.document.rows[row].where.line or ""
        pointer = "▸" if row == self.pointed else " "
        sign, component = (
            (SIGNS[severity][0], _COMPONENTS[severity]) if severity is not None else (" ", "log-view--gutter")
        )
        return [
            Segment(pointer + sign, self._style(component)),
            Segment(f"{number:>6} ", self._style("log-view--gutter")),
        ]

    def _row_style(self, row: int) -> Style:
        components = ["log-view--heading"] if self.document.rows[row].where.line == 0 else []
        components += [_COMPONENTS[self.document.marks[row]]] if row in self.document.marks else []
        components += ["log-view--pointed"] if row == self.pointed else []
        return self._style(*components)

    def _style(self, *components: str) -> Style:
        parts = (self.get_component_rich_style(component, partial=True) for component in components)
        return sum(parts, start=self.rich_style)
