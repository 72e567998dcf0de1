"""The sentences of ``wording`` with tones: Content made of pieces, never of markup, for log text must stay text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from textual.content import Content

from ncclcheck.model import (
    Diagnosis,
    Facts,
    Finding,
    Node,
    Probe,
    Severity,
    SpeedTest,
)
from ncclcheck.tui import advice, wording
from ncclcheck.tui.outcomes import NodeEdits
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.steps import Progress, Step
from ncclcheck.tui.text.document import shown
from ncclcheck.tui.wording import Said, Tone

_STYLES = {
    Tone.PLAIN: "",
    Tone.MUTED: "dim",
    Tone.GOOD: "$text-success",
    Tone.BAD: "$text-error",
    Tone.WARNING: "$text-warning",
    Tone.STRONG: "bold",
}
SIGNS = {
    Severity.ERROR: ("✗", Tone.BAD),
    Severity.WARNING: ("!", Tone.WARNING),
    Severity.INFO: ("i", Tone.MUTED),
}
_STEPS = {
    Progress.LEFT: ("·", Tone.MUTED),
    Progress.RUNNING: ("…", Tone.STRONG),
    Progress.DONE: ("✓", Tone.GOOD),
    Progress.FAILED: ("✗", Tone.BAD),
    Progress.STOPPED: ("–", Tone.MUTED),
}


def piece(text: str, tone: Tone = Tone.PLAIN) -> Content:
    """Text as it is, in a tone."""
    return Content.assemble((shown_lines(text), _STYLES[tone]))


def shown_lines(text: str) -> str:
    """Text of several lines as it may stand on a terminal."""
    return "\n".join(shown(part) for part in text.split("\n"))


def said(what: Said) -> Content:
    """A sign and a sentence."""
    return Content.assemble(piece(f"{what.sign} ", what.tone), piece(what.text, what.tone))


def lines(parts: Iterable[Content]) -> Content:
    """Lines under each other."""
    return Content("\n").join(parts)


# A node --------------------------------------------------------------------------------------------------------------


def node(which: Node, now: Snapshot) -> Content:
    """A node: what NCCL takes and why, its interfaces, and what is set."""
    facts, probe = now.facts_of(which), now.probe_of(which)
    if facts is None:
        return piece("looking…", Tone.MUTED)
    reason = wording.reason(which, now)
    return lines([*_choice(facts, probe, reason), *_links(facts, probe), *_settings(facts), *_unknown(facts)])


def _choice(facts: Facts, probe: Probe | None, reason: str) -> Iterable[Content]:
    taken = probe.seen if probe else facts.choice
    version = f"NCCL {taken.nccl} " if taken else "NCCL "
    tone = Tone.BAD if taken is None or taken.interface is None else Tone.STRONG
    yield Content.assemble(piece(version), piece(wording.choice(taken, seen=probe is not None), tone))
    if reason:
        yield piece(reason, Tone.MUTED)
    if probe is not None and probe.agrees is False:
        yield piece(f"! predicted otherwise: NCCL {wording.choice(probe.predicted, seen=False)}", Tone.WARNING)


def _links(facts: Facts, probe: Probe | None) -> Iterable[Content]:
    taken = probe.seen if probe else facts.choice
    name = taken.interface if taken else None
    rows = wording.worth_showing(facts.interfaces, name)
    for link, cells in zip(rows, table([wording.link(link) for link in rows]), strict=True):
        mark = "→" if link.name == name else " "
        yield piece(f"{mark} {cells}", Tone.PLAIN if link.name == name else Tone.MUTED)


def _settings(facts: Facts) -> Iterable[Content]:
    yield from (piece(wording.setting(setting)) for setting in facts.settings)
    for trouble in facts.conf_troubles:
        yield piece(f"! {trouble.path}:{trouble.line} {wording.line(trouble.meaning)}", Tone.WARNING)


def _unknown(facts: Facts) -> Iterable[Content]:
    return (piece(f"? {wording.unknown(thing)}", Tone.WARNING) for thing in facts.unknown)


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows with their columns under each other, two blanks apart."""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(padded, row, widths)).rstrip() for row in rows]


def padded(text: str, width: int) -> str:
    """The text with blanks up to that many cells; a wide character has two."""
    return text + " " * (width - cell_len(text))


# Findings ------------------------------------------------------------------------------------------------------------


def finding_title(found: Finding) -> Content:
    """A finding in the list: sign and title."""
    # Without a tone: the cursor's own colour has to be readable on it.
    return piece(f"{SIGNS[found.severity][0]} {wording.line(found.title)}")


def unknowns(diagnosis: Diagnosis) -> Content:
    """What stays open, where nothing was found."""
    parts = [piece("No finding.", Tone.STRONG), Content()]
    parts += [piece(f"? {wording.unknown(thing)}", Tone.WARNING) for thing in diagnosis.unknown]
    return lines(parts)


# A fix and its speed -------------------------------------------------------------------------------------------------


def plan(planned: Sequence[NodeEdits]) -> Content:
    """The diff of every file on every node."""
    parts: list[Content] = []
    for change in planned:
        parts.append(piece(change.node.name, Tone.STRONG))
        if not change.edits:
            parts.append(piece("  nothing to change: it already says so", Tone.MUTED))
        for edit in change.edits:
            parts.append(piece(f"  {advice.heading(edit)}"))
            parts += [diff_line(text) for text in advice.diff(edit)]
        parts.append(Content())
    return lines(parts)


def diff_line(text: str) -> Content:
    """A line of a diff; its sign tells what the colour tells."""
    tone = {"+": Tone.GOOD, "-": Tone.BAD}.get(text[:1], Tone.MUTED)
    return piece(f"    {text[:1]} {text[1:]}", tone)


def steps(done: Sequence[Step]) -> Content:
    """What happened so far, a line for each step."""
    return lines(map(step, done))


def step(one: Step) -> Content:
    """One step with how far it came."""
    sign, tone = _STEPS[one.progress]
    note = f": {wording.line(one.note)}" if one.note else ""
    return Content.assemble(piece(f"{sign} ", tone), piece(wording.line(one.text) + note))


def speeds(now: Snapshot) -> Content:
    """The last speed test with what it means, and the one before the fix."""
    before = now.earlier.speed if now.earlier else None
    tests = [(word, test) for word, test in (("before", before), ("now", now.speed)) if test is not None]
    parts = [piece("Speed test", Tone.STRONG), *(_speed(word, test) for word, test in tests)]
    if now.speed is not None and now.speed.passed and now.judgement is not None:
        from ncclcheck.tui.speeds import rating_words  # There is none at the first paint.

        parts.append(piece(f"{'':12}{rating_words(now.judgement)}; 5 says why", Tone.MUTED))
    return lines(parts)


def _speed(word: str, test: SpeedTest) -> Content:
    sign, tone = ("✓", Tone.GOOD) if test.passed else ("✗", Tone.BAD)
    over = f"{test.backend or 'nothing'} over {wording.line(test.interface or 'its own choice')}"
    return Content.assemble(f"  {word:<6}  ", piece(f"{sign} ", tone), piece(f"{wording.rates(test)}  ({over})"))
