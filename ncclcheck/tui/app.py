"""The application: modes, keys and what they do, and nothing else."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import ClassVar

from textual import events
from textual.app import SystemCommand
from textual.screen import Screen

from ncclcheck.errors import NcclcheckError
from ncclcheck.model import Node
from ncclcheck.speedtest.plan import Side
from ncclcheck.tui import advice, clipboard, journey, peers, wording
from ncclcheck.tui.keys import KEYS
from ncclcheck.tui.offers import best_fix
from ncclcheck.tui.outcomes import Activity, Answered, Read
from ncclcheck.tui.reporting import Happened
from ncclcheck.tui.screens.agree import AgreeDialog
from ncclcheck.tui.screens.fix import FixDialog
from ncclcheck.tui.screens.help import HelpDialog
from ncclcheck.tui.screens.join import JoinDialog
from ncclcheck.tui.screens.log import LogPlace
from ncclcheck.tui.screens.open import OpenDialog
from ncclcheck.tui.screens.overview import OverviewPlace
from ncclcheck.tui.screens.peers import PeersPlace
from ncclcheck.tui.screens.place import Dialog
from ncclcheck.tui.screens.speed import SpeedDialog
from ncclcheck.tui.screens.speeds import SpeedsPlace
from ncclcheck.tui.screens.whatif import WhatIfDialog
from ncclcheck.tui.seam import UseCases
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.working import Working

_ONLY = {"evidence": LogPlace, "prove": PeersPlace, "invite": PeersPlace, "join": PeersPlace}
"""Actions that one place alone has."""


class Doctor(Working):
    """ncclcheck in a terminal."""

    TITLE = "ncclcheck"
    CSS_PATH = "app.tcss"
    BINDINGS: ClassVar = KEYS

    def __init__(
        self, nodes: tuple[Node, ...] = (), paths: tuple[str, ...] = (), cases: UseCases | None = None
    ) -> None:
        super().__init__(nodes, cases)
        self._paths = paths

    def on_mount(self) -> None:
        """Show the overview at once, and look at the nodes behind it."""
        self.snapshot = Snapshot(nodes=self.given)
        self.add_mode("overview", lambda: OverviewPlace(self.given).data_bind(Working.snapshot))
        self.add_mode("log", lambda: LogPlace().data_bind(Working.snapshot))
        self.add_mode("peers", lambda: PeersPlace().data_bind(Working.snapshot))
        self.add_mode("speeds", lambda: SpeedsPlace().data_bind(Working.snapshot))
        self.switch_mode("overview")
        self.begin(Activity.SCAN, journey.scan(self.cases, self.given))
        if self._paths:
            self.begin(Activity.DIAGNOSE, journey.read_files(self.cases, self._paths))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Of Textual's own commands only the theme; the places offer the rest."""
        yield SystemCommand("Theme", "change the colours", self.action_change_theme)

    # What people do --------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Grey out what does not apply now."""
        if action == "stop":
            return self.snapshot.busy
        if action in _ONLY and not isinstance(self.screen, _ONLY[action]):
            return False
        if action == "prove" and self.snapshot.busy:
            return False  # The footer has room for it or for Stop.
        return True if action == "log" or self.place().applies(action) else None

    def on_paste(self, event: events.Paste) -> None:
        """A pasted log is diagnosed without a question, from any place; cards are compared, an invitation is shown."""
        if not event.text.strip():
            return
        while isinstance(self.screen, Dialog):
            self.pop_screen()
        if peers.is_invitation(event.text):
            self.ask(JoinDialog(event.text))
            return
        self.read(journey.read_paste(self.cases, event.text, self.snapshot.facts))

    def action_place(self, mode: str) -> None:
        """Go to a place."""
        # Its data is bound at the first time, which works only from the app's own message loop.
        self.call_next(self.switch_mode, mode)
        if mode == "speeds":
            self.begin(Activity.HISTORY, journey.remember(self.cases))

    def action_log(self) -> None:
        """Go to the log."""
        self.action_place("log")

    def action_peers(self) -> None:
        """Go to what is between nodes."""
        self.action_place("peers")

    def action_invite(self) -> None:
        """Find out what is wrong between our nodes, or wait for another one."""
        self.pair(lambda person: journey.invite(self.cases, self.snapshot, person))

    def action_join(self) -> None:
        """Ask for what the other node shows."""
        self.ask(JoinDialog())

    def on_join_dialog_asked(self, message: JoinDialog.Asked) -> None:
        """Take part in it."""
        self.pair(lambda person: journey.join(self.cases, message.text, self.snapshot, person))

    def on_agree_dialog_answered(self, message: AgreeDialog.Answered) -> None:
        """Hand it to the pairing, which waits for it."""
        self.person.answer(message.yes)
        self.post_message(Happened(Answered(message.yes)))

    def action_prove(self) -> None:
        """Run NCCL's own handshake between our nodes, and the speed test."""
        self.begin(Activity.PAIR, journey.prove_between(self.cases, self.snapshot))

    def action_probe(self) -> None:
        """Ask the real NCCL on every node."""
        now = self.snapshot
        self.begin(Activity.PROBE, journey.probe(self.cases, now.nodes, now.facts))

    def action_open(self) -> None:
        """Ask for a path."""
        self.ask(OpenDialog())

    def on_open_dialog_asked(self, message: OpenDialog.Asked) -> None:
        """Read it."""
        self.read(journey.read_files(self.cases, (message.path,)))

    def action_fix(self) -> None:
        """Show what would change."""
        finding = self.place().finding
        if isinstance(self.screen, PeersPlace) and peers.question(self.snapshot):
            self.ask(AgreeDialog())
        elif finding is not None and finding.fixes:
            self.ask(FixDialog(finding, best_fix(finding, tuple(filter(advice.appliable, finding.fixes)))))

    def on_fix_dialog_asked(self, message: FixDialog.Asked) -> None:
        """Work out the plan of a fix."""
        self.begin(Activity.FIX, journey.preview(self.cases, message.fix, self.snapshot))

    def on_fix_dialog_agreed(self) -> None:
        """The yes was given: write, and prove it."""
        self.begin(Activity.FIX, journey.prove(self.cases, self.snapshot))

    def on_fix_dialog_undo(self) -> None:
        """Take it back."""
        self.begin(Activity.FIX, journey.undo(self.cases, self.snapshot))

    def action_speed(self) -> None:
        """Measure between our two nodes, or ask where the other one is."""
        now = self.snapshot
        self.action_place("speeds")
        if len(now.nodes) > 1:
            self.begin(Activity.SPEED, journey.measure(self.cases, now))
        else:
            self.ask(SpeedDialog(*wording.own_end(now)), self._measure_here)

    def _measure_here(self, side: Side | None) -> None:
        if side is not None:
            self.begin(Activity.SPEED, journey.measure_here(self.cases, side, self.snapshot))

    def action_what_if(self) -> None:
        """Try other settings without changing anything."""
        self.ask(WhatIfDialog(wording.present_version(self.snapshot)))

    def action_copy(self) -> None:
        """Copy what is looked at, and save it."""
        self.begin(Activity.COPY, journey.copy(self.place().copied, clipboard.save))

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
            self.stop(activity)

    def action_help(self) -> None:
        """Show the keys that work here."""
        bound = [active.binding for active in self.screen.active_bindings.values() if not active.binding.system]
        bound.sort(key=lambda key: not (key.id or "").startswith("log."))  # What only this place has comes first.
        keys = ((self.get_key_display(key), key.tooltip) for key in bound if key.tooltip)
        self.ask(HelpDialog(wording.keys(keys)))


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
