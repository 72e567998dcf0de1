"""Trying a setting: what NCCL would take with it, shown while it is typed. Nothing is changed and nothing is asked."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from ncclcheck.model import Change, Facts, Node
from ncclcheck.node.whatif import rests_on_a_name, what_if
from ncclcheck.tui import content, wording
from ncclcheck.tui.screens.place import Dialog, footer
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.widgets.field import Field
from ncclcheck.tui.widgets.headline import Headline
from ncclcheck.tui.wording import Tone

_FIRST = "NCCL_SOCKET_IFNAME="
_NAMED = "which address that name leads to is looked up by: ncclcheck node --what-if"


class WhatIfDialog(Dialog[None]):
    """Asks for a variable and an NCCL version."""

    CSS_PATH = "dialog.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "scroll(-6)", "Up", show=False, id="what-if.up", tooltip="Scroll the answer up"),
        Binding("pagedown", "scroll(6)", "Down", show=False, id="what-if.down", tooltip="Scroll the answer down"),
    ]

    def __init__(self, version: str) -> None:
        super().__init__()
        self._version = version

    def compose(self) -> ComposeResult:
        """Lay out the dialog."""
        yield Headline().data_bind(Dialog.snapshot)
        with Vertical(id="dialog"):
            yield Static("What if", id="title", markup=False)
            yield Static("NAME=VALUE in the job's environment; NAME- for not set", classes="label", markup=False)
            yield Field(_FIRST, id="change", compact=True, select_on_focus=False)
            yield Static("NCCL version", classes="label", markup=False)
            yield Field(self._version, id="version", compact=True, select_on_focus=False)
            with VerticalScroll(id="body", can_focus=False):
                yield Static(id="answer", markup=False)
        yield footer()

    def on_mount(self) -> None:
        """Answer from the start."""
        self._answer(self.snapshot)

    def on_input_changed(self) -> None:
        """Keep the answer in step with what is typed."""
        self._answer(self.snapshot)

    def watch_snapshot(self, now: Snapshot) -> None:
        """Keep it in step with the nodes, too."""
        if self.is_mounted:
            self._answer(now)

    def _answer(self, now: Snapshot) -> None:
        typed, version = (self.query_one(f"#{name}", Input).value.strip() for name in ("change", "version"))
        change = wording.typed_change(typed, version)
        known = [(node, facts) for node in now.nodes if (facts := now.facts_of(node)) is not None]
        if isinstance(change, str):
            shown = content.piece(f"? {change}", Tone.WARNING)
        else:
            shown = content.lines(_of_node(node, facts, change, version) for node, facts in known)
        self.query_one("#answer", Static).update(shown)

    def action_scroll(self, step: int) -> None:
        """Move the answer."""
        self.query_one("#body", VerticalScroll).scroll_relative(y=step, animate=False)


def _of_node(node: Node, facts: Facts, change: Change, version: str) -> Content:
    if rests_on_a_name(facts, (change,)):
        return content.piece(f"? {node.name}: {_NAMED} {change.name}={change.value}", Tone.WARNING)
    return content.what_if(node, what_if(facts, (change,), version), facts.choice)
