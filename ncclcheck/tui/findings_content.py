"""Findings and fixes with tones: the lines of ``doctor.finding_text``, as the command line has them too. Pure.

Imported where the first one is shown: there is none at the first paint.
"""

from __future__ import annotations

from collections.abc import Iterable

from textual.content import Content

from ncclcheck.doctor.finding_text import Part, Room, Row, finding_rows, fix_rows
from ncclcheck.model import Finding, Fix
from ncclcheck.tui.content import SIGNS, lines, piece
from ncclcheck.tui.text.document import Document
from ncclcheck.tui.wording import Tone

_KEY = "L"
"""Chooses the launcher in whose words fixes are told."""
_TONES = {
    Part.TITLE: Tone.STRONG,
    Part.PLACE: Tone.MUTED,
    Part.QUOTE: Tone.PLAIN,
    Part.TEXT: Tone.PLAIN,
    Part.TO_DO: Tone.PLAIN,
    Part.TYPED: Tone.GOOD,
    Part.NOTE: Tone.MUTED,
}
_LEADS = {
    Part.TEXT: Tone.STRONG,
    Part.TO_DO: Tone.STRONG,
}


def finding(found: Finding, text: Document, width: int, launcher: str = "") -> Content:
    """What is wrong, how we know, why, what it does not prove, and what to do, in so many cells."""
    return _content(finding_rows(found, text.text_at, _room(width, launcher)), SIGNS[found.severity][1])


def fix(one: Fix, width: int, launcher: str = "") -> Content:
    """What to do, and the lines to write or type."""
    return _content(fix_rows(one, _room(width, launcher)), Tone.PLAIN)


def _room(width: int, launcher: str) -> Room:
    return Room(width, width, launcher=launcher, key=_KEY)


def _content(rows: Iterable[Row], mark: Tone) -> Content:
    return lines(_row(row, mark) for row in rows)


def _row(row: Row, mark: Tone) -> Content:
    if row.part is Part.MARK:
        return Content.assemble(piece(row.lead, Tone.MUTED), piece(row.text, mark))
    lead = mark if row.part is Part.TITLE else _LEADS.get(row.part, Tone.MUTED)
    return Content.assemble(piece(row.lead, lead), piece(row.text, _TONES[row.part]))
