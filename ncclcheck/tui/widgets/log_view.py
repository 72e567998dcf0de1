"""Lines of a log with a gutter: only what is visible is ever read and rendered, so the length does not matter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from ncclcheck.model import Severity, Where
from ncclcheck.tui.content import SIGNS
from ncclcheck.tui.text.document import Document, Row, Rows, goes_on
from ncclcheck.tui.text.row_parts import Part, cells, parts

_DIGITS = 6
_SIDEWAYS = 8
"""Cells."""
_WIDTHS = 64
"""Cells."""
_EVIDENCE = {
    Severity.ERROR: "log-view--error",
    Severity.WARNING: "log-view--warning",
    Severity.INFO: "log-view--info",
}
_PARTS = {Part.PREFIX: "log-view--prefix", Part.WARN: "log-view--warn", Part.HIT: "log-view--hit"}


def _nothing(where: Where) -> bool:
    return False


class LogView(ScrollView, can_focus=True):
    """Shows rows, and a cursor on one of them; a log that grows can be followed at its end."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "log-view--gutter",
        "log-view--heading",
        "log-view--cursor",
        *_EVIDENCE.values(),
        *_PARTS.values(),
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False, id="log.up", tooltip="One line up"),
        Binding("down,j", "move(1)", "Down", show=False, id="log.down", tooltip="One line down"),
        Binding("left,h", "sideways(-1)", "Left", show=False, id="log.left", tooltip="Towards the start of the line"),
        Binding("right,l", "sideways(1)", "Right", show=False, id="log.right", tooltip="Towards the end of the line"),
        Binding("pageup", "page(-1)", "Page up", show=False, id="log.page_up", tooltip="One page up"),
        Binding("pagedown,space", "page(1)", "Page down", show=False, id="log.page_down", tooltip="One page down"),
        Binding("home,g", "first", "Start", show=False, id="log.home", tooltip="First line"),
        Binding("end,G", "last", "End", show=False, id="log.end", tooltip="Last line, also while the log grows"),
    ]
    DEFAULT_CSS = """
    LogView {
        background: $background;
        color: $foreground;
        scrollbar-size: 0 1;
        & > .log-view--gutter { text-style: dim; }
        & > .log-view--heading { text-style: bold; }
        & > .log-view--cursor { text-style: bold; background: $panel; }
        & > .log-view--error { color: $text-error; }
        & > .log-view--warning { color: $text-warning; }
        & > .log-view--info { color: $foreground; }
        & > .log-view--prefix { text-style: dim; }
        & > .log-view--warn { color: $text-warning; text-style: bold; }
        & > .log-view--hit { text-style: reverse; }
    }
    """

    class Moved(Message):
        """The cursor went to another row, or it began or ceased to stay at the end."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows: Rows = Document()
        self.cursor = 0
        self.moved = False
        """Whether somebody looked around since these rows are shown."""
        self.at_end = False
        """Whether the cursor stays at the end while the log grows."""
        self._marks: Mapping[Where, Severity] = {}
        self._is_hit: Callable[[Where], bool] = _nothing
        self._word = ""
        self._digits = _DIGITS
        self._strips: LRUCache[tuple[int, int, int, bool, int], Strip] = LRUCache(1024)

    # What is shown ---------------------------------------------------------------------------------------------------

    @property
    def current(self) -> Where | None:
        """The place of the line under the cursor; None on a heading, and where there is nothing."""
        where = self.rows.row(self.cursor).where if self.cursor < self.rows.height else None
        return where if where is not None and where.line else None

    @property
    def current_text(self) -> str:
        """That line as it is in the log: not made safe for a terminal."""
        return self.rows.row(self.cursor).raw if self.current else ""

    def show(self, rows: Rows, marks: Mapping[Where, Severity]) -> None:
        """Show another text, from its first row."""
        self.cursor, self.moved, self.at_end = 0, False, False
        self._digits = _DIGITS
        self.virtual_size = Size(0, 0)
        self._take(rows, marks)
        self.scroll_to(0, 0, animate=False)
        self.post_message(self.Moved())

    def change(self, rows: Rows, marks: Mapping[Where, Severity], at: Where | None = None) -> None:
        """Show the same text as it is now, or other rows of it; what was looked at stays in sight, or that place."""
        cursor, top = at or self._place(self.cursor), self._place(self.scroll_offset.y)
        shift = self.cursor - self.scroll_offset.y
        self._take(rows, marks, keep_strips=goes_on(self.rows, rows) and marks is self._marks)
        if self.at_end:
            self._to_end()
            return
        self.cursor = rows.near(cursor) if cursor else 0
        in_sight = 0 <= shift < self.size.height
        self.scroll_to(y=self.cursor - shift if in_sight or top is None else rows.near(top), animate=False)

    def mark_hits(self, is_hit: Callable[[Where], bool] | None, word: str = "") -> None:
        """Mark the rows in which something was found, and this word in every row."""
        self._is_hit, self._word = is_hit or _nothing, word
        self._strips.clear()
        self.refresh()

    def point_at(self, row: int) -> None:
        """Put the cursor on a row, and bring it to the middle of the view."""
        self.at_end = False
        self._set_cursor(row)
        self.scroll_to(y=max(0, row - self.size.height // 2), animate=False)

    def _place(self, row: int) -> Where | None:
        return self.rows.row(row).where if row < self.rows.height else None

    def _take(self, rows: Rows, marks: Mapping[Where, Severity], *, keep_strips: bool = False) -> None:
        self.rows, self._marks = rows, marks
        digits = len(str(rows.row(rows.height - 1).where.line)) if rows.height else 0
        if not keep_strips or digits > self._digits:
            self._strips.clear()
        self._digits = max(self._digits, digits)
        self._fit()
        self.refresh()

    # Moving ----------------------------------------------------------------------------------------------------------

    def action_move(self, step: int) -> None:
        """The cursor up or down."""
        self._go(self.cursor + step)

    def action_page(self, step: int) -> None:
        """The cursor by a page."""
        page = max(1, self.size.height - 1)
        self.scroll_to(y=self.scroll_offset.y + step * page, animate=False)
        self._go(self.cursor + step * page)

    def action_first(self) -> None:
        """The cursor to the beginning."""
        self._go(0)

    def action_last(self) -> None:
        """The cursor to the end, where it stays."""
        self.moved = self.at_end = True
        self._to_end()

    def action_sideways(self, step: int) -> None:
        """The window along the lines."""
        self.scroll_to(x=self.scroll_offset.x + step * _SIDEWAYS, animate=False)

    def on_click(self, event: events.Click) -> None:
        """The cursor to the row under the mouse."""
        self._go(self.scroll_offset.y + event.y)

    def _go(self, row: int) -> None:
        self.moved, self.at_end = True, False
        self._set_cursor(row)
        top, height = self.scroll_offset.y, self.size.height
        if not top <= self.cursor < top + height:
            self.scroll_to(y=self.cursor if self.cursor < top else self.cursor - height + 1, animate=False)

    def _to_end(self) -> None:
        self._set_cursor(self.rows.height - 1)
        self.scroll_to(y=self.rows.height, animate=False)

    def _set_cursor(self, row: int) -> None:
        self.cursor = max(0, min(row, self.rows.height - 1))
        self.refresh()
        self.post_message(self.Moved())

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Other rows have another width."""
        super().watch_scroll_y(old_value, new_value)
        self._fit()

    def on_resize(self) -> None:
        """More rows have another width."""
        self._fit()

    def _fit(self) -> None:
        """Let the window go as far to the right as the longest row that was seen."""
        top = self.scroll_offset.y
        visible = range(top, min(top + self.size.height, self.rows.height))
        longest = max((cells(self.rows.row(row).text) for row in visible), default=0)
        # In steps, for each change lays out the whole screen.
        width = -(-(longest + self._gutter_width) // _WIDTHS) * _WIDTHS
        self.virtual_size = Size(max(width, self.virtual_size.width), self.rows.height)

    # Rendering -------------------------------------------------------------------------------------------------------

    @property
    def _gutter_width(self) -> int:
        # Pointer, severity, line number, blank.
        return self._digits + 3

    def notify_style_update(self) -> None:
        """Forget strips that were rendered in the old colours."""
        super().notify_style_update()
        self._strips.clear()

    def render_line(self, y: int) -> Strip:
        """One visible line."""
        left, top = self.scroll_offset
        row, width = top + y, self.scrollable_content_region.width
        if row >= self.rows.height:
            return Strip.blank(width, self.rich_style)
        # More may be written to the last row.
        last = self.rows.height if row + 1 == self.rows.height else 0
        key = (row, left, width, row == self.cursor, last)
        strip = self._strips.get(key)
        if strip is None:
            strip = self._strips[key] = self._render_row(row, left, width, row == self.cursor)
        return strip

    def _render_row(self, index: int, left: int, width: int, pointed: bool) -> Strip:
        row = self.rows.row(index)
        style = self._row_style(row.where, pointed)
        room = max(0, width - self._gutter_width)
        shown = row.text
        # Wide characters take two cells, so this many characters always fill the window.
        body = self._strip(self._body(row, shown[: left + room + 1], style))
        gutter = self._strip(self._gutter(row.where, pointed))
        if body.cell_length <= left + room:
            return Strip.join([gutter, body.crop_extend(left, left + room, style)])
        more = self._strip(Text("›", self._style("log-view--gutter")))
        return Strip.join([gutter, body.crop(left, left + room - 1), more])

    def _body(self, row: Row, shown: str, style: Style) -> Text:
        text = Text(shown, style, end="")
        if row.where.line:
            for part, start, end in parts(row.raw, shown, self._word):
                text.stylize(self.get_component_rich_style(_PARTS[part], partial=True), start, end)
        return text

    def _gutter(self, where: Where, pointed: bool) -> Text:
        severity = self._marks.get(where)
        hit = "»" if where.line and self._is_hit(where) else " "
        sign, component = (SIGNS[severity][0], _EVIDENCE[severity]) if severity is not None else (hit, "")
        text = Text("▸" if pointed else " ", self._style(), end="")
        text.append(sign, self._style(component) if component else None)
        return text.append(f"{where.line or '':>{self._digits}} ", self._style("log-view--gutter"))

    def _strip(self, text: Text) -> Strip:
        # Rich leaves the style of a text out where no part of it has one of its own.
        bare = [Segment(text.plain, text.style if isinstance(text.style, Style) else None)]
        return Strip(text.render(self.app.console) if text.spans else bare)

    def _row_style(self, where: Where, pointed: bool) -> Style:
        severity = self._marks.get(where)
        components = ["log-view--heading"] if where.line == 0 else []
        components += [_EVIDENCE[severity]] if severity is not None else []
        components += ["log-view--cursor"] if pointed else []
        return self._style(*components)

    def _style(self, *components: str) -> Style:
        parts = (self.get_component_rich_style(component, partial=True) for component in components)
        return sum(parts, start=self.rich_style)
