"""An input line that leaves a pasted log to the app: a paste of several lines is never a file name."""

from __future__ import annotations

from textual import events
from textual.widgets import Input


class Field(Input):
    """One line of text."""

    def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        if len(event.text.splitlines()) <= 1:
            super()._on_paste(event)
