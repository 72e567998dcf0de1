"""A setup behind its place: the worker that leads through it, and the person that it asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncclcheck.model import Node
from ncclcheck.tui.outcomes import Activity
from ncclcheck.tui.seam import UseCases
from ncclcheck.tui.setup import journey as journey_setup
from ncclcheck.tui.setup import words as setup_words
from ncclcheck.tui.setup.newcomer import Newcomer
from ncclcheck.tui.setup.values import Asks, Leads, Offers
from ncclcheck.tui.state import advance
from ncclcheck.tui.working import Working

if TYPE_CHECKING:
    from ncclcheck.tui.screens import setup


class Leading(Working):
    """An app that leads through a setup."""

    def __init__(self, nodes: tuple[Node, ...], cases: UseCases | None) -> None:
        super().__init__(nodes, cases)
        self.newcomer = Newcomer()
        self._line = ""
        """Of another node, until a setup begins."""

    def on_unmount(self) -> None:
        """Nobody is left whom a setup could ask."""
        self.newcomer.go()

    def stop(self, activity: Activity) -> None:
        """End an activity after its present step; a setup can be taken up again."""
        if activity is Activity.SETUP:
            self.newcomer.go()
            self.snapshot = advance(self.snapshot, Asks(None))
        super().stop(activity)

    def join_setup(self, line: str) -> None:
        """Show what another node's line would do; nothing is begun."""
        if setup_words.goes_on(self.snapshot):
            self.notify("A setup is under way already; x in its place ends it.", markup=False)
            return
        self._line = line
        self.snapshot = advance(self.snapshot, Offers(None))
        if self.at("setup"):
            self.on_setup_place_shown()
        else:
            self.action_setup()

    def action_setup(self) -> None:
        """Go to the setup."""
        self.call_next(self.switch_mode, "setup")

    def on_setup_place_shown(self) -> None:
        """Find out what can be chosen."""
        self.begin(Activity.GUIDES, journey_setup.offer(self.cases, self._line))

    def on_setup_place_begun(self, message: setup.SetupPlace.Begun) -> None:
        """Lead through it."""
        if self._under_way:  # Enter was pressed twice.
            return
        if self.snapshot.busy:
            self.notify("Something else is under way on this node; x stops it.", markup=False)
            return
        self._line = ""
        self.newcomer.go()
        self.newcomer = Newcomer()
        self.begin(Activity.SETUP, journey_setup.lead(self.cases, message.wanted, self.newcomer, self.snapshot))

    @property
    def _under_way(self) -> bool:
        return any(
            worker.group == Activity.SETUP.value and not (worker.is_finished or worker.is_cancelled)
            for worker in self.workers
        )

    def on_setup_place_replied(self, message: setup.SetupPlace.Replied) -> None:
        """Hand it to whoever asked."""
        self.newcomer.reply(message.asking, message.said)

    def on_setup_place_taken_back(self) -> None:
        """The yes was given."""
        self.begin(Activity.SETUP, journey_setup.take_back(self.cases, self.snapshot))

    def on_setup_place_opens(self, message: setup.SetupPlace.Opens) -> None:
        """Over the place; its data is bound in the app's own message loop."""
        self.call_next(lambda: self.push_screen(message.dialog.data_bind(Working.snapshot), message.then))

    def on_setup_place_anew(self) -> None:
        """Choose again."""
        self.snapshot = advance(self.snapshot, Leads(None))
        self.on_setup_place_shown()
