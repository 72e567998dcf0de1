"""The bar of places on top of every screen: where we are, and the keys and clicks that lead elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

from textual import events
from textual.content import Content
from textual.widget import Widget

from ncclcheck.tui.places import DESTINATIONS, Destination
from ncclcheck.tui.screens.place import Place


class PlaceBar(Widget):
    """Shows each place with its key; the one we are at is marked by more than colour."""

    DEFAULT_CSS = """
    PlaceBar {
        width: auto;
        height: 1;
        color: $text-muted;
    }
    """

    def render(self) -> Content:
        """All places in one line."""
        return Content.assemble(*(_label(place, here=place.mode == self._mode) for place in DESTINATIONS))

    @property
    def cells(self) -> int:
        """The width of its labels."""
        return sum(len(text) for text in map(_text, DESTINATIONS))

    def get_content_width(self, container: object, viewport: object) -> int:
        """As wide as its labels."""
        return self.cells

    @property
    def _mode(self) -> str:
        # A screen in the background is drawn anew as well, and then the app is elsewhere.
        return self.screen.MODE if isinstance(self.screen, Place) else self.app.current_mode

    async def on_click(self, event: events.Click) -> None:
        """Go to the place under the pointer."""
        for place, end in _ends():
            if event.x < end:
                await self.run_action(f"app.place('{place.mode}')")
                return


def _ends() -> Iterator[tuple[Destination, int]]:
    end = 0
    for place in DESTINATIONS:
        end += len(_text(place))
        yield place, end


def _text(place: Destination) -> str:
    return f" {place.key} {place.label} "


def _label(place: Destination, *, here: bool) -> Content:
    return Content.styled(_text(place), "bold reverse" if here else "")
