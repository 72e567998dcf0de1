"""A line of a form whose value is one of a few: the arrows go through them."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from ncclcheck.tui import content
from ncclcheck.tui.wording import Tone, line

LABEL = 14
"""Cells of what stands before the value."""

Value = tuple[str, str]
"""What it means, and how it is shown."""


class Choice(Widget, can_focus=True):
    """Shows its label and the value that is chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,space", "turn(1)", "Next", show=False, id="choice.next", tooltip="The next value"),
        Binding("left", "turn(-1)", "Before", show=False, id="choice.before", tooltip="The value before"),
    ]
    DEFAULT_CSS = """
    Choice { height: 1; width: 1fr; text-wrap: nowrap; text-overflow: ellipsis; }
    """

    class Changed(Message):
        """Another value was chosen."""

    def __init__(self, label: str, values: tuple[Value, ...] = (), *, id: str | None = None, classes: str = "") -> None:
        super().__init__(id=id, classes=classes)
        self._label = label
        self._values = values
        self._chosen = 0

    @property
    def value(self) -> str:
        """What is chosen; empty where there is nothing to choose."""
        return self._values[self._chosen][0] if self._values else ""

    @property
    def usual(self) -> bool:
        """Whether nobody has changed it."""
        return self._chosen == 0

    def offer(self, values: tuple[Value, ...], chosen: int = 0) -> None:
        """Other values to choose from."""
        self._values, self._chosen = values, chosen
        self.refresh()

    def render(self) -> Content:
        """The label and the value, with arrows where there are others; the row in hand is marked."""
        shown = line(self._values[self._chosen][1]) if self._values else "…"
        others = len(self._values) > 1
        value = f"‹ {shown} ›" if others else f"  {shown}"
        mark = "→ " if self.has_focus else "  "
        tone = Tone.STRONG if self.has_focus else Tone.PLAIN
        return Content.assemble(
            content.piece(mark, Tone.STRONG),
            content.piece(f"{self._label:<{LABEL}}", Tone.MUTED),
            content.piece(value, tone),
        )

    def on_focus(self) -> None:
        """It is marked."""
        self.refresh()

    def on_blur(self) -> None:
        """It is marked no more."""
        self.refresh()

    def action_turn(self, step: int) -> None:
        """Go on to another value, round the end."""
        if len(self._values) > 1:
            self._chosen = (self._chosen + step) % len(self._values)
            self.refresh()
            self.post_message(self.Changed())
