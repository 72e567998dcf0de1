"""The sentences of the place of the history: plain text from values. Pure; no colours, no widgets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ncclcheck.model import Comparison, Trend
from ncclcheck.speedtest.compare import overall
from ncclcheck.tui import advice, speeds, wording
from ncclcheck.tui.fixing import AFTER, BEFORE
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.wording import Said, Tone, line

if TYPE_CHECKING:
    from ncclcheck.doctor.history import Made
    from ncclcheck.speedtest.history import Run

CHANGES, TESTS = "CHANGES (UTC)", "SPEED TESTS"
NOTHING = (
    "Nothing is kept yet. A change that a fix makes is listed here until it is taken back, and so is each run of the "
    "speed test, to be compared with the next one. f shows a fix where there is a finding, s measures."
)
_MOST = 100
"""Runs in the list."""
_COMPARED = {
    Trend.BETTER: Said("✓", "Better", Tone.GOOD),
    Trend.SAME: Said("=", "The same, by the spread of the rounds", Tone.PLAIN),
    Trend.WORSE: Said("✗", "Worse", Tone.BAD),
    Trend.UNKNOWN: Said(
        "?", "Cannot be told: too few rounds, nothing in common, or some better and some worse", Tone.WARNING
    ),
}


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the list: a heading, a change or a run."""

    texts: tuple[str, ...]
    sign: str = " "
    tone: Tone = Tone.PLAIN
    made: Made | None = None
    run: Run | None = None

    @property
    def heading(self) -> bool:
        """Whether it only names what follows."""
        return self.made is None and self.run is None


def counts(now: Snapshot) -> Said:
    """What there is, in one line above the list."""
    if not now.made and not now.runs:
        return Said("?", NOTHING, Tone.PLAIN)
    free = sum(not made.review.refusal for made in now.made)
    held = len(now.made) - free
    parts = [f"{_many(free, 'change')} can be taken back" if now.made else "No change of ours is left"]
    parts += [f"{held} cannot"] * (held > 0)
    parts.append(f"{_many(len(now.runs), 'speed test')} {'is' if len(now.runs) == 1 else 'are'} kept")
    return Said("i", "; ".join(parts), Tone.PLAIN)


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count or 'no'} {what}s"


def rows(now: Snapshot, marked: Sequence[str] = ()) -> tuple[Row, ...]:
    """Changes and runs, each under their heading, the newest first; marked are the runs of these ids."""
    made = [_made(one) for one in now.made]
    before = pairs(now.runs)
    runs = [_run(one, before.get(one.id), one.id in marked) for one in reversed(now.runs[-_MOST:])]
    older = len(now.runs) - len(runs)
    runs += [Row((f"{older} older: ncclcheck history --limit {len(now.runs)} lists all of them",))] if older else []
    gap = [Row(("",))] if made and runs else []
    return (*([Row((CHANGES,)), *made] if made else ()), *gap, *([Row((TESTS,)), *runs] if runs else ()))


def _made(made: Made) -> Row:
    paths = ", ".join(change.path for change in made.applied)
    sign, tone = ("!", Tone.WARNING) if made.review.refusal else (" ", Tone.PLAIN)
    return Row((_minute(made.time), line(made.node.name), line(paths), _gist(made)), sign, tone, made=made)


def when(made: Made) -> str:
    """The minute of a change."""
    return f"{_minute(made.time)} UTC"


def _minute(time: str) -> str:
    return line(time[:16].replace("T", " "))


def _gist(made: Made) -> str:
    lines = [text for edit in made.review.edits for text in advice.diff(edit) if text[:1] in "+-"]
    first = next((text for text in lines if text.startswith("+")), lines[0] if lines else "")
    more = f" (+{len(lines) - 1} lines)" if len(lines) > 1 else ""
    return f"{first}{more}"


def _run(run: Run, before: Run | None, marked: bool) -> Row:
    texts = speeds.runs((run,), 1)[0]
    trend = overall(before.test, run.test) if before else None
    note = f"{trend.value} " if trend and trend is not Trend.UNKNOWN else ""
    return Row((*texts[:-1], f"{note}{texts[-1]}"), "*" if marked else " ", Tone.STRONG, run=run)


def pairs(runs: Sequence[Run]) -> dict[str, Run]:
    """To each run after a fix the one before it, by their ids; each run before a fix belongs to one at most."""
    found: dict[str, Run] = {}
    before: dict[str, Run] = {}
    for run in runs:
        if run.label == BEFORE:
            before[run.host] = run
        elif run.label == AFTER and run.host in before:
            found[run.id] = before.pop(run.host)
    return found


def compared(before: Run, after: Run) -> Said:
    """The one answer to which of two runs is better."""
    return _COMPARED[overall(before.test, after.test)]


def title(run: Run) -> str:
    """A run in a line, with what it was for."""
    return place(run) + (f", {line(run.label)}" if run.label else "")


def place(run: Run) -> str:
    """When and where a run was."""
    return line(f"{_minute(run.time)} on {run.host}")


def figures(both: Comparison) -> tuple[tuple[str, ...], ...]:
    """Each pattern at its largest size, before and after; a heading first, nothing where nothing was measured."""
    found = [(one.name, _rate(one.before), _rate(one.after), one.trend) for one in speeds.pairs(both)]
    return (("", "before", "after", ""), *found) if found else ()


def _rate(rate: float | None) -> str:
    return "–" if rate is None else wording.gigabytes(rate)


def in_order(runs: Sequence[Run], ids: Sequence[str]) -> tuple[Run, ...]:
    """The runs of these ids, the oldest first."""
    return tuple(run for run in runs if run.id in ids)


def backups(made: Made) -> Iterator[str]:
    """Where what stood there before is kept."""
    for change in made.applied:
        if change.backup:
            yield line(f"The old {change.path} is kept as {change.backup}")
        else:
            yield line(f"There was no {change.path} before")


def refusal(made: Made) -> tuple[str, ...]:
    """Why a change cannot be taken back, line by line; nothing where it can."""
    return tuple(line(text.strip()) for text in made.review.refusal.split("\n") if text.strip())
