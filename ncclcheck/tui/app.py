"""The application: modes, keys, workers and handlers, and nothing else.

Workers run the journeys on threads and post what happened; one handler folds it into one snapshot, which the places
receive by data binding. No use case is ever called on the thread that handles keys.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import ClassVar

from textual import events
from textual.app import App, SystemCommand
from textual.reactive import var
from textual.screen import Screen

from ncclcheck.errors import NcclcheckError
from ncclcheck.model import Node
from ncclcheck.speedtest.plan import Side
from ncclcheck.tui import advice, clipboard, journey, peers, wording
from ncclcheck.tui.journey import Journey, Outcomes
from ncclcheck.tui.keys import KEYS
from ncclcheck.tui.offers import best_fix, choices
from ncclcheck.tui.outcomes import Activity, Answered, Began, Copied, Diagnosed, Meets, Read, Stopped
from ncclcheck.tui.pairing import Way
from ncclcheck.tui.person import Person
from ncclcheck.tui.real import use_cases
from ncclcheck.tui.reporting import Happened, report
from ncclcheck.tui.screens.agree import AgreeDialog
from ncclcheck.tui.screens.fix import FixDialog
from ncclcheck.tui.screens.help import HelpDialog
from ncclcheck.tui.screens.join import JoinDialog
from ncclcheck.tui.screens.log import LogPlace
from ncclcheck.tui.screens.open import OpenDialog
from ncclcheck.tui.screens.overview import OverviewPlace
from ncclcheck.tui.screens.peers import PeersPlace
from ncclcheck.tui.screens.place import Dialog, Place
from ncclcheck.tui.screens.speed import SpeedDialog
from ncclcheck.tui.screens.speeds import SpeedsPlace
from ncclcheck.tui.screens.whatif import WhatIfDialog
from ncclcheck.tui.seam import UseCases
from ncclcheck.tui.state import Snapshot, advance

_ONLY = {"evidence": LogPlace, "prove": PeersPlace, "invite": PeersPlace, "join": PeersPlace}
"""Actions that one place alone has."""


class Doctor(App[None]):
    """ncclcheck in a terminal."""

    TITLE = "ncclcheck"
    CSS_PATH = "app.tcss"
    BINDINGS: ClassVar = KEYS

    snapshot: var[Snapshot] = var(Snapshot)

    def __init__(
        self, nodes: tuple[Node, ...] = (), paths: tuple[str, ...] = (), cases: UseCases | None = None
    ) -> None:
        super().__init__()
        self._given = nodes or (Node(name=socket.gethostname()),)
        self._paths = paths
        self._cases = cases or use_cases()
        self._person = Person()

    def on_mount(self) -> None:
        """Show the overview at once, and look at the nodes behind it."""
        self.snapshot = Snapshot(nodes=self._given)
        self.add_mode("overview", lambda: OverviewPlace(self._given).data_bind(Doctor.snapshot))
        self.add_mode("log", lambda: LogPlace().data_bind(Doctor.snapshot))
        self.add_mode("peers", lambda: PeersPlace().data_bind(Doctor.snapshot))
        self.add_mode("speeds", lambda: SpeedsPlace().data_bind(Doctor.snapshot))
        self.switch_mode("overview")
        self._begin(Activity.SCAN, journey.scan(self._cases, self._given))
        if self._paths:
            self._begin(Activity.DIAGNOSE, journey.read_files(self._cases, self._paths))

    def on_unmount(self) -> None:
        """Nobody is left whom a pairing could wait for."""
        self._person.go()

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Of Textual's own commands only the theme; the places offer the rest."""
        yield SystemCommand("Theme", "change the colours", self.action_change_theme)

    # What workers report ---------------------------------------------------------------------------------------------

    def _begin(self, activity: Activity, outcomes: Journey) -> None:
        self.post_message(Happened(Began(activity)))
        self.run_worker(
            partial(report, self.post_message, activity, outcomes), thread=True, exclusive=True, group=activity.value
        )

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
            self._ask(AgreeDialog())
        if isinstance(outcome, Copied):
            self.copy_to_clipboard(outcome.text)
            self.notify(f"Copied. If your terminal dropped it: {wording.line(outcome.path)}", markup=False)
        if isinstance(outcome, Diagnosed) and self.snapshot.running_in(Activity.DIAGNOSE):
            self.switch_mode("log")

    def _meet(self, way: Way) -> None:
        if way is Way.CARDS:
            self._stop(Activity.PAIR)
        self.switch_mode("peers")

    # What people do --------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Grey out what does not apply now."""
        if action == "stop":
            return self.snapshot.busy
        if action in _ONLY and not isinstance(self.screen, _ONLY[action]):
            return False
        if action == "prove" and self.snapshot.busy:
            return False  # The footer has room for it or for Stop.
        return True if action == "log" or self._place().applies(action) else None

    def on_paste(self, event: events.Paste) -> None:
        """A pasted log is diagnosed without a question, from any place; cards are compared, an invitation is shown."""
        if not event.text.strip():
            return
        while isinstance(self.screen, Dialog):
            self.pop_screen()
        if peers.is_invitation(event.text):
            self._ask(JoinDialog(event.text))
            return
        self._read(journey.read_paste(self._cases, event.text, self.snapshot.facts))

    def _read(self, outcomes: Outcomes) -> None:
        # What was asked for last is what the screen should end up with.
        self._stop(Activity.PROBE)
        self._begin(Activity.DIAGNOSE, outcomes)

    def action_place(self, mode: str) -> None:
        """Go to a place."""
        # Its data is bound at the first time, which works only from the app's own message loop.
        self.call_next(self.switch_mode, mode)

    def action_log(self) -> None:
        """Go to the log."""
        self.action_place("log")

    def action_peers(self) -> None:
        """Go to what is between nodes."""
        self.action_place("peers")

    def action_speeds(self) -> None:
        """Go to the speed test, with the earlier runs."""
        self.action_place("speeds")
        self._begin(Activity.HISTORY, journey.remember(self._cases))

    def action_invite(self) -> None:
        """Find out what is wrong between our nodes, or wait for another one."""
        self._pair(lambda person: journey.invite(self._cases, self.snapshot, person))

    def action_join(self) -> None:
        """Ask for what the other node shows."""
        self._ask(JoinDialog())

    def on_join_dialog_asked(self, message: JoinDialog.Asked) -> None:
        """Take part in it."""
        self._pair(lambda person: journey.join(self._cases, message.text, self.snapshot, person))

    def _pair(self, outcomes: Callable[[Person], Outcomes]) -> None:
        self._stop(Activity.PAIR)
        self._person = Person()
        self._begin(Activity.PAIR, outcomes(self._person))

    def on_agree_dialog_answered(self, message: AgreeDialog.Answered) -> None:
        """Hand it to the pairing, which waits for it."""
        self._person.answer(message.yes)
        self.post_message(Happened(Answered(message.yes)))

    def action_prove(self) -> None:
        """Run NCCL's own handshake between our nodes, and the speed test."""
        self._begin(Activity.PAIR, journey.prove_between(self._cases, self.snapshot))

    def action_probe(self) -> None:
        """Ask the real NCCL on every node."""
        now = self.snapshot
        self._begin(Activity.PROBE, journey.probe(self._cases, now.nodes, now.facts))

    def action_open(self) -> None:
        """Ask for a path."""
        self._ask(OpenDialog())

    def on_open_dialog_asked(self, message: OpenDialog.Asked) -> None:
        """Read it."""
        self._read(journey.read_files(self._cases, (message.path,)))

    def action_fix(self) -> None:
        """Show what would change."""
        finding = self._place().finding
        if isinstance(self.screen, PeersPlace) and peers.question(self.snapshot):
            self._ask(AgreeDialog())
        elif finding is not None and finding.fixes:
            self._ask(FixDialog(finding, best_fix(finding, tuple(filter(advice.appliable, finding.fixes)))))

    def on_fix_dialog_asked(self, message: FixDialog.Asked) -> None:
        """Work out the plan of a fix."""
        self._begin(Activity.FIX, journey.preview(self._cases, message.fix, self.snapshot))

    def on_fix_dialog_agreed(self) -> None:
        """The yes was given: write, and prove it."""
        self._begin(Activity.FIX, journey.prove(self._cases, self.snapshot))

    def on_fix_dialog_undo(self) -> None:
        """Take it back."""
        self._begin(Activity.FIX, journey.undo(self._cases, self.snapshot))

    def action_speed(self) -> None:
        """Measure between our two nodes, or ask where the other one is."""
        now = self.snapshot
        self.action_place("speeds")
        if len(now.nodes) > 1:
            self._begin(Activity.SPEED, journey.measure(self._cases, now))
        else:
            self._ask(SpeedDialog(*wording.own_end(now)), self._measure_here)

    def _measure_here(self, side: Side | None) -> None:
        if side is not None:
            self._begin(Activity.SPEED, journey.measure_here(self._cases, side, self.snapshot))

    def action_what_if(self) -> None:
        """Try other settings without changing anything."""
        self._ask(WhatIfDialog(wording.present_version(self.snapshot)))

    def action_copy(self) -> None:
        """Copy what is looked at, and save it."""
        self._begin(Activity.COPY, journey.copy(self._place().copied, clipboard.save))

    def action_evidence(self, step: int) -> None:
        """Go along the evidence; the key stands here so that the footer keeps its order."""
        if isinstance(self.screen, LogPlace):
            self.screen.go_along(step)

    def action_read(self) -> None:
        """Take the message about a failure away."""
        self.post_message(Happened(Read()))

    def action_stop(self) -> None:
        """End everything after its present step."""
        for activity in (Activity.PROBE, Activity.DIAGNOSE, Activity.FIX, Activity.SPEED, Activity.PAIR):
            self._stop(activity)

    def _stop(self, activity: Activity) -> None:
        if activity is Activity.PAIR:
            self._person.go()
        if self.workers.cancel_group(self, activity.value):
            self.post_message(Happened(Stopped(activity)))

    def action_help(self) -> None:
        """Show the keys that work here."""
        bound = [active.binding for active in self.screen.active_bindings.values() if not active.binding.system]
        bound.sort(key=lambda key: not (key.id or "").startswith("log."))  # What only this place has comes first.
        keys = ((self.get_key_display(key), key.tooltip) for key in bound if key.tooltip)
        self._ask(HelpDialog(wording.keys(keys)))

    def _place(self) -> Place:
        """The uppermost place, under whatever dialogs; an empty one before there is any."""
        places = [screen for screen in self.screen_stack if isinstance(screen, Place)]
        return places[-1] if places else Place()

    def _ask(self, dialog: Dialog[Side] | Dialog[None], then: Callable[[Side | None], None] | None = None) -> None:
        self.call_next(lambda: self.push_screen(dialog.data_bind(Doctor.snapshot), then))


def run_app(nodes: tuple[Node, ...] = (), paths: tuple[str, ...] = ()) -> int:
    """Run the application on these nodes, or on this machine; 0 when it was left in the ordinary way.

    Raises NcclcheckError without a terminal: Textual reads standard input and draws on standard error.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise NcclcheckError(
            "the interactive assistant needs a terminal",
            next_step="without one: ncclcheck node, ncclcheck probe, ncclcheck analyze FILE",
        )
    app = Doctor(nodes, paths)
    app.run()
    return app.return_code or 0
