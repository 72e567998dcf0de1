"""A finding in full, laid out for the width that there is."""

from __future__ import annotations

from textual.visual import VisualType
from textual.widgets import Static

from ncclcheck.model import Finding
from ncclcheck.tui.text.document import Document

_USUAL = 80
"""Cells, before there is a width."""


class FindingText(Static):
    """Shows one finding; on other occasions it is a text like any other."""

    DEFAULT_CSS = """
    FindingText { height: auto; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        self._shown: tuple[Finding, Document, str] | None = None
        self._width = 0

    def tell(self, found: Finding, text: Document, launcher: str) -> None:
        """Show this finding, in the words of this launcher."""
        self._shown = (found, text, launcher)
        self._lay_out()

    def update(self, content: VisualType = "", *, layout: bool = True) -> None:
        """Show another text instead."""
        self._shown = None
        super().update(content, layout=layout)

    def on_resize(self) -> None:
        """Lay it out anew where the width changed."""
        if self.content_size.width != self._width:
            self._lay_out()

    def _lay_out(self) -> None:
        self._width = self.content_size.width
        if self._shown is not None:
            from ncclcheck.tui import findings_content

            found, text, launcher = self._shown
            super().update(findings_content.finding(found, text, self._width or _USUAL, launcher))
