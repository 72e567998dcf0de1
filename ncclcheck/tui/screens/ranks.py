"""The ranks of the diagnosed job: how far each came, whom it waits for, and the one under the cursor in full."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.message import Message
from textual.widgets import Static

from ncclcheck.model import Where
from ncclcheck.tui import content, ranks_content, ranks_details
from ncclcheck.tui.commands import PlaceCommands
from ncclcheck.tui.screens.place import Place, footer
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.text.document import Document
from ncclcheck.tui.widgets.headline import Headline
from ncclcheck.tui.widgets.rank_table import RankTable


class RanksPlace(Place):
    """A row for each rank, or for those with one story."""

    MODE = "ranks"
    CSS_PATH = "listed.tcss"
    COMMANDS: ClassVar = {PlaceCommands}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.focus_next", "Next pane", show=False, id="ranks.pane", tooltip="The table, its details"),
    ]

    class Asked(Message):
        """Somebody wants to see a line in the log."""

        def __init__(self, where: Where) -> None:
            super().__init__()
            self.where = where

    def __init__(self) -> None:
        super().__init__()
        self._document = Document()

    @property
    def copied(self) -> str:
        """The whole place as text."""
        return ranks_details.text(self.snapshot) if self.snapshot.diagnosis else super().copied

    def compose(self) -> ComposeResult:
        """Lay out the place."""
        yield Headline().data_bind(Place.snapshot)
        yield Static(id="counts", markup=False)
        with Container(id="panes"):
            with Vertical(id="listed"):
                yield Static(id="heading", markup=False)
                yield RankTable(id="table")
            with VerticalScroll(id="detail"):
                yield Static(id="detail-text", markup=False)
        yield footer()

    def on_mount(self) -> None:
        """Begin with the table in hand."""
        self._show(self.snapshot)

    def watch_snapshot(self, old: Snapshot, now: Snapshot) -> None:
        """Only another answer changes this place."""
        if self.is_mounted and (old.roll is not now.roll or old.diagnosis is not now.diagnosis):
            self._show(now)

    def _show(self, now: Snapshot) -> None:
        self.query_one("#counts", Static).update(ranks_content.counts(now))
        table, found = self.query_one(RankTable), now.roll is not None and bool(now.roll.groups)
        self.set_class(not found, "-none")
        if now.roll is not None and table.roll is not now.roll:
            table.show(now.roll, as_before=now.document.same_texts(self._document))
            self._document = now.document
        if found and self.focused is None:
            table.focus()

    def on_row_list_moved(self) -> None:
        """Show the row under the cursor in full."""
        table = self.query_one(RankTable)
        self.query_one("#heading", Static).update(content.piece(table.heading()))
        if table.group is not None:
            told = ranks_content.details(table.group, self.snapshot)
            self.query_one("#detail-text", Static).update(told)
            self.query_one("#detail").scroll_home(animate=False)

    def on_row_list_clicked(self) -> None:
        """Enter on a single rank: its last line, where the log is."""
        group = self.query_one(RankTable).group
        if group is not None and group.first.rank is not None and not self.snapshot.of_nodes:
            self.post_message(self.Asked(group.first.rank.last))
