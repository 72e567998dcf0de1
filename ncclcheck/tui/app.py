"""The application: modes, keys and what they do, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import ClassVar

from textual import events
from textual.app import SuspendNotSupported, SystemCommand
from textual.screen import Screen

from ncclcheck.model import Node, Where
from ncclcheck.peer import invitation
from ncclcheck.speedtest.plan import Side
from ncclcheck.tui import advice, fixing, journey, journey_history, peers, screens, wording
from ncclcheck.tui.keys import KEYS
from ncclcheck.tui.leading import Leading
from ncclcheck.tui.offers import best_fix
from ncclcheck.tui.outcomes import Activity, Answered, Read
from ncclcheck.tui.outcomes_told import Chose
from ncclcheck.tui.places import DESTINATIONS
from ncclcheck.tui.reporting import Happened
from ncclcheck.tui.screens.place import Dialog, Place
from ncclcheck.tui.seam import UseCases
from ncclcheck.tui.setup.values import is_invitation
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.terminal import aside, clipboard
from ncclcheck.tui.terminal.courtesy import SETTLED, settle
from ncclcheck.tui.text import reading
from ncclcheck.tui.working import Working

_ONLY = {
    **dict.fromkeys(("rule", "finding", "evidence"), "log"),
    **dict.fromkeys(("prove", "invite", "join"), "peers"),
}
"""Actions that one place alone has."""


class Doctor(Leading):
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
        for place in DESTINATIONS:
            self.add_mode(place.mode, partial(self._place, place.mode))
        self.switch_mode("overview")
        self.set_timer(SETTLED, settle)
        self.begin(Activity.SCAN, journey.scan(self.cases, self.given))
        if self._paths:
            self.begin(Activity.DIAGNOSE, reading.read_files(self.cases, self._paths))

    def _place(self, mode: str) -> Place:
        made: type[Place] = getattr(getattr(screens, mode), f"{mode.title()}Place")
        screen = (screens.overview.OverviewPlace(self.given) if mode == "overview" else made()).data_bind(
            Working.snapshot
        )
        # Textual (8.2.8, App._init_mode) would take its style for old, and parse every style sheet twice more.
        screen._css_update_count = self._css_update_count
        self.call_after_refresh(settle)  # A place stays.
        return screen

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Of Textual's own commands only the theme; the places offer the rest."""
        yield SystemCommand("Theme", "change the colours", self.action_change_theme)

    # What people do --------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Grey out what does not apply now."""
        if action == "stop":
            return self.snapshot.busy
        if action in _ONLY and not self.at(_ONLY[action]):
            return False
        if action in ("mouse", "suspend_process"):
            return self.terminal is not None
        if action == "prove" and self.snapshot.busy:
            return False  # The footer has room for it or for Stop.
        return True if action == "log" or self.place().applies(action) else None

    def on_paste(self, event: events.Paste) -> None:
        """A pasted text is read without a question, from any place; cards are compared, an invitation is shown."""
        if not event.text or event.text.isspace():
            return
        while isinstance(self.screen, Dialog):
            self.pop_screen()
        to_join = invitation.looks_like(event.text)
        if is_invitation(event.text) or (to_join and self.at("setup")):
            self.join_setup(event.text)
            return
        if to_join:
            self.ask(screens.join.JoinDialog(event.text))
            return
        self.read(journey.read_paste(self.cases, event.text, self.snapshot.facts))

    def action_place(self, mode: str) -> None:
        """Go to a place."""
        # Its data is bound at the first time, which works only from the app's own message loop.
        self.call_next(self.switch_mode, mode)
        if mode in ("speeds", "history"):
            self.begin(Activity.HISTORY, journey_history.look(self.cases, self.snapshot))

    def action_log(self) -> None:
        """Go to the log."""
        self.action_place("log")

    def on_ranks_place_asked(self, message: screens.ranks.RanksPlace.Asked) -> None:
        """Show a line where the log is."""
        self.action_log()
        self.call_next(self._point_at, message.where)

    def _point_at(self, where: Where) -> None:
        if isinstance(self.screen, screens.log.LogPlace):
            self.screen.pane.point_to(where)

    def on_history_place_whole(self, message: screens.history.HistoryPlace.Whole) -> None:
        """Show it on a whole screen."""
        self.ask(screens.history.WholeDialog(message.told))

    def on_history_place_undo(self, message: screens.history.HistoryPlace.Undo) -> None:
        """Show what taking a change back would write."""
        self.ask(screens.history_undo.UndoDialog(message.made))

    def on_undo_dialog_agreed(self, message: screens.history_undo.UndoDialog.Agreed) -> None:
        """The yes was given."""
        self.fix(lambda stopped: journey_history.take_back(self.cases, message.made, self.snapshot, stopped))

    def action_peers(self) -> None:
        """Go to what is between nodes."""
        self.action_place("peers")

    def action_invite(self) -> None:
        """Find out what is wrong between our nodes, or wait for another one."""
        self.pair(lambda person: journey.invite(self.cases, self.snapshot, person))

    def action_join(self) -> None:
        """Ask for what the other node shows."""
        self.ask(screens.join.JoinDialog())

    def on_join_dialog_asked(self, message: screens.join.JoinDialog.Asked) -> None:
        """Take part in it."""
        self.pair(lambda person: journey.join(self.cases, message.text, self.snapshot, person))

    def on_agree_dialog_answered(self, message: screens.agree.AgreeDialog.Answered) -> None:
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
        self.ask(screens.open.OpenDialog())

    def on_open_dialog_asked(self, message: screens.open.OpenDialog.Asked) -> None:
        """Read it."""
        self.read(reading.read_files(self.cases, (message.path,)))

    def action_fix(self) -> None:
        """Show what would change."""
        finding = self.place().finding
        if self.at("peers") and peers.question(self.snapshot):
            self.ask(screens.agree.AgreeDialog())
        elif finding is not None and finding.fixes:
            self.ask(screens.fix.FixDialog(finding, best_fix(finding, tuple(filter(advice.appliable, finding.fixes)))))

    def on_fix_dialog_asked(self, message: screens.fix.FixDialog.Asked) -> None:
        """Work out the plan of a fix."""
        self.begin(Activity.FIX, fixing.preview(self.cases, message.fix, self.snapshot))

    def on_fix_dialog_agreed(self) -> None:
        """The yes was given: write, and prove it."""
        self.fix(lambda stopped: fixing.prove(self.cases, self.snapshot, stopped))

    def on_fix_dialog_undo(self) -> None:
        """Take it back."""
        self.fix(lambda stopped: fixing.undo(self.cases, self.snapshot, stopped))

    def action_speed(self) -> None:
        """Measure between our two nodes, or ask where the other one is."""
        now = self.snapshot
        self.action_place("speeds")
        if len(now.nodes) > 1:
            self.begin(Activity.SPEED, journey.measure(self.cases, now))
        else:
            self.ask(screens.speed.SpeedDialog(*wording.own_end(now)), self._measure_here)

    def _measure_here(self, side: Side | None) -> None:
        if side is not None:
            self.begin(Activity.SPEED, journey.measure_here(self.cases, side, self.snapshot))

    def on_what_if_dialog_asked(self, message: screens.whatif.WhatIfDialog.Asked) -> None:
        """Work it out; whatever is typed next ends it."""
        self.begin(Activity.WHAT_IF, fixing.foresee(self.cases, message.change, message.nccl, self.snapshot))

    def action_what_if(self) -> None:
        """Try other settings without changing anything."""
        self.ask(screens.whatif.WhatIfDialog(wording.present_version(self.snapshot)))

    def action_copy(self) -> None:
        """Copy what is looked at, and save it."""
        self.begin(Activity.COPY, journey.copy(self._copied, clipboard.save))

    def action_plain(self) -> None:
        """Show the same on the normal screen, for what neither clipboard nor file can do."""
        try:
            with self.suspend():
                aside.show(self._copied)
        except SuspendNotSupported:
            self.notify("The screen cannot be left here. c saves the text in a file.", markup=False)

    @property
    def _copied(self) -> str:
        return (self.screen.copied if isinstance(self.screen, Dialog) else "") or self.place().copied

    def action_launcher(self) -> None:
        """Tell fixes in the words of the next launcher."""
        self.post_message(Happened(Chose(advice.next_launcher(self.place().finding, self.snapshot.launcher))))

    def action_best(self) -> None:
        """Take the next best step of this place."""
        self.call_next(self.run_action, f"app.{self.place().best}")

    def action_finding(self, step: int) -> None:
        """The next finding; the key stands here so that the footer keeps its order."""
        if isinstance(self.screen, screens.log.LogPlace):
            self.screen.go_to_finding(step)

    def on_log_place_asks_filter(self) -> None:
        """Ask for a filter."""
        if isinstance(self.screen, screens.log.LogPlace):
            self.ask(screens.filter.FilterDialog(self.screen.pane.narrow))

    def action_evidence(self, step: int) -> None:
        """Go along the evidence."""
        if isinstance(self.screen, screens.log.LogPlace):
            self.screen.go_along(step)

    def action_rule(self) -> None:
        """Make a rule from the line under the cursor."""
        view = self.screen.pane.view if isinstance(self.screen, screens.log.LogPlace) else None
        if view is not None and view.current is not None and view.current_text.strip():
            self.make_rule(view.current, view.current_text)

    def action_read(self) -> None:
        """Take the message about a failure away."""
        self.post_message(Happened(Read()))

    def action_stop(self) -> None:
        """End everything after its present step."""
        for activity in (
            Activity.PROBE,
            Activity.DIAGNOSE,
            Activity.FIX,
            Activity.SPEED,
            Activity.PAIR,
            Activity.SETUP,
        ):
            # A log that was diagnosed may still be followed; that is nothing to be ended.
            if activity is not Activity.DIAGNOSE or self.snapshot.running_in(activity):
                self.stop(activity)

    def action_mouse(self) -> None:
        """Let the terminal have its mouse, or take it back."""
        if self.terminal is not None:
            self.terminal.lend_mouse(not self.terminal.mouse_lent)
            self.set_class(self.terminal.mouse_lent, "-mouse-lent")

    def action_help(self) -> None:
        """Show the keys that work here."""
        bound = [active.binding for active in self.screen.active_bindings.values() if not active.binding.system]
        bound.sort(key=lambda key: not (key.id or "").startswith("log."))  # What only this place has comes first.
        keys = ((self.get_key_display(key), key.tooltip) for key in bound if key.tooltip)
        self.ask(screens.help.HelpDialog(wording.keys(keys)))
