"""The history: changes that fixes made, to be taken back, and runs of the speed test, to be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from ncclcheck.tui import history, history_content
from ncclcheck.tui.commands import PlaceCommands
from ncclcheck.tui.screens.place import Dialog, Place, footer
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.widgets.headline import Headline
from ncclcheck.tui.widgets.history_list import HistoryList

if TYPE_CHECKING:
    from ncclcheck.doctor.history import Made


class HistoryPlace(Place):
    """What was changed and measured."""

    MODE = "history"
    CSS_PATH = "listed.tcss"
    COMMANDS: ClassVar = {PlaceCommands}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "undo", "Undo", id="history.undo", tooltip="See what taking this change back writes, and do it"),
        Binding("space", "mark", "Compare", id="history.mark", tooltip="Mark a run; two marked ones are compared"),
        Binding("enter", "whole", "Whole", id="history.whole", tooltip="Show the change or the run on a whole screen"),
        Binding("tab", "app.focus_next", "Next pane", show=False, id="history.pane", tooltip="The list, its details"),
    ]

    class Undo(Message):
        """Somebody wants to see what taking a change back would write."""

        def __init__(self, made: Made) -> None:
            super().__init__()
            self.made = made

    class Whole(Message):
        """Somebody wants to see more than there is room for beside the list."""

        def __init__(self, told: Content) -> None:
            super().__init__()
            self.told = told

    def __init__(self) -> None:
        super().__init__()
        self._marked: tuple[str, ...] = ()
        self._usable: tuple[bool | None, ...] = ()

    @property
    def copied(self) -> str:
        """The whole place as text."""
        return history_content.text(self.snapshot)

    def applies(self, action: str) -> bool:
        """There is always something to copy here."""
        return action == "copy" or super().applies(action)

    def compose(self) -> ComposeResult:
        """Lay out the place."""
        yield Headline().data_bind(Place.snapshot)
        yield Static(id="counts", markup=False)
        with Container(id="panes"):
            with Container(id="listed"):
                yield HistoryList(id="table")
            with VerticalScroll(id="detail"):
                yield Static(id="detail-text", markup=False)
        yield footer()

    def on_mount(self) -> None:
        """Begin with the list in hand."""
        self._show(self.snapshot)

    def watch_snapshot(self, old: Snapshot, now: Snapshot) -> None:
        """Only what is kept changes this place."""
        if not self.is_mounted:
            return
        if old.made is not now.made or old.runs is not now.runs:
            self._show(now)
        elif old.busy != now.busy:
            self.refresh_bindings()

    def _show(self, now: Snapshot) -> None:
        self.query_one("#counts", Static).update(history_content.counts(now))
        rows = history.rows(now, self._marked)
        self.set_class(not rows, "-none")
        self.query_one(HistoryList).show(rows)
        if rows and self.focused is None:
            self.query_one(HistoryList).focus()

    def on_row_list_moved(self) -> None:
        """Show what stands under the cursor in full."""
        self.query_one("#detail-text", Static).update(self._details(self.query_one("#detail").size.width))
        self.query_one("#detail").scroll_home(animate=False)
        usable = tuple(self.check_action(action, ()) for action in ("undo", "mark"))
        if usable != self._usable:
            # Each time the footer is made anew.
            self._usable = usable
            self.refresh_bindings()

    def _details(self, room: int) -> Content:
        return history_content.details(self.query_one(HistoryList).row, self.snapshot, self._marked, room)

    async def on_row_list_clicked(self) -> None:
        """A second click on a row is Enter."""
        await self.run_action("whole")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what applies to the row under the cursor is in the footer."""
        row = self.query_one(HistoryList).row if self.is_mounted else None
        match action:
            case "undo":
                return row is not None and row.made is not None and not self.snapshot.busy
            case "mark":
                return row is not None and row.run is not None
            case "whole":
                return row is not None
            case _:
                return super().check_action(action, parameters)

    def action_undo(self) -> None:
        """Ask before anything is written."""
        row = self.query_one(HistoryList).row
        if row is not None and row.made is not None:
            self.post_message(self.Undo(row.made))

    def action_mark(self) -> None:
        """Mark the run under the cursor, or take the mark away; of three the oldest mark goes."""
        row = self.query_one(HistoryList).row
        if row is None or row.run is None:
            return
        others = tuple(one for one in self._marked if one != row.run.id)
        self._marked = others if row.run.id in self._marked else (*others[-1:], row.run.id)
        self._show(self.snapshot)

    def action_whole(self) -> None:
        """Show the details on a whole screen."""
        self.post_message(self.Whole(self._details(self.size.width - 4)))


class WholeDialog(Dialog[None]):
    """A text on a whole screen, to be scrolled."""

    CSS_PATH = "dialog.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "app.copy", "Copy", id="whole.copy", tooltip="Copy what is shown as text, and save it in a file"),
    ]

    def __init__(self, told: Content) -> None:
        super().__init__()
        self._told = told

    @property
    def copied(self) -> str:
        """What is shown."""
        return f"{self._told.plain}\n"

    def compose(self) -> ComposeResult:
        """Lay out the dialog."""
        yield Headline().data_bind(Dialog.snapshot)
        with Container(id="dialog"), VerticalScroll(id="body"):
            yield Static(self._told, markup=False)
        yield footer()
