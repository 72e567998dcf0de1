"""The log, searched and narrowed down; workers look through it, and the title says how far they are."""

from __future__ import annotations

import time
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input
from textual.worker import get_current_worker

from ncclcheck.model import Where
from ncclcheck.tui.terminal.courtesy import make_way
from ncclcheck.tui.text.document import Document
from ncclcheck.tui.text.filters import Filter
from ncclcheck.tui.text.log_title import Found, Left, log_title
from ncclcheck.tui.text.scan import Scan
from ncclcheck.tui.text.sieve import Search
from ncclcheck.tui.widgets.field import Field
from ncclcheck.tui.widgets.log_view import LogView

_TELL = 0.2
"""Seconds between two words of a worker about how far it is."""
_MOST_HIDDEN = 2000
"""Hits that a filter may hide before the next one is given up."""
_DEBOUNCE = 0.15
"""Seconds without another letter after which a search begins."""


class SearchLine(Field):
    """What to look for; Escape gives it up."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "Go along the hits", id="search.keep", tooltip="Back to the log with its hits"),
        Binding("escape", "give_up", "End", id="search.end", tooltip="Search no more"),
    ]

    class GivenUp(Message):
        """Nothing is to be sought."""

    def action_give_up(self) -> None:
        """Say so."""
        self.post_message(self.GivenUp())


class LogPane(Vertical):
    """Shows a document, all of it or what a filter leaves, with the hits of a search."""

    DEFAULT_CSS = """
    LogPane {
        border-top: solid $panel;
        border-title-color: $foreground;
        border-title-style: none;
        &:focus-within { border-top: solid $border; }
        & > LogView { height: 1fr; }
        & > SearchLine { height: 1; padding: 0 1; margin: 0; display: none; background: $panel; }
        &.-typing > SearchLine { display: block; }
    }
    """

    class Looked(Message):
        """A worker came further."""

        def __init__(self, scan: Scan, *, gave_up: bool = False) -> None:
            super().__init__()
            self.scan = scan
            self.gave_up = gave_up

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.document = Document()
        self.filter: Filter | None = None
        self.search: Search | None = None
        self._kept: Scan | None = None
        self._hits: Scan | None = None
        self._origin: Where | None = None
        self._anchor: Where | None = None
        """What was looked at when a filter began, until its rows are there."""
        self._placed: Where | None = None
        """Where the cursor was put meanwhile."""
        self._found_first = False

    def compose(self) -> ComposeResult:
        """The rows, and the line to type into."""
        yield LogView(id="log")
        yield SearchLine(placeholder="words or a regular expression", id="search")

    @property
    def view(self) -> LogView:
        """The rows."""
        return self.query_one(LogView)

    # What is shown ---------------------------------------------------------------------------------------------------

    def show(self, document: Document) -> None:
        """Show a document: another one from its first row, the same one where it was."""
        same = document.texts and document.same_texts(self.document)
        self.document = document
        if same:
            self._go_on()
            self._refresh_rows()
        else:
            self.end_search()
            self.filter = self._kept = None
            self.workers.cancel_group(self, "filter")
            self.view.show(document, document.marks)
        self._entitle()

    def point_to(self, where: Where) -> bool:
        """Put the cursor on a line, without a filter that hides it; whether there is such a line."""
        if self.document.row_of(where) is None:
            return False
        if self.view.rows.row_of(where) is None:
            self.narrow(None)
        self.view.point_at(self.view.rows.near(where))
        return True

    def _refresh_rows(self) -> None:
        rows = self._kept.kept(self.document) if self._kept else self.document
        if self.view.current != self._placed:
            self._anchor = None  # Somebody looks elsewhere meanwhile.
        self.view.change(rows, self.document.marks, self._anchor)
        self._placed = self.view.current

    def on_log_view_moved(self) -> None:
        """The title says which hit the cursor is on."""
        self._entitle()

    def _entitle(self) -> None:
        left = Left(self.filter.label, self._kept.total, self._kept.done) if self.filter and self._kept else None
        title = log_title(self.document, left, self._found(), at_end=self.view.at_end)
        self.border_title = title if title.plain else None

    def _found(self) -> Found | None:
        if self.search is None or self._hits is None:
            return None
        at = self.view.current
        number = self._hits.kept(self.document).number(at) if at else None
        return Found(self.search.text, self.search.because, number, self._hits.total, self._hits.done)

    # Filter ----------------------------------------------------------------------------------------------------------

    def narrow(self, to: Filter | None) -> None:
        """Show only these lines, or all again."""
        self.workers.cancel_group(self, "filter")
        self.filter = to
        self._anchor = self._placed = self.view.current
        if to is not None:
            self.view.focus()
        self._kept = Scan(self.document, to.sieve_for) if to else None
        if self._kept is not None and to is not None and to.places is not None:
            self._kept.take(to.places)
        elif self._kept is not None:
            self._look(self._kept, "filter")
        self._refresh_rows()
        self._entitle()

    # Search ----------------------------------------------------------------------------------------------------------

    def type_search(self) -> None:
        """Let somebody type what to look for."""
        self._origin = self.view.current
        self.add_class("-typing")
        self.query_one(SearchLine).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Look for it once no further letter comes."""
        event.stop()
        self.set_timer(_DEBOUNCE, partial(self._search_typed, event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep the hits, and go on in the log."""
        event.stop()
        self._leave_line()
        if not event.value:
            self.end_search()
        elif self.search is None or self.search.text != event.value:
            self._seek(Search(event.value))

    def on_search_line_given_up(self) -> None:
        """Back to where the search began."""
        origin = self._origin
        self._leave_line()
        self.end_search()
        if origin is not None:
            self.point_to(origin)

    def _leave_line(self) -> None:
        self.remove_class("-typing")
        self.view.focus()

    def _search_typed(self, text: str) -> None:
        is_latest = text == self.query_one(SearchLine).value and self.has_class("-typing")
        if is_latest and not text:
            self.end_search()
        elif is_latest and (self.search is None or self.search.text != text):
            self._seek(Search(text))

    def _seek(self, search: Search) -> None:
        self.search, self._found_first = search, False
        self._hits = Scan(self.document, search.sieve_for)
        self._mark_hits()
        self._look(self._hits, "search")
        self._entitle()

    def end_search(self) -> None:
        """Look for nothing any more."""
        self.workers.cancel_group(self, "search")
        self.search = self._hits = None
        self.query_one(SearchLine).value = ""
        self.view.mark_hits(None)
        self._entitle()

    def go_to_hit(self, step: int) -> None:
        """The cursor to the next hit that a filter leaves, or the one before, round the ends."""
        hits = self._hits.kept(self.document) if self._hits else None
        at = self.view.current or Where("", 0)
        for _ in range(_MOST_HIDDEN if hits else 0):
            row = hits.after(at, step) if hits else None
            if hits is None or row is None:
                return
            at = hits.row(row).where
            if self.view.rows.row_of(at) is not None:
                self.point_to(at)
                return

    def _mark_hits(self) -> None:
        hits = self._hits.kept(self.document) if self._hits else None
        word = self.search.text if self.search and self.search.plain else ""
        self.view.mark_hits((lambda where: hits.row_of(where) is not None) if hits else None, word)

    # Workers ---------------------------------------------------------------------------------------------------------

    def _go_on(self) -> None:
        """Look through what the text grew by."""
        if self._kept is not None and self._kept.done and self.filter is not None and self.filter.places is None:
            self._look(self._kept, "filter")
        if self._hits is not None and self._hits.done:
            self._look(self._hits, "search")

    def _look(self, scan: Scan, group: str) -> None:
        self.run_worker(partial(self._scan, scan), thread=True, exclusive=True, group=group)

    def _scan(self, scan: Scan) -> None:
        worker, told = get_current_worker(), time.monotonic()
        try:
            for _ in scan.run():
                if worker.is_cancelled:
                    return
                make_way()
                if time.monotonic() - told >= _TELL:
                    told = time.monotonic()
                    self.post_message(self.Looked(scan))
        except TimeoutError:
            self.post_message(self.Looked(scan, gave_up=True))
        else:
            self.post_message(self.Looked(scan))

    def on_log_pane_looked(self, message: Looked) -> None:
        """Show what was found by now."""
        if message.gave_up and message.scan is self._hits and self.search is not None:
            self._seek(Search(self.search.text, because="the expression takes too long"))
        elif message.scan is self._hits:
            self._mark_hits()
            self._go_to_first()
        elif message.scan is self._kept:
            self._refresh_rows()
            if message.scan.done:
                self._anchor = None
            if message.gave_up:
                self.notify("The expression takes too long; these are the lines that it found by then.", markup=False)
        self._entitle()

    def _go_to_first(self) -> None:
        """The first hit from where the search began, while nobody looks elsewhere."""
        if self._found_first or self._hits is None:
            return
        kept = self._hits.kept(self.document)
        row = kept.first_from(self._origin or Where("", 0))
        if row is None and self._hits.done:
            row = kept.after(Where("", 0), 1)
        if row is not None:
            self._found_first = True
            self.point_to(kept.row(row).where)
