"""What goes on behind the screens: workers run the journeys on threads and post what happens; one handler folds it
into one snapshot, which the places receive by data binding. No use case is ever called on the thread that handles keys.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from functools import partial

from textual import events, on
from textual.app import App
from textual.driver import Driver
from textual.reactive import var

from ncclcheck.model import Node, Where
from ncclcheck.speedtest.plan import Side
from ncclcheck.tui import journey_ranks, peers, rule_making, screens, wording
from ncclcheck.tui.journey import Journey, Outcomes
from ncclcheck.tui.offers import choices
from ncclcheck.tui.outcomes import (
    Activity,
    Began,
    Copied,
    Diagnosed,
    Doing,
    Meets,
    Noted,
    Opened,
    Outcome,
    Probed,
    Renewed,
    Replaced,
    Stopped,
)
from ncclcheck.tui.pairing import Way
from ncclcheck.tui.person import Person
from ncclcheck.tui.real import use_cases
from ncclcheck.tui.reporting import Happened, report
from ncclcheck.tui.rule_trial import RuleKept
from ncclcheck.tui.screens.place import Dialog, Place
from ncclcheck.tui.seam import Stopped as IsStopped
from ncclcheck.tui.seam import UseCases
from ncclcheck.tui.state import Snapshot, advance
from ncclcheck.tui.terminal import clipboard
from ncclcheck.tui.terminal.courtesy import key_pressed
from ncclcheck.tui.terminal.driver import PasteArrives
from ncclcheck.tui.terminal.own import Terminal, own_driver
from ncclcheck.tui.text import reading

_ARRIVING = "taking in the pasted text"


class Working(App[None]):
    """An app with work in the background."""

    snapshot: var[Snapshot] = var(Snapshot)

    def __init__(self, nodes: tuple[Node, ...], cases: UseCases | None) -> None:
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)
        self.given = nodes or (Node(name=socket.gethostname()),)
        self.cases = cases or use_cases()
        self.person = Person()
        self.fixer = Person()

    def on_unmount(self) -> None:
        """Nobody is left whom a pairing could wait for, or who wants a fix to go on."""
        self.person.go()
        self.fixer.go()

    def get_driver_class(self) -> type[Driver]:
        """The driver that takes pastes of any size."""
        return own_driver(super().get_driver_class())

    @property
    def terminal(self) -> Terminal | None:
        """The terminal that it runs in; none in a browser."""
        return self._driver if isinstance(self._driver, Terminal) else None

    async def on_event(self, event: events.Event) -> None:
        """Whoever works in the background makes way for keys and mouse."""
        if isinstance(event, events.InputEvent):
            key_pressed()
        await super().on_event(event)

    @on(Driver.SignalResume)
    def _draw_anew(self) -> None:
        # Textual (8.2.8) does so after a suspension of its own, not after Ctrl-Z.
        self.refresh(layout=True)

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
        if activity is Activity.FIX and self.snapshot.running_in(activity):
            # What is being written or taken back at this moment has to be told when it is done.
            self.fixer.go()
            self.post_message(Happened(Noted(activity, "ends after this step")))
        elif self.workers.cancel_group(self, activity.value):
            self.post_message(Happened(Stopped(activity)))

    def read(self, outcomes: Outcomes) -> None:
        """Diagnose a text: what was asked for last is what the screen should end up with."""
        self.stop(Activity.PROBE)
        self.begin(Activity.DIAGNOSE, outcomes)

    def fix(self, outcomes: Callable[[IsStopped], Outcomes]) -> None:
        """Go the way of a fix, or back; it ends by itself after a step when it should."""
        self.fixer = Person()
        self.begin(Activity.FIX, outcomes(self.fixer.gone))

    def pair(self, outcomes: Callable[[Person], Outcomes]) -> None:
        """Begin a pairing, with somebody at the keys who can be asked."""
        self.stop(Activity.PAIR)
        self.person = Person()
        self.begin(Activity.PAIR, outcomes(self.person))

    def on_paste_arrives(self, message: PasteArrives) -> None:
        """Say that a large text is on its way; it takes the place of whatever is being read."""
        steps = self.snapshot.steps_of(Activity.DIAGNOSE)
        if not self.snapshot.running_in(Activity.DIAGNOSE) or steps[-1].text != _ARRIVING:
            self.stop(Activity.DIAGNOSE)
            self.post_message(Happened(Doing(Activity.DIAGNOSE, _ARRIVING)))
        self.post_message(Happened(Noted(Activity.DIAGNOSE, f"{message.size >> 20} MiB")))

    # Rules of one's own ----------------------------------------------------------------------------------------------

    def make_rule(self, where: Where, line: str) -> None:
        """Ask what the rule should be, with a proposal."""
        self.ask(screens.rule_draft.RuleDialog(where, line, self.snapshot.own_rule))
        self.begin(Activity.TRIAL, rule_making.propose(where, line, self.snapshot.document))

    def on_rule_dialog_asked(self, message: screens.rule_draft.RuleDialog.Asked) -> None:
        """Try the pattern on what is shown; whatever is typed next ends it."""
        self.begin(Activity.TRIAL, rule_making.try_pattern(message.pattern, message.line, self.snapshot.document))

    def on_rule_dialog_wanted(self, message: screens.rule_draft.RuleDialog.Wanted) -> None:
        """Keep the rule."""
        self.begin(Activity.RULE, rule_making.keep(self.cases, message.draft))

    # What they report ------------------------------------------------------------------------------------------------

    async def on_happened(self, message: Happened) -> None:
        """Fold an outcome into the snapshot, and let others have their turn: a pairing tells dozens at once."""
        self._take_up(message)
        await asyncio.sleep(0)

    def _take_up(self, message: Happened) -> None:
        outcome = message.outcome
        before = self.snapshot
        self.snapshot = advance(before, outcome)
        if choices(before) != choices(self.snapshot):
            # Each time the footer is made anew; steps come by the dozen.
            self.refresh_bindings()
        if isinstance(outcome, Meets):
            self._meet(outcome.way)
        if peers.question(self.snapshot) and not peers.question(before) and self.at("peers"):
            self.ask(screens.agree.AgreeDialog())
        if isinstance(outcome, Copied):
            self.copy_to_clipboard(outcome.text)
            self.notify(wording.copied(outcome), markup=False)
        self._read_on(outcome)
        if isinstance(outcome, RuleKept):
            self.begin(Activity.DIAGNOSE, rule_making.diagnose_again(self.cases, self.snapshot))
        if isinstance(outcome, Diagnosed | Renewed):
            self.begin(Activity.RANKS, journey_ranks.call_roll(self.snapshot))
        if isinstance(outcome, Opened) and self.snapshot.running_in(Activity.DIAGNOSE):
            self.switch_mode("log")

    def _read_on(self, outcome: Outcome) -> None:
        if isinstance(outcome, Opened):
            self.begin(Activity.INDEX, reading.index(outcome.document))
        if isinstance(outcome, Replaced):
            self.begin(Activity.DIAGNOSE, reading.read_files(self.cases, outcome.paths, again=True))
        if isinstance(outcome, Probed):
            # What NCCL says now takes the place of a log that may still have been followed.
            self.stop(Activity.DIAGNOSE)
            self.stop(Activity.INDEX)

    def copy_to_clipboard(self, text: str) -> None:
        """Hand it to the terminal, also through tmux or screen."""
        if clipboard.fits(text):
            super().copy_to_clipboard(text)
            if self._driver is not None:
                self._driver.write(clipboard.passed_through(text, os.environ))

    def _meet(self, way: Way) -> None:
        if way is Way.CARDS:
            self.stop(Activity.PAIR)
        self.switch_mode("peers")

    # Screens ---------------------------------------------------------------------------------------------------------

    def place(self) -> Place:
        """The uppermost place, under whatever dialogs; an empty one before there is any."""
        places = [screen for screen in self.screen_stack if isinstance(screen, Place)]
        return places[-1] if places else Place()

    def at(self, mode: str) -> bool:
        """Whether this place is on top, without a dialog over it."""
        return isinstance(self.screen, Place) and mode == self.screen.MODE

    def ask(self, dialog: Dialog[Side] | Dialog[None], then: Callable[[Side | None], None] | None = None) -> None:
        """Show a dialog over the place."""
        self.call_next(lambda: self.push_screen(dialog.data_bind(Working.snapshot), then))
