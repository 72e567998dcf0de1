"""What to narrow the log down to: choices of the job, found by typing, or any text."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from ncclcheck.tui import content
from ncclcheck.tui.screens.place import Dialog, footer
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.text import filters
from ncclcheck.tui.text.filters import Filter
from ncclcheck.tui.text.sieve import Search
from ncclcheck.tui.widgets.field import Field
from ncclcheck.tui.widgets.headline import Headline
from ncclcheck.tui.wording import Tone

_MOST = 50
"""Choices that are listed; of thousands of ranks the right one is found by typing its number."""


class FilterDialog(Dialog[None]):
    """Asks for a filter."""

    CSS_PATH: ClassVar = ["dialog.tcss", "filter.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Up", show=False, id="filter.up", tooltip="The choice above"),
        Binding("down", "move(1)", "Down", show=False, id="filter.down", tooltip="The choice below"),
        Binding("enter", "choose", "Show these", id="filter.choose", tooltip="Show only these lines"),
    ]

    def __init__(self, chosen: Callable[[Filter], None]) -> None:
        super().__init__()
        self._chosen = chosen
        self._offered: tuple[Filter, ...] = ()

    def compose(self) -> ComposeResult:
        """Lay out the dialog."""
        yield Headline().data_bind(Dialog.snapshot)
        with Vertical(id="dialog"):
            yield Static("Show only some lines", id="title", markup=False)
            yield Field(placeholder="rank 3, node-a, WARN, or any words", id="words")
            yield OptionList(id="choices", compact=True)
        yield footer()

    def on_mount(self) -> None:
        """Offer everything."""
        self.query_one(OptionList).can_focus = False
        self._offer("")
        self.query_one(Field).focus()

    def watch_snapshot(self, old: Snapshot, now: Snapshot) -> None:
        """Offer what a new diagnosis knows, which is bound here only after the dialog is there."""
        if self.is_mounted and old.diagnosis is not now.diagnosis:
            self._offer(self.query_one(Field).value)

    def on_input_changed(self, event: Field.Changed) -> None:
        """Offer what fits."""
        self._offer(event.value)

    def on_input_submitted(self) -> None:
        """Take what is highlighted."""
        self.action_choose()

    def on_option_list_option_selected(self) -> None:
        """Take what was clicked."""
        self.action_choose()

    def action_move(self, step: int) -> None:
        """Another choice."""
        menu = self.query_one(OptionList)
        if self._offered:
            menu.highlighted = ((menu.highlighted or 0) + step) % len(self._offered)

    def action_choose(self) -> None:
        """Show only these lines."""
        at = self.query_one(OptionList).highlighted
        if at is not None and at < len(self._offered):
            self._chosen(self._offered[at])
            self.dismiss(None)

    def _offer(self, words: str) -> None:
        known = filters.matching(words, filters.choices(self.snapshot.diagnosis))
        typed = (filters.text(Search(words)),) if words.strip() else ()
        before = [one.words for one in self._offered]
        self._offered = (*islice(known, _MOST), *typed)
        if before == [one.words for one in self._offered]:
            return
        menu = self.query_one(OptionList)
        menu.set_options(Option(content.piece(one.words)) for one in self._offered)
        if len(known) > _MOST:
            more = f"… and {len(known) - _MOST:,} more: type a part of what you look for"
            menu.add_option(Option(content.piece(more, Tone.MUTED), disabled=True))
        menu.highlighted = 0 if self._offered else None
