"""The command palette: each place offers only what applies now, in words of ours alone.

The palette reads its texts as markup, so no name, path or line from outside may stand in them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider

from ncclcheck.tui.offers import Offer, offers, offers_between, offers_for_speed
from ncclcheck.tui.places import DESTINATIONS
from ncclcheck.tui.state import Snapshot

Command = tuple[str, str, str]
"""Label, what it is good for, action."""

_PLACES = tuple(to.mode for to in DESTINATIONS)
"""Actions that lead to a place; they stand at the end, all together."""


class PlaceCommands(Provider):
    """What can be done from any place."""

    def commands(self) -> Iterator[Command]:
        """The commands that apply now."""
        now = getattr(self.screen, "snapshot", None)
        if isinstance(now, Snapshot):
            own = (offer for offer in self.offered(now) if offer.action not in _PLACES)
            yield from ((offer.label, offer.purpose, f"app.{offer.action}") for offer in own)
        yield from ((to.label, _lower(to.purpose), f"app.place('{to.mode}')") for to in DESTINATIONS)
        yield ("Help", "every key of this place", "app.help")
        yield ("Quit", "changes that were made stay", "app.quit")

    def offered(self, now: Snapshot) -> tuple[Offer, ...]:
        """The ways on from here."""
        return offers(now)

    async def discover(self) -> Hits:
        """Everything, before anything is typed."""
        for label, purpose, action in self.commands():
            yield DiscoveryHit(label, partial(self.screen.run_action, action), help=purpose)

    async def search(self, query: str) -> Hits:
        """What fits the words typed."""
        matcher = self.matcher(query)
        for label, purpose, action in self.commands():
            score = matcher.match(f"{label} {purpose}")
            if score > 0:
                yield Hit(score, matcher.highlight(label), partial(self.screen.run_action, action), help=purpose)


class LogCommands(PlaceCommands):
    """What the log place adds."""

    def commands(self) -> Iterator[Command]:
        """The log's own commands first."""
        yield ("Search", "look for words or a regular expression in the log", "screen.search")
        yield ("Filter", "show only lines of a rank, host, level, stage or finding; or all again", "screen.filter")
        yield ("Next finding", "and the first line that proves it", "app.finding(1)")
        yield ("Previous finding", "and the first line that proves it", "app.finding(-1)")
        yield ("Next evidence", "jump to the next line that proves something", "app.evidence(1)")
        yield ("Previous evidence", "jump to the line before", "app.evidence(-1)")
        yield ("Make a rule", "of your own, from the line under the cursor", "app.rule")
        yield ("Zoom", "give the focused pane the whole screen, or give it back", "screen.zoom")
        yield from super().commands()


class PeersCommands(PlaceCommands):
    """What the place of the peers has instead, where two places have the same key for different things."""

    def offered(self, now: Snapshot) -> tuple[Offer, ...]:
        """Its own ways first."""
        own = offers_between(now)
        return (*own, *(offer for offer in offers(now) if offer.action not in ("fix", "copy", "stop", "peers")))


class SpeedsCommands(PlaceCommands):
    """What the place of the speed test has first."""

    def offered(self, now: Snapshot) -> tuple[Offer, ...]:
        """Its own ways first."""
        own = offers_for_speed(now)
        return (*own, *(offer for offer in offers(now) if offer.action not in ("speed", "copy", "stop", "peers")))


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
