"""What the place of the history shows, as Content made of pieces: names and files come from other machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from ncclcheck.model import Comparison, Edit
from ncclcheck.tui import advice, content, history, speeds, speeds_content
from ncclcheck.tui.content import lines, piece, said
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.wording import Said, Tone

if TYPE_CHECKING:
    from ncclcheck.doctor.history import Made
    from ncclcheck.speedtest.history import Run

_NARROWEST, _WIDEST, _ROWS = 40, 60, 8
"""Columns and rows of the curve of a run."""
_BARS = 72
"""Columns that bars need."""


def counts(now: Snapshot) -> Content:
    """The line above the list."""
    return said(history.counts(now))


def change(made: Made) -> Content:
    """What a fix changed, what is left of what was there before, and whether it can be taken back."""
    head = f"Changed on {made.node.name}, {history.when(made)}"
    parts = [piece(head, Tone.STRONG), *edits(made.review.edits), Content()]
    parts += [piece(text, Tone.MUTED) for text in history.backups(made)]
    refused = [piece(f"! {text}", Tone.WARNING) for text in history.refusal(made)]
    return lines([*parts, *(refused or [piece("u takes it back, after a look at what that writes.")])])


def edits(found: Sequence[Edit]) -> Iterator[Content]:
    """The files with what changes in each."""
    for edit in found:
        yield piece(advice.heading(edit))
        yield from (content.diff_line(text) for text in advice.diff(edit))


def run(of: Run, room: int) -> Content:
    """A run as the place of the speed test shows it, in so many columns."""
    now = Snapshot(speed=of.test, judgement=of.judgement)
    drawn = [speeds_content.curve(now, min(room, _WIDEST), _ROWS)] if room >= _NARROWEST else []
    parts = [
        piece(history.title(of), Tone.STRONG),
        said(speeds.rated(of.test, of.judgement)),
        speeds_content.answer(now),
    ]
    shown = (*drawn, speeds_content.beside(now), speeds_content.table(now))
    return lines([*filter(_says, parts), *(part for told in filter(_says, shown) for part in (Content(), told))])


def _says(told: Content) -> bool:
    return bool(told.plain)


def comparison(before: Run, after: Run, room: int) -> Content:
    """Two runs beside each other, in so many columns."""
    both, wide = Comparison(before.test, after.test), room >= _BARS
    parts = [said(history.compared(before, after))]
    for word, one in (("before", before), ("after", after)):
        parts.append(piece(f"{word:<6}  {history.place(one)}"))
        parts += [] if wide else [piece(f"        {speeds.rated(one.test, one.judgement).text}", Tone.MUTED)]
    figures = history.figures(both)
    table = lines(map(piece, content.table(figures))) if figures else Content()
    return lines([*parts, Content(), speeds_content.bars(both) if wide else table])


def details(row: history.Row | None, now: Snapshot, marked: Sequence[str], room: int) -> Content:
    """What stands under the cursor in full; two marked runs are compared wherever it stands."""
    two = history.in_order(now.runs, marked)
    if len(two) == 2:
        return comparison(*two, room)
    if row is None or row.heading:
        return Content()
    if row.made is not None:
        return change(row.made)
    assert row.run is not None
    before = history.pairs(now.runs).get(row.run.id)
    told = [comparison(before, row.run, room), Content()] if before else []
    return lines([*told, run(row.run, room)])


def reverse(made: Made) -> Content:
    """What taking a change back would write."""
    if refused := history.refusal(made):
        return lines([piece(f"! {text}", Tone.WARNING) for text in refused])
    return lines([piece(made.node.name, Tone.STRONG), *edits(made.review.back)])


def hint(made: Made) -> Said:
    """What to do about it."""
    if made.review.refusal:
        return Said("✗", "This cannot be taken back. Esc goes back; nothing is changed.", Tone.STRONG)
    return Said("?", "y writes this and looks at the node again, n leaves everything as it is.", Tone.STRONG)


def text(now: Snapshot) -> str:
    """The whole place: every change with its diff, and a line for each run."""
    told = history.counts(now)
    parts = [f"{told.sign} {told.text}"]
    parts += [part for made in now.made for part in ("", change(made).plain)]
    tests = [(row.sign, *row.texts) for row in history.rows(now) if row.run is not None]
    parts += ["", history.TESTS, *content.table(tests)] if tests else []
    return "\n".join(parts) + "\n"
