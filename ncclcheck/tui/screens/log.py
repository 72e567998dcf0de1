"""The log with its findings beside it: choosing a finding jumps to the lines that prove it."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from ncclcheck.model import Finding
from ncclcheck.tui import content
from ncclcheck.tui.commands import LogCommands
from ncclcheck.tui.screens.place import Place, footer
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.widgets.headline import Headline
from ncclcheck.tui.widgets.log_view import LogView

_EMPTY = """\
No log yet.

Paste one anywhere in this program with your terminal's own paste key,
press o to open a file or a folder, or p to probe this node."""


class LogPlace(Place):
    """Findings, the chosen one in full, and the log."""

    MODE = "log"
    CSS_PATH = "log.tcss"
    COMMANDS: ClassVar = {LogCommands}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("z", "zoom", "Zoom", show=False, id="log.zoom", tooltip="The focused pane alone, or all three again"),
        Binding("tab", "app.focus_next", "Next pane", show=False, id="log.pane", tooltip="Findings, text, log"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._at: int | None = None

    @property
    def _trail(self) -> tuple[tuple[int, int], ...]:
        return self.snapshot.document.trail

    @property
    def finding(self) -> Finding | None:
        """The finding under the cursor."""
        chosen = self.query_one(OptionList).highlighted
        found = self.snapshot.diagnosis.findings if self.snapshot.diagnosis else ()
        return found[chosen] if chosen is not None and chosen < len(found) else super().finding

    def compose(self) -> ComposeResult:
        """Lay out the place."""
        yield Headline().data_bind(Place.snapshot)
        with Container(id="panes"):
            with Container(id="beside"):
                yield OptionList(id="findings", compact=True)
                with VerticalScroll(id="detail", can_focus=True):
                    yield Static(id="detail-text", markup=False)
            yield LogView(id="log")
        yield footer()

    def on_mount(self) -> None:
        """Show what there is."""
        self._show(self.snapshot)
        self.query_one(OptionList).focus()

    def watch_snapshot(self, old: Snapshot, now: Snapshot) -> None:
        """Only another answer changes this place; progress does not move the reader's place in the log."""
        if self.is_mounted and (old.diagnosis is not now.diagnosis or old.document is not now.document):
            self._show(now)

    def _show(self, now: Snapshot) -> None:
        self._at = None
        self.query_one(LogView).show(now.document)
        findings = now.diagnosis.findings if now.diagnosis else ()
        self.set_class(not findings, "-no-findings")
        menu = self.query_one(OptionList)
        menu.set_options(Option(content.finding_title(finding)) for finding in findings)
        if findings:
            menu.highlighted = 0
        else:
            self._detail(now)

    def _detail(self, now: Snapshot) -> None:
        empty = content.piece(_EMPTY) if now.diagnosis is None else content.unknowns(now.diagnosis)
        self.query_one("#detail-text", Static).update(empty)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show the finding in full, and its first evidence line unless one of its lines is shown already."""
        diagnosis = self.snapshot.diagnosis
        if diagnosis is None or event.option_index >= len(diagnosis.findings):
            return
        text = content.finding(diagnosis.findings[event.option_index], self.snapshot.document)
        self.query_one("#detail-text", Static).update(text)
        self.query_one("#detail").scroll_home(animate=False)
        if self._at is None or self._trail[self._at][0] != event.option_index:
            first = (at for at, (finding, _) in enumerate(self._trail) if finding == event.option_index)
            self._jump(next(first, None))

    def on_option_list_option_selected(self) -> None:
        """Enter on a finding goes on to its next evidence line."""
        self.go_along(1)

    def go_along(self, step: int) -> None:
        """Jump along the evidence, round the ends."""
        if self._trail:
            start = -1 if self._at is None and step > 0 else self._at or 0
            self._jump((start + step) % len(self._trail))

    def _jump(self, at: int | None) -> None:
        self._at = at
        if at is not None:
            finding, row = self._trail[at]
            self.query_one(LogView).point_at(row)
            self.query_one(OptionList).highlighted = finding

    def action_zoom(self) -> None:
        """Give the focused pane the whole screen, or give it back."""
        zoomed = self.has_class("-zoomed")
        for pane in self.query("#beside, #findings, #detail, #log"):
            pane.set_class(not zoomed and pane.has_focus_within, "-zoom")
        self.set_class(not zoomed, "-zoomed")
