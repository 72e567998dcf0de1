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
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import var
from textual.screen import Screen
from textual.worker import get_current_worker

from ncclcheck.errors import NcclcheckError
from ncclcheck.model import Finding, Node
from ncclcheck.speedtest.plan import Side
from ncclcheck.tui import advice, clipboard, journey, wording
from ncclcheck.tui.journey import Outcomes
from ncclcheck.tui.offers import applies, best_fix
from ncclcheck.tui.outcomes import Activity, Began, Copied, Diagnosed, Ended, Failed, Outcome, Read, Stopped
from ncclcheck.tui.real import use_cases
from ncclcheck.tui.screens.fix import FixDialog
from ncclcheck.tui.screens.help import HelpDialog
from ncclcheck.tui.screens.log import LogPlace
from ncclcheck.tui.screens.open import OpenDialog
from ncclcheck.tui.screens.overview import OverviewPlace
from ncclcheck.tui.screens.place import Dialog, Place
from ncclcheck.tui.screens.speed import SpeedDialog
from ncclcheck.tui.screens.whatif import WhatIfDialog
from ncclcheck.tui.seam import UseCases
from ncclcheck.tui.state import Snapshot, advance


class Happened(Message):
    """A worker reports an outcome."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__()
        self.outcome = outcome


class Doctor(App[None]):
    """ncclcheck in a terminal."""

    TITLE = "ncclcheck"
    CSS_PATH = "app.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "place('overview')", "Overview", id="place.overview", tooltip="The nodes and the ways on"),
        Binding("2", "log", "Log", id="place.log", tooltip="The log with its findings beside it"),
        Binding("p", "probe", "Probe", id="probe", tooltip="Ask the real NCCL which network it takes"),
        Binding("f", "fix", "Fix", id="fix", tooltip="See what would change, apply it, prove it"),
        Binding("s", "speed", "Speed", id="speed", tooltip="Measure the bandwidth between two nodes"),
        Binding("w", "what_if", show=False, id="what-if", tooltip="See what NCCL would take with another setting"),
        Binding("o", "open", "Open", id="open", tooltip="Open a file or a folder of logs"),
        Binding("c", "copy", "Copy", id="copy", tooltip="Copy the finding as text, and save it in a file"),
        Binding("escape", "read", show=False, id="read", tooltip="Take the message about what failed out of the way"),
        Binding("question_mark", "help", "Help", key_display="?", id="help", tooltip="Every key of this place"),
        Binding("q", "quit", "Quit", id="quit", tooltip="Leave; changes that were made stay"),
        Binding("x", "stop", "Stop", id="stop", tooltip="End what is running after its present step"),
        Binding("n", "evidence(1)", "Next", id="log.next", tooltip="Next line that proves something"),
        Binding("N", "evidence(-1)", show=False, id="log.previous", tooltip="The evidence line before"),
    ]

    snapshot: var[Snapshot] = var(Snapshot)

    def __init__(
        self, nodes: tuple[Node, ...] = (), paths: tuple[str, ...] = (), cases: UseCases | None = None
    ) -> None:
        super().__init__()
        self._given = nodes or (Node(name=socket.gethostname()),)
        self._paths = paths
        self._cases = cases or use_cases()

    def on_mount(self) -> None:
        """Show the overview at once, and look at the nodes behind it."""
        self.snapshot = Snapshot(nodes=self._given)
        self.add_mode("overview", lambda: OverviewPlace(self._given).data_bind(Doctor.snapshot))
        self.add_mode("log", lambda: LogPlace().data_bind(Doctor.snapshot))
        self.switch_mode("overview")
        self._begin(Activity.SCAN, journey.scan(self._cases, self._given))
        if self._paths:
            self._begin(Activity.DIAGNOSE, journey.read_files(self._cases, self._paths))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Of Textual's own commands only the theme; the places offer the rest."""
        yield SystemCommand("Theme", "change the colours", self.action_change_theme)

    # What workers report ---------------------------------------------------------------------------------------------

    def _begin(self, activity: Activity, outcomes: Outcomes) -> None:
        self.post_message(Happened(Began(activity)))
        self.run_worker(partial(self._report, activity, outcomes), thread=True, exclusive=True, group=activity.value)

    def _report(self, activity: Activity, outcomes: Outcomes) -> None:
        """Post each outcome of a journey; on a worker's thread, until the worker is cancelled."""
        worker = get_current_worker()
        try:
            for outcome in outcomes:
                if worker.is_cancelled:
                    return
                self.post_message(Happened(outcome))
        except NcclcheckError as error:
            self.post_message(Happened(Failed(activity, str(error))))
        else:
            self.post_message(Happened(Ended(activity)))

    def on_happened(self, message: Happened) -> None:
        """Fold an outcome into the snapshot."""
        outcome = message.outcome
        self.snapshot = advance(self.snapshot, outcome)
        self.refresh_bindings()
        if isinstance(outcome, Copied):
            self.copy_to_clipboard(outcome.text)
            self.notify(f"Copied. If your terminal dropped it: {wording.line(outcome.path)}", markup=False)
        if isinstance(outcome, Diagnosed) and self.snapshot.running_in(Activity.DIAGNOSE):
            self.switch_mode("log")

    # What people do --------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Grey out what does not apply now."""
        if action in ("stop", "evidence"):
            return self.snapshot.busy if action == "stop" else isinstance(self.screen, LogPlace)
        return True if action == "log" or applies(action, self.snapshot) else None

    def on_paste(self, event: events.Paste) -> None:
        """A pasted log is diagnosed without a question, from any place."""
        if not event.text.strip():
            return
        while isinstance(self.screen, Dialog):
            self.pop_screen()
        self._read(journey.read_paste(self._cases, event.text, self.snapshot.facts))

    def _read(self, outcomes: Outcomes) -> None:
        # What was asked for last is what the screen should end up with.
        self._stop(Activity.PROBE)
        self._begin(Activity.DIAGNOSE, outcomes)

    def action_place(self, mode: str) -> None:
        """Go to a place."""
        self.switch_mode(mode)

    def action_log(self) -> None:
        """Go to the log."""
        self.switch_mode("log")

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
        finding = self._finding()
        if finding is not None and finding.fixes:
            self._ask(FixDialog(finding, best_fix(finding, tuple(filter(advice.appliable, finding.fixes)))))

    def on_fix_dialog_asked(self, message: FixDialog.Asked) -> None:
        """Work out the plan of a fix."""
        self._begin(Activity.FIX, journey.preview(self._cases, message.fix, self.snapshot.nodes))

    def on_fix_dialog_agreed(self) -> None:
        """The yes was given: write, and prove it."""
        self._begin(Activity.FIX, journey.prove(self._cases, self.snapshot))

    def on_fix_dialog_undo(self) -> None:
        """Take it back."""
        self._begin(Activity.FIX, journey.undo(self._cases, self.snapshot))

    def action_speed(self) -> None:
        """Measure between our two nodes, or ask where the other one is."""
        now = self.snapshot
        if len(now.nodes) > 1:
            self._begin(Activity.SPEED, journey.measure(self._cases, now))
        else:
            self._ask(SpeedDialog(*wording.own_end(now)), self._measure_here)

    def _measure_here(self, side: Side | None) -> None:
        if side is not None:
            self._begin(Activity.SPEED, journey.measure_here(self._cases, side))

    def action_what_if(self) -> None:
        """Try other settings without changing anything."""
        self._ask(WhatIfDialog(wording.present_version(self.snapshot)))

    def action_copy(self) -> None:
        """Copy what is looked at, and save it."""
        finding = self._finding()
        text = advice.report(finding, self.snapshot.document) if finding else wording.summary(self.snapshot)
        self._begin(Activity.COPY, journey.copy(text, clipboard.save))

    def action_evidence(self, step: int) -> None:
        """Go along the evidence; the key stands here so that the footer keeps its order."""
        if isinstance(self.screen, LogPlace):
            self.screen.go_along(step)

    def action_read(self) -> None:
        """Take the message about a failure away."""
        self.post_message(Happened(Read()))

    def action_stop(self) -> None:
        """End everything after its present step."""
        for activity in (Activity.PROBE, Activity.DIAGNOSE, Activity.FIX, Activity.SPEED):
            self._stop(activity)

    def _stop(self, activity: Activity) -> None:
        if self.workers.cancel_group(self, activity.value):
            self.post_message(Happened(Stopped(activity)))

    def action_help(self) -> None:
        """Show the keys that work here."""
        bound = [active.binding for active in self.screen.active_bindings.values() if not active.binding.system]
        bound.sort(key=lambda key: not (key.id or "").startswith("log."))  # What only this place has comes first.
        keys = ((self.get_key_display(key), key.tooltip) for key in bound if key.tooltip)
        self._ask(HelpDialog(wording.keys(keys)))

    def _finding(self) -> Finding | None:
        places = [screen for screen in self.screen_stack if isinstance(screen, Place)]
        return places[-1].finding if places else None

    def _ask(self, dialog: Dialog[Side] | Dialog[None], then: Callable[[Side | None], None] | None = None) -> None:
        # Binding works only from the app's own message loop, not from that of the screen whose key was pressed.
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
