"""What is said while a rule is made from a line. Pure."""

from __future__ import annotations

from textual.content import Content

from ncclcheck.model import Where
from ncclcheck.tui import wording
from ncclcheck.tui.content import lines, piece
from ncclcheck.tui.rule_trial import Trial
from ncclcheck.tui.wording import Tone

_LONGEST = 400
"""Characters of the line that are shown; a line of a log may have thousands."""


def line(where: Where, text: str) -> Content:
    """The line that the rule is made from, with its place."""
    return piece(f"{wording.line(where.source)}:{where.line}  {wording.line(text[:_LONGEST])}", Tone.MUTED)


def trial(found: Trial) -> Content:
    """What the pattern finds, or why no rule can be made with it."""
    if found.refused:
        return piece(f"✗ {wording.line(found.refused)}", Tone.BAD)
    so_far = "" if found.ended else " so far"
    if not found.count:
        return piece(f"{'!' if found.ended else '?'} matches no line{so_far}", Tone.WARNING)
    number = "1 line" if found.count == 1 else f"{found.count:,} lines"
    first = f"; the first is {wording.line(found.first.source)}:{found.first.line}" if found.first else ""
    return piece(f"✓ matches {number}{so_far}{first}", Tone.GOOD)


def saved(path: str) -> Content:
    """Where the rule was written."""
    parts = [
        piece("✓ Saved, and the log is diagnosed with it:", Tone.GOOD),
        piece(f"  {wording.line(path)}", Tone.STRONG),
        piece("Its explanation, cause and fixes can be written there. Esc closes this."),
    ]
    return lines(parts)
