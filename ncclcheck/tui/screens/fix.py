"""The fix dialog: diff → apply → probe again → speed test → before and after. Without a yes nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from ncclcheck.model import Finding, Fix
from ncclcheck.tui import advice, content, speeds_content, wording
from ncclcheck.tui.outcomes import Activity, NodeEdits
from ncclcheck.tui.screens.place import Dialog, footer
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.widgets.headline import Headline
from ncclcheck.tui.wording import Tone


class FixDialog(Dialog[None]):
    """Shows one finding's fixes, one at a time."""

    CSS_PATH: ClassVar = ["dialog.tcss", "fix.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "a", "apply", "Apply and prove", id="fix.apply", tooltip="Write the change, then probe and measure again"
        ),
        Binding("u", "undo", "Undo", id="fix.undo", tooltip="Take the change back on every node"),
        Binding("x", "app.stop", "Stop", id="fix.stop", tooltip="End after the present step"),
        Binding("left", "other(-1)", "Other fix", show=False, id="fix.previous", tooltip="The fix before this one"),
        Binding("right", "other(1)", "Other fix", id="fix.next", tooltip="The next way to fix it"),
        Binding("up", "scroll(-1)", show=False, id="fix.up", tooltip="Scroll up"),
        Binding("down", "scroll(1)", show=False, id="fix.down", tooltip="Scroll down"),
        Binding("c", "app.copy", "Copy", id="fix.copy", tooltip="Copy this fix as text, also for other nodes"),
        Binding("C", "app.plain", show=False, id="fix.plain", tooltip="Show it as plain text, to be marked"),
        Binding("L", "app.launcher", show=False, id="fix.launcher", tooltip="Tell it for another launcher"),
        Binding("enter", "done", show=False, id="fix.done", tooltip="Back, once it has come to its end"),
    ]

    class Asked(Message):
        """Somebody wants to see what a fix would change."""

        def __init__(self, fix: Fix) -> None:
            super().__init__()
            self.fix = fix

    class Agreed(Message):
        """Somebody said yes to the plan on the screen."""

    class Undo(Message):
        """Somebody wants the changes taken back."""

    def __init__(self, finding: Finding, first: Fix) -> None:
        super().__init__()
        self.finding = finding
        self._number = finding.fixes.index(first)

    @property
    def fix(self) -> Fix:
        """The fix on the screen."""
        return self.finding.fixes[self._number]

    def compose(self) -> ComposeResult:
        """Lay out the dialog."""
        yield Headline().data_bind(Dialog.snapshot)
        with Vertical(id="dialog"):
            yield Static(id="title", markup=False)
            with VerticalScroll(id="body", can_focus=False):
                yield Static(id="text", markup=False)
            yield Static(id="hint", markup=False)
        yield footer()

    def on_mount(self) -> None:
        """Ask for the plan."""
        self._show(self.snapshot)
        self.post_message(self.Asked(self.fix))

    def watch_snapshot(self, now: Snapshot) -> None:
        """Show how far it is."""
        if self.is_mounted:
            self._show(now)
            self.refresh_bindings()

    def _show(self, now: Snapshot) -> None:
        others = self._many and not self._under_way(now)
        many = f"  ({self._number + 1} of {len(self.finding.fixes)}, ← → for the others)" if others else ""
        self.query_one("#title", Static).update(content.piece(wording.line(self.fix.title) + many, Tone.STRONG))
        body = self.query_one("#body", VerticalScroll)
        self.query_one("#text", Static).update(content.lines(self._body(now)))
        self.query_one("#hint", Static).update(self._hint(now))
        if self._under_way(now):
            # The newest step while it goes on, the proof at the end.
            body.scroll_to(y=body.max_scroll_y if now.busy else 0, animate=False)

    def _body(self, now: Snapshot) -> Iterator[Content]:
        if self._under_way(now):
            yield from self._progress(now)
        elif refusal := advice.unapplied(self.fix):
            yield self._by_hand(now)
            yield Content()
            yield content.piece(refusal)
        elif (planned := self._plan(now)) is not None:
            yield content.plan(planned)
            yield from (content.piece(f"! {text}", Tone.WARNING) for text in advice.cautions(now, self.fix))
            yield from self._elsewhere(now)
        elif now.failure is None:
            yield content.piece("working out what would change…", Tone.MUTED)

    def _progress(self, now: Snapshot) -> Iterator[Content]:
        """What came of it, the steps, and what is to be done on other nodes."""
        if now.comparison is not None and not now.busy:
            yield speeds_content.comparison(now.comparison)
            yield Content()
        if (ended := advice.outcome(now)) is not None:
            yield content.said(ended)
            yield Content()
        yield content.steps(now.steps_of(Activity.FIX))
        if now.changes and not now.busy:
            yield from self._elsewhere(now)

    def _elsewhere(self, now: Snapshot) -> Iterator[Content]:
        lines = advice.elsewhere(now, self.fix)
        if lines:
            yield Content()
        yield from (content.piece(text, Tone.STRONG if number else Tone.PLAIN) for number, text in enumerate(lines))

    def _by_hand(self, now: Snapshot) -> Content:
        from ncclcheck.tui import findings_content

        return findings_content.fix(self.fix, max(1, self.query_one("#body").size.width - 1), now.launcher)

    def _hint(self, now: Snapshot) -> Content:
        if advice.appliable(self.fix) and self._plan(now) is None:
            return Content()
        return content.said(advice.fix_hint(now, appliable=self._appliable(now), under_way=self._under_way(now)))

    def _under_way(self, now: Snapshot) -> bool:
        return bool(now.steps_of(Activity.FIX))

    def _plan(self, now: Snapshot) -> tuple[NodeEdits, ...] | None:
        return now.plan if now.fix is self.fix else None

    def _appliable(self, now: Snapshot) -> bool:
        return advice.appliable(self.fix) and any(change.edits for change in self._plan(now) or ())

    @property
    def _many(self) -> bool:
        return len(self.finding.fixes) > 1

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what applies now is in the footer."""
        now = self.snapshot
        match action:
            case "apply":
                return self._appliable(now) and not self._under_way(now)
            case "undo":
                return bool(now.changes) and not now.busy
            case "other":
                return self._many and not self._under_way(now)
            case "app.stop":
                return now.busy
            case "done":
                return self._under_way(now) and not now.busy
            case _:
                return True

    def action_apply(self) -> None:
        """Yes."""
        self.post_message(self.Agreed())

    def action_undo(self) -> None:
        """Take it back."""
        self.post_message(self.Undo())

    def action_other(self, step: int) -> None:
        """Show another way to fix it."""
        self._number = (self._number + step) % len(self.finding.fixes)
        self._show(self.snapshot)
        self.post_message(self.Asked(self.fix))

    def action_done(self) -> None:
        """Go back."""
        self.dismiss(None)

    @property
    def copied(self) -> str:
        """This fix, with what to do on other nodes."""
        return advice.copied_fix(self.snapshot, self.fix)
