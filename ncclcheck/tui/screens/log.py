"""The log with its findings beside it: choosing a finding jumps to the lines that prove it."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from ncclcheck.model import Finding, Where
from ncclcheck.tui import content
from ncclcheck.tui.commands import LogCommands
from ncclcheck.tui.offers import next_in_log
from ncclcheck.tui.screens.place import Place, footer
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.widgets.finding_list import FindingList
from ncclcheck.tui.widgets.finding_text import FindingText
from ncclcheck.tui.widgets.headline import Headline
from ncclcheck.tui.widgets.log_pane import LogPane

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
        Binding("slash", "search", show=False, key_display="/", id="log.search", tooltip="Words or an expression"),
        Binding("greater_than_sign", "hit(1)", show=False, key_display=">", id="log.hit", tooltip="Next hit"),
        Binding("less_than_sign", "hit(-1)", show=False, key_display="<", id="log.hit_before", tooltip="Hit before"),
        Binding("t", "filter", show=False, id="log.filter", tooltip="Only lines of a rank, host, level …; all again"),
        Binding("e", "app.evidence(1)", show=False, id="log.evidence", tooltip="Next line that proves something"),
        Binding("E", "app.evidence(-1)", show=False, id="log.evidence_before", tooltip="The evidence line before"),
        Binding("escape", "clear", show=False, id="log.clear", tooltip="End the search, then the filter"),
        Binding("tab", "app.focus_next", "Next pane", show=False, id="log.pane", tooltip="Findings, text, log"),
    ]

    class AsksFilter(Message):
        """Somebody wants to see only some lines."""

    def __init__(self) -> None:
        super().__init__()
        self._at: int | None = None
        self._told: Finding | None = None

    @property
    def pane(self) -> LogPane:
        """The log."""
        return self.query_one(LogPane)

    @property
    def _trail(self) -> tuple[tuple[int, Where], ...]:
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
                yield FindingList(id="findings", compact=True)
                with VerticalScroll(id="detail", can_focus=True):
                    yield FindingText(id="detail-text")
            yield LogPane(id="pane")
        yield footer()

    def on_mount(self) -> None:
        """Show what there is."""
        self._show(self.snapshot)
        self.query_one(OptionList).focus()

    def watch_snapshot(self, old: Snapshot, now: Snapshot) -> None:
        """Only another answer or text changes this place; progress does not move the reader's place in the log."""
        if not self.is_mounted:
            return
        if old.document is not now.document:
            self.pane.show(now.document)
        if old.diagnosis is not now.diagnosis:
            self._list(now, as_before=old.document.same_texts(now.document))
        elif old.launcher != now.launcher:
            self._tell()

    def _tell(self) -> None:
        if self.finding is not None:
            self.query_one(FindingText).tell(self.finding, self.snapshot.document, self.snapshot.launcher)

    def _show(self, now: Snapshot) -> None:
        self.pane.show(now.document)
        self._list(now, as_before=False)

    def _list(self, now: Snapshot, *, as_before: bool) -> None:
        """The findings; where a log went on, the one that was read stays in hand."""
        findings = now.diagnosis.findings if now.diagnosis else ()
        in_hand = next((at for at, one in enumerate(findings) if as_before and _same(one, self._told)), None)
        self.set_class(not findings, "-no-findings")
        self._at = next((at for at, (number, _) in enumerate(self._trail) if number == in_hand), None)
        menu = self.query_one(OptionList)
        menu.set_options(Option(content.finding_title(finding)) for finding in findings)
        if findings:
            menu.highlighted = in_hand or 0
        else:
            self._told = None
            self._detail(now)

    def _detail(self, now: Snapshot) -> None:
        reading = now.diagnosis is None and now.document.texts
        nothing = content.piece("Looking for causes…" if reading else _EMPTY)
        self.query_one("#detail-text", Static).update(content.unknowns(now.diagnosis) if now.diagnosis else nothing)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show the finding in full, and its first evidence line unless one of its lines is shown already."""
        finding, told = self.finding, self._told
        findings = self.snapshot.diagnosis.findings if self.snapshot.diagnosis else ()
        if event.option_index >= len(findings) or finding is None:
            return
        self._tell()
        self._told = finding
        if not _same(finding, told):
            self.query_one("#detail").scroll_home(animate=False)
        if self._at is None or self._trail[self._at][0] != event.option_index:
            self._jump_to_finding(event.option_index, asked=told is not None)

    @property
    def best(self) -> str:
        """What to do about the finding, else its next evidence line."""
        return next_in_log(self.snapshot, self.finding)

    async def on_option_list_option_selected(self) -> None:
        """Enter on a finding takes the next best step."""
        await self.run_action(f"app.{self.best}")

    def go_along(self, step: int) -> None:
        """Jump along the evidence, round the ends."""
        if self._trail:
            start = -1 if self._at is None and step > 0 else self._at or 0
            self._jump((start + step) % len(self._trail))

    def go_to_finding(self, step: int) -> None:
        """Take the next finding in hand, or the one before, round the ends."""
        menu = self.query_one(OptionList)
        if menu.option_count:
            menu.highlighted = ((menu.highlighted or 0) + step) % menu.option_count

    def _jump_to_finding(self, number: int, *, asked: bool) -> None:
        """To its first evidence line; an answer that comes late does not take anybody away from where he looks."""
        self._at = next((at for at, (finding, _) in enumerate(self._trail) if finding == number), None)
        if self._at is not None and (asked or not self.pane.view.moved):
            self._jump(self._at)

    def _jump(self, at: int) -> None:
        self._at = at
        finding, where = self._trail[at]
        self.pane.point_to(where)
        self.query_one(OptionList).highlighted = finding

    def action_search(self) -> None:
        """Type what to look for."""
        self.pane.type_search()

    def action_hit(self, step: int) -> None:
        """The next place where it was found, or the one before."""
        self.pane.go_to_hit(step)

    def action_filter(self) -> None:
        """Show only some lines, or all again."""
        if self.pane.filter is not None:
            self.pane.narrow(None)
        else:
            self.post_message(self.AsksFilter())

    def action_clear(self) -> None:
        """End what the log is searched for, else what it is narrowed down to."""
        if self.pane.search is not None:
            self.pane.end_search()
        else:
            self.pane.narrow(None)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Escape has other meanings where there is nothing to clear."""
        if action == "clear":
            return self.pane.search is not None or self.pane.filter is not None
        return super().check_action(action, parameters)

    def action_zoom(self) -> None:
        """Give the focused pane the whole screen, or give it back."""
        zoomed = self.has_class("-zoomed")
        for pane in self.query("#beside, #findings, #detail, #pane"):
            pane.set_class(not zoomed and pane.has_focus_within, "-zoom")
        self.set_class(not zoomed, "-zoomed")


def _same(finding: Finding, other: Finding | None) -> bool:
    """Whether it is the same finding, perhaps with more evidence."""
    return other is not None and (finding.rule, finding.subject) == (other.rule, other.subject)
