"""An input line that leaves a pasted log or card to the app: neither is ever a file name."""

from __future__ import annotations

from textual import events
from textual.widgets import Input

from ncclcheck.peer import card


class Field(Input):
    """One line of text."""

    def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        if len(event.text.splitlines()) <= 1 and not card.looks_like(event.text):
            super()._on_paste(event)
