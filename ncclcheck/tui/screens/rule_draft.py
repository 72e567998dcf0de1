"""A rule of one's own from a line of the log: the pattern is tried on the whole log as it is typed; Enter saves it."""

from __future__ import annotations

from dataclasses import replace

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input, Static

from ncclcheck.model import Where
from ncclcheck.tui import rule_content
from ncclcheck.tui.rule_trial import Draft
from ncclcheck.tui.screens.place import Dialog, footer
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.widgets.field import Field
from ncclcheck.tui.widgets.headline import Headline

_REST = 0.15
"""Seconds without a key before the pattern is tried: a long log takes a while."""


class RuleDialog(Dialog[None]):
    """Asks for a pattern, a title and a name; each has a proposal, which comes from a worker."""

    CSS_PATH = "dialog.tcss"
    DEFAULT_CSS = """
    RuleDialog #line { height: auto; max-height: 3; margin-bottom: 1; }
    RuleDialog #body { height: 1fr; scrollbar-size-vertical: 1; }
    """

    class Asked(Message):
        """Somebody wants to know what a pattern for the line finds."""

        def __init__(self, pattern: str, line: str) -> None:
            super().__init__()
            self.pattern = pattern
            self.line = line

    class Wanted(Message):
        """Somebody wants this rule kept."""

        def __init__(self, draft: Draft) -> None:
            super().__init__()
            self.draft = draft

    def __init__(self, where: Where, line: str, saved: str) -> None:
        super().__init__()
        self._where, self._line = where, line
        self._saved = saved
        """Where the rule before this one was written."""
        self._draft: Draft | None = None
        self._waiting: Timer | None = None

    def compose(self) -> ComposeResult:
        """Lay out the dialog."""
        yield Headline().data_bind(Dialog.snapshot)
        with Vertical(id="dialog"):
            yield Static("Make a rule from this line", id="title", markup=False)
            yield Static(rule_content.line(self._where, self._line), id="line", markup=False)
            yield Static("Pattern, a regular expression for what the program says", classes="label", markup=False)
            yield Field(id="pattern")
            yield Static("Title, what the finding says; {host} is filled in", classes="label", markup=False)
            yield Field(id="rule-title")
            yield Static("Name, small letters and hyphens", classes="label", markup=False)
            yield Field(id="name")
            yield Static("Enter checks the rule and saves it among your own.", classes="label", markup=False)
            with VerticalScroll(id="body", can_focus=False):
                yield Static(id="answer", markup=False)
        yield footer()

    def on_mount(self) -> None:
        """Take the proposal, should it be there already."""
        self.watch_snapshot(self.snapshot)

    def watch_snapshot(self, now: Snapshot) -> None:
        """Show the proposal, what the pattern finds, and where the rule was saved."""
        if not self.is_mounted:
            return
        if self._draft is None and now.draft is not None and now.draft.line == self._line:
            self._propose(now.draft)
        answer = self.query_one("#answer", Static)
        if now.own_rule != self._saved:
            answer.update(rule_content.saved(now.own_rule))
        elif now.trial is not None and now.trial.pattern == self._value("pattern"):
            answer.update(rule_content.trial(now.trial))

    def _propose(self, draft: Draft) -> None:
        self._draft = draft
        for name, text in (("pattern", draft.pattern), ("rule-title", draft.title), ("name", draft.name)):
            self.query_one(f"#{name}", Input).value = text

    def on_input_changed(self, event: Input.Changed) -> None:
        """Try another pattern once the keys rest for a moment."""
        if event.input.id != "pattern" or self._draft is None:
            return
        if self._waiting is not None:
            self._waiting.stop()
        self._waiting = self.set_timer(_REST, self._try)

    def _try(self) -> None:
        self.post_message(self.Asked(self._value("pattern"), self._line))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Have it checked and written, once."""
        event.stop()
        if self._draft is not None and self.snapshot.own_rule == self._saved:
            typed = (self._value("pattern"), self._value("rule-title").strip(), self._value("name").strip())
            self.post_message(self.Wanted(replace(self._draft, pattern=typed[0], title=typed[1], name=typed[2])))

    def _value(self, name: str) -> str:
        return self.query_one(f"#{name}", Input).value
