"""An input line that leaves a pasted log, a card or a line of another node to the app: none is ever a file name."""

from __future__ import annotations

from textual import events
from textual.widgets import Input

from ncclcheck.peer import card
from ncclcheck.tui.setup.values import is_invitation

_LONGEST = 4096
"""Characters; a path has no more (PATH_MAX of Linux), and a whole log need not be looked through for its lines."""


class Field(Input):
    """One line of text, without a box of its own."""

    def __init__(self, value: str = "", *, placeholder: str = "", id: str | None = None) -> None:
        super().__init__(value, placeholder=placeholder, id=id, compact=True, select_on_focus=False)

    def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        short = len(event.text) <= _LONGEST and len(event.text.splitlines()) <= 1
        if short and not (card.looks_like(event.text) or is_invitation(event.text)):
            super()._on_paste(event)
