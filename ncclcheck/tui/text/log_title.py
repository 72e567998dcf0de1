"""What stands above the log: its name and length, whether it is followed, the filter, and the search. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from textual.content import Content

from ncclcheck.tui.content import piece
from ncclcheck.tui.text.document import Document
from ncclcheck.tui.wording import Tone, line

_LONGEST = 40
"""Characters of a name."""


@dataclass(frozen=True, slots=True)
class Left:
    """What a filter leaves."""

    label: str
    rows: int
    done: bool


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found."""

    text: str
    because: str
    """Why it is taken letter by letter."""
    number: int | None
    """Of the hit under the cursor."""
    hits: int
    done: bool


def log_title(text: Document, left: Left | None, found: Found | None, *, at_end: bool) -> Content:
    """The title; empty without a log."""
    if not text.texts:
        return Content()
    lines = f"{text.lines:,} lines" + ("" if text.whole else " so far")
    parts = [piece(_short(text.title), Tone.STRONG), piece(lines, Tone.MUTED)]
    if text.follows and text.whole:
        parts.append(piece("followed, at its end" if at_end else "followed", Tone.MUTED))
    if left is not None:
        rows = f"{left.rows:,}" + ("" if left.done else " so far")
        parts.append(Content.assemble(piece(f"only {_short(left.label)}", Tone.STRONG), piece(f": {rows}", Tone.MUTED)))
    if found is not None:
        parts.append(_search(found))
    return Content("  ").join(parts)


def _search(found: Found) -> Content:
    number = f"{found.number:,} of " if found.number is not None else ""
    hits = f"{number}{found.hits:,}" if found.hits or found.done else "…"
    more = "" if found.done else " so far"
    because = f" (as plain text: {found.because})" if found.because else ""
    return Content.assemble(
        piece(f"/{_short(found.text)}", Tone.STRONG),
        piece(f": {hits or 'nothing'}{more}{because}", Tone.MUTED),
    )


def _short(name: str) -> str:
    """The end of a name says most."""
    name = line(name)
    return name if len(name) <= _LONGEST else f"…{name[1 - _LONGEST :]}"
