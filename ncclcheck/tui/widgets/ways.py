"""The menu of what can be done now; its cursor stands on what is most worth doing."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from ncclcheck.tui import content
from ncclcheck.tui.offers import Offer
from ncclcheck.tui.wording import Tone


class Ways(OptionList, inherit_bindings=False):
    """Offers, each with its key; the identity of an option is its action.

    It is never longer than a page, so the keys for pages are left to what stands above it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "cursor_up", "Up", show=False, id="ways.up", tooltip="The way above"),
        Binding("down", "cursor_down", "Down", show=False, id="ways.down", tooltip="The way below"),
        Binding("home", "first", "First", show=False, id="ways.first", tooltip="The first way"),
        Binding("end", "last", "Last", show=False, id="ways.last", tooltip="The last way"),
        Binding("enter", "select", "Take it", show=False, id="ways.take", tooltip="Take the way under the cursor"),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, compact=True)
        self._offered: tuple[tuple[Offer, ...], str] = ((), "")

    def offer(self, ways: tuple[Offer, ...], best: str) -> None:
        """Show these, unless they are shown already: whoever moves the cursor keeps it while nothing else is best."""
        if (ways, best) == self._offered:
            return
        if ways != self._offered[0]:
            self.set_options(Option(_prompt(way), id=way.action) for way in ways)
        self._offered = (ways, best)
        actions = [way.action for way in ways]
        self.highlighted = actions.index(best) if best in actions else 0 if actions else None


def _prompt(way: Offer) -> Content:
    return Content.assemble(content.piece(f"{way.key}  {way.label:<14}", Tone.STRONG), content.piece(way.purpose))
