"""The place of the setup: what to choose before it begins; then its steps, with the one at hand opened."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from ncclcheck.tui import content
from ncclcheck.tui.outcomes import NodeEdits
from ncclcheck.tui.screens.place import Dialog, Place, footer
from ncclcheck.tui.screens.setup_dialogs import PageDialog, ReasonDialog, TakeBackDialog
from ncclcheck.tui.setup import words as setup_words
from ncclcheck.tui.setup.commands import SetupCommands
from ncclcheck.tui.setup.values import Agreement, Asking, Preparing, StepView, Told, Wanted, Wishing
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.widgets.headline import Headline
from ncclcheck.tui.widgets.setup_form import SetupForm
from ncclcheck.tui.widgets.step_list import StepList

_UNSEEN = 0.5
"""Seconds in which a question cannot have been read: a key that was meant for something else is no yes."""


class SetupPlace(Place):
    """From two fresh nodes to a measured bandwidth."""

    MODE = "setup"
    CSS_PATH = "setup.tcss"
    COMMANDS: ClassVar = {SetupCommands}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "go_on", show=False, id="setup.next", tooltip="The next best step: begin, yes, look again"),
        Binding("y", "agree(True)", "Yes", id="setup.yes", tooltip="Write what is shown on this node"),
        Binding("n", "agree(False)", "No", id="setup.no", tooltip="Write nothing on this node"),
        Binding("k", "skip", "Skip", id="setup.skip", tooltip="Leave this step out; you are asked why"),
        Binding("r", "repeat", "Repeat", id="setup.repeat", tooltip="Go back: from this step on nothing counts"),
        Binding("u", "take_back", "Undo", id="setup.undo", tooltip="Put back what was written on this node"),
        Binding("b", "anew", "Begin anew", id="setup.anew", tooltip="Choose again, and begin another setup"),
        Binding("tab", "app.focus_next", "Next pane", show=False, id="setup.pane", tooltip="The steps, the step"),
        Binding("pageup", "scroll_step(-1)", "Up", show=False, id="setup.up", tooltip="Scroll the step up"),
        Binding("pagedown", "scroll_step(1)", "Down", show=False, id="setup.down", tooltip="Scroll the step down"),
    ]

    class Shown(Message):
        """Somebody came here, and nothing is under way."""

    class Begun(Message):
        """Somebody wants a setup with these choices."""

        def __init__(self, wanted: Wanted) -> None:
            super().__init__()
            self.wanted = wanted

    class Replied(Message):
        """Somebody answered a question."""

        def __init__(self, asking: Asking, said: object) -> None:
            super().__init__()
            self.asking = asking
            self.said = said

    class TakenBack(Message):
        """Somebody wants back what was there before a setup that has ended."""

    class Opens(Message):
        """A small question, or a page, comes over the place."""

        def __init__(self, dialog: Dialog[str], then: Callable[[str | None], None] | None = None) -> None:
            super().__init__()
            self.dialog = dialog
            self.then = then

    class Anew(Message):
        """Somebody wants to choose again."""

    def __init__(self) -> None:
        super().__init__()
        self._asked_at = 0.0
        self._told: object = None
        """What is shown, and why."""
        self._opened = ""
        """The step that is shown."""
        self._deeds: tuple[bool, ...] = ()
        """Which of them apply now."""
        self._left_out: dict[str, str] = {}
        """Steps that are about to be left out, with the reasons."""

    # What it shows ---------------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        """Lay out the place."""
        yield Headline(setup_words.verdict).data_bind(Place.snapshot)
        yield SetupForm(id="form")
        with Container(id="panes"):
            yield StepList(id="steps")
            with VerticalScroll(id="detail"):
                yield Static(id="detail-text", markup=False)
        yield Static(id="next", markup=False)
        yield footer()

    def on_mount(self) -> None:
        """Begin with what there is."""
        self._show(self.snapshot)

    def on_screen_resume(self) -> None:
        """What can be chosen may have changed."""
        if not setup_words.goes_on(self.snapshot):
            self.post_message(self.Shown())

    def watch_snapshot(self, old: Snapshot, now: Snapshot) -> None:
        """Show what is new."""
        if not self.is_mounted:
            return
        if old.guided.asking is not now.guided.asking:
            self._asked_at, self._left_out = monotonic(), {}
        if (old.guided, setup_words.goes_on(old)) != (now.guided, setup_words.goes_on(now)):
            self._show(now)

    def _show(self, now: Snapshot) -> None:
        begun = setup_words.begun(now)
        # Cheaper than classes, for which the whole screen would be styled anew.
        self.query_one("#panes").display = begun
        self.query_one(SetupForm).display = not begun
        self.set_class(now.guided.asking is not None, "-asked")
        if begun:
            self._steps.show(
                setup_words.steps(now), setup_words.at(now, frozenset(self._left_out)), frozenset(self._left_out)
            )
            if self.focused is None or self.focused not in (self._steps, self._detail):
                self._steps.focus()
        else:
            self.query_one(SetupForm).offer(now.guided)
            self.query_one(SetupForm).take_focus()
            self._tell()

    def _tell(self) -> None:
        """The step under the cursor, or the question; and what to do next."""
        now, step = self.snapshot, self._step
        hint = setup_words.hint(now, self.query_one(SetupForm).state)
        told = (setup_words.told(now, step), now.guided.asking, hint)
        if told != self._told:
            # Each time it is laid out anew; most of what happens changes nothing here.
            self._told = told
            self.query_one("#detail-text", Static).update(self._opened_step(told[0]))
            self.query_one("#next", Static).update(content.said(hint))
        deeds = tuple(setup_words.may(deed, now, step) for deed in setup_words.DEEDS)
        if deeds != self._deeds:
            self._deeds = deeds
            self.refresh_bindings()

    def _opened_step(self, told: Told) -> Content:
        parts = [content.piece(text, tone) for text, tone in told]
        asking, node = self.snapshot.guided.asking, self.snapshot.nodes[:1]
        if isinstance(asking, Agreement):
            parts += [Content(), content.plan([NodeEdits(one, asking.edits) for one in node])]
        return content.lines(parts)

    def on_row_list_moved(self) -> None:
        """Open the step under the cursor; whoever reads in it stays where he is."""
        self._tell()
        opened = self._step.id if self._step else ""
        if opened != self._opened:
            self._opened = opened
            self._detail.scroll_home(animate=False)

    def on_setup_form_changed(self) -> None:
        """What is said about the choices."""
        self._tell()

    @property
    def _steps(self) -> StepList:
        return self.query_one(StepList)

    @property
    def _detail(self) -> VerticalScroll:
        return self.query_one("#detail", VerticalScroll)

    @property
    def _step(self) -> StepView | None:
        return self._steps.step if setup_words.begun(self.snapshot) else None

    @property
    def copied(self) -> str:
        """The line for the other node, the summary, or what belongs to the step."""
        return setup_words.copied(self.snapshot, self._step) or super().copied

    # What can be done ------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what applies now is in the footer."""
        if action in setup_words.DEEDS and self.is_mounted:
            return setup_words.may(action, self.snapshot, self._step)
        return super().check_action(action, parameters)

    async def action_go_on(self) -> None:
        """The next best step."""
        now, step = self.snapshot, self._step
        asking = now.guided.asking
        if not setup_words.begun(now):
            self._begin()
        elif self.focused is self._detail and step is not None and step.page:
            self.post_message(self.Opens(PageDialog(step.page)))
        elif isinstance(asking, Agreement):
            self.action_agree(True)
        elif asking is not None:
            self._reply(asking, self._usual(asking))
        elif not setup_words.goes_on(now):
            await self._after()

    def _begin(self) -> None:
        form = self.query_one(SetupForm)
        if self.snapshot.guided.beginning is not None and not form.state.problem:
            self.post_message(self.Begun(form.wanted))

    def on_setup_form_submitted(self) -> None:
        """Enter in a line of text begins as well."""
        self._begin()

    def _usual(self, asking: Asking) -> object:
        from ncclcheck.doctor.setup.person import Repeat

        return tuple(self._left_out.items()) if isinstance(asking, Preparing) else Repeat()

    async def _after(self) -> None:
        """Copy the summary; where there is none, take it up again."""
        led = self.snapshot.guided.led
        if led is not None and led.ready:
            await self.run_action("app.copy")
        else:
            self.post_message(self.Begun(Wanted(resume=True)))

    def action_agree(self, yes: bool) -> None:
        """Answer whether this may be written; a yes counts once the question can have been read."""
        asking = self.snapshot.guided.asking
        if asking is not None and (not yes or monotonic() - self._asked_at > _UNSEEN):
            self._reply(asking, yes)

    def action_skip(self) -> None:
        """Ask why."""
        if self._step is not None:
            self.post_message(self.Opens(ReasonDialog(self._step.title), self._skip))

    def _skip(self, reason: str | None) -> None:
        from ncclcheck.doctor.setup.person import Skip

        asking, step = self.snapshot.guided.asking, self._step
        if not reason or step is None:
            return
        if isinstance(asking, Preparing):
            self._left_out[step.id] = reason
            self._show(self.snapshot)
        elif isinstance(asking, Wishing):
            self._reply(asking, Skip(step.id, reason))

    def action_repeat(self) -> None:
        """From the step under the cursor on."""
        from ncclcheck.doctor.setup.person import Repeat

        asking, step = self.snapshot.guided.asking, self._step
        if step is None:
            return
        if asking is not None:
            self._reply(asking, Repeat(step.id))
        else:
            self.post_message(self.Begun(Wanted(resume=True, again=step.id)))

    def action_take_back(self) -> None:
        """Ask before anything is written."""
        self.post_message(self.Opens(TakeBackDialog(), self._take_back))

    def _take_back(self, yes: str | None) -> None:
        from ncclcheck.doctor.setup.person import TakeBack

        asking = self.snapshot.guided.asking
        if yes and asking is not None:
            self._reply(asking, TakeBack())
        elif yes:
            self.post_message(self.TakenBack())

    def action_anew(self) -> None:
        """Back to the choices."""
        self.post_message(self.Anew())

    def action_scroll_step(self, direction: int) -> None:
        """Move the text by half of what is visible."""
        self._detail.scroll_relative(y=direction * max(1, self._detail.size.height // 2), animate=False)

    def _reply(self, asking: Asking, said: object) -> None:
        self.post_message(self.Replied(asking, said))
