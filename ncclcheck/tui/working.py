"""What goes on behind the screens: workers run the journeys on threads and post what happens; one handler folds it
into one snapshot, which the places receive by data binding. No use case is ever called on the thread that handles keys.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from functools import partial

from textual.app import App
from textual.reactive import var

from ncclcheck.model import Node
from ncclcheck.speedtest.plan import Side
from ncclcheck.tui import peers, wording
from ncclcheck.tui.journey import Journey, Outcomes
from ncclcheck.tui.offers import choices
from ncclcheck.tui.outcomes import Activity, Began, Copied, Diagnosed, Meets, Stopped
from ncclcheck.tui.pairing import Way
from ncclcheck.tui.person import Person
from ncclcheck.tui.real import use_cases
from ncclcheck.tui.reporting import Happened, report
from ncclcheck.tui.screens.agree import AgreeDialog
from ncclcheck.tui.screens.peers import PeersPlace
from ncclcheck.tui.screens.place import Dialog, Place
from ncclcheck.tui.seam import UseCases
from ncclcheck.tui.state import Snapshot, advance


class Working(App[None]):
    """An app with work in the background."""

    snapshot: var[Snapshot] = var(Snapshot)

    def __init__(self, nodes: tuple[Node, ...], cases: UseCases | None) -> None:
        super().__init__()
        self.given = nodes or (Node(name=socket.gethostname()),)
        self.cases = cases or use_cases()
        self.person = Person()

    def on_unmount(self) -> None:
        """Nobody is left whom a pairing could wait for."""
        self.person.go()

    # Workers ---------------------------------------------------------------------------------------------------------

    def begin(self, activity: Activity, outcomes: Journey) -> None:
        """Run a journey in the background; one of the same activity that still runs is ended."""
        self.post_message(Happened(Began(activity)))
        self.run_worker(
            partial(report, self.post_message, activity, outcomes), thread=True, exclusive=True, group=activity.value
        )

    def stop(self, activity: Activity) -> None:
        """End an activity after its present step."""
        if activity is Activity.PAIR:
            self.person.go()
        if self.workers.cancel_group(self, activity.value):
            self.post_message(Happened(Stopped(activity)))

    def read(self, outcomes: Outcomes) -> None:
        """Diagnose a text: what was asked for last is what the screen should end up with."""
        self.stop(Activity.PROBE)
        self.begin(Activity.DIAGNOSE, outcomes)

    def pair(self, outcomes: Callable[[Person], Outcomes]) -> None:
        """Begin a pairing, with somebody at the keys who can be asked."""
        self.stop(Activity.PAIR)
        self.person = Person()
        self.begin(Activity.PAIR, outcomes(self.person))

    # What they report ------------------------------------------------------------------------------------------------

    def on_happened(self, message: Happened) -> None:
        """Fold an outcome into the snapshot."""
        outcome = message.outcome
        before = self.snapshot
        self.snapshot = advance(before, outcome)
        if choices(before) != choices(self.snapshot):
            # Each time the footer is made anew; steps come by the dozen.
            self.refresh_bindings()
        if isinstance(outcome, Meets):
            self._meet(outcome.way)
        if peers.question(self.snapshot) and not peers.question(before) and isinstance(self.screen, PeersPlace):
            self.ask(AgreeDialog())
        if isinstance(outcome, Copied):
            self.copy_to_clipboard(outcome.text)
            self.notify(f"Copied. If your terminal dropped it: {wording.line(outcome.path)}", markup=False)
        if isinstance(outcome, Diagnosed) and self.snapshot.running_in(Activity.DIAGNOSE):
            self.switch_mode("log")

    def _meet(self, way: Way) -> None:
        if way is Way.CARDS:
            self.stop(Activity.PAIR)
        self.switch_mode("peers")

    # Screens ---------------------------------------------------------------------------------------------------------

    def place(self) -> Place:
        """The uppermost place, under whatever dialogs; an empty one before there is any."""
        places = [screen for screen in self.screen_stack if isinstance(screen, Place)]
        return places[-1] if places else Place()

    def ask(self, dialog: Dialog[Side] | Dialog[None], then: Callable[[Side | None], None] | None = None) -> None:
        """Show a dialog over the place."""
        self.call_next(lambda: self.push_screen(dialog.data_bind(Working.snapshot), then))
