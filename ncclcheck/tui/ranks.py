"""The sentences of the place of the ranks: plain text from values. Pure; no colours, no widgets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rich.cells import cell_len

from ncclcheck.doctor.ranks import Group, Plight, Roll, Standing
from ncclcheck.doctor.ranks_targets import Target
from ncclcheck.model import Attempt, Stage
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.wording import Said, Tone, line

HEADINGS = ("RANK", "HOST", "HOW FAR", "WAITS FOR", "HOW OFTEN", "SINCE")
NO_LOG = (
    "No ranks yet. Paste a log of the job anywhere in this program with your terminal's own paste key, "
    "or press o to open a file or a folder of logs, one for each rank or all in one."
)
NO_RANK = "No line of this text is a rank's: NCCL prints them with NCCL_DEBUG=INFO in the environment of every rank."
OTHERS = "each another rank"
_DONE, _LEFT = "#", "."
_LAST = Stage.DESTROYED
_RESULTS = {
    "unprinted": "failed",
    "other": "failed",
    "invalid": "invalid argument",
    "no-local-port": "no local port left",
}
_FEW = 4
"""Runs of numbers, or hosts, that are spelt out."""


def share(stage: Stage) -> str:
    """How far it came, as a bar of nine steps and a word: readable in any colours and any character set."""
    return f"{_DONE * stage}{_LEFT * (_LAST - stage)} {stage.name.lower()}"


def numbers(found: Sequence[int], most: int = _FEW) -> str:
    """Rank numbers with their runs drawn together, ``0-2, 4``; the sequence is sorted."""
    runs: list[tuple[int, int]] = []
    for number in found:
        if runs and number - runs[-1][1] <= 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    words = [str(first) if first == last else f"{first}-{last}" for first, last in runs[:most]]
    return ", ".join([*words, *(["…"] if len(runs) > most else [])])


def hosts(found: Sequence[str], most: int = 2) -> str:
    """Hosts by name, or how many there are."""
    return line(", ".join(found)) if len(found) <= most else f"{len(found)} hosts"


def who(ranks: Sequence[int], on: Sequence[str], count: int = 1) -> str:
    """Ranks with their hosts, as part of a sentence."""
    where = f" on {hosts(on)}" if on else ""
    if not ranks:
        return (f"{count} processes" if count > 1 else "a process") + where
    return f"rank{'s' if len(ranks) > 1 else ''} {numbers(ranks)}{where}"


# The line that counts ------------------------------------------------------------------------------------------------


def counts(now: Snapshot) -> Said:
    """What counts, in one line above the table."""
    roll = now.roll
    if now.diagnosis is None:
        return Said("?", NO_LOG, Tone.PLAIN)
    if roll is None:
        return Said("…", "Working out how far each rank came", Tone.MUTED)
    if not roll.groups:
        return Said("?", NO_RANK, Tone.PLAIN)
    if now.of_nodes:
        return Said("i", "From a probe, which stops once NCCL chose its interface: this is no running job.", Tone.PLAIN)
    return _counted(roll)


def prepare(roll: Roll) -> None:
    """Work out what takes long where there are thousands of ranks, on a worker: the screen then finds it ready."""
    _counted(roll)
    needs(roll)


@lru_cache(maxsize=2)
def _counted(roll: Roll) -> Said:
    calls, failed, absent, waits, up = (roll.counts.get(plight, 0) for plight in Plight)
    if not calls + failed + absent + waits:
        return _all_up(roll, up)
    parts = list(_calling(roll))
    if failed:
        parts.append(f"{_of(failed, roll) if not parts else f'{failed:,}'} stopped with an error")
    parts += [*_waiting(roll, waits, alone=not parts), *_absent(roll)]
    if up:
        parts.append(f"{up:,} {_are(up)} through")
    bad = calls + failed + absent > 0
    return Said("✗" if bad else "…", line("; ".join(parts)), Tone.BAD if bad else Tone.WARNING)


def _all_up(roll: Roll, up: int) -> Said:
    count = "The only" if up == 1 else "Both" if up == 2 else f"All {up:,}"
    noun = "rank" if roll.of_ranks else "process"
    many = noun if up == 1 else {"rank": "ranks", "process": "processes"}[noun]
    text = f"{count} {many}{'' if roll.of_ranks else ' that these logs show'} came through the initialisation"
    if any(one.named for one in roll.standings):
        return Said("!", f"{text}; a finding names those with an exclamation mark", Tone.WARNING)
    return Said("✓", text, Tone.GOOD)


def _calling(roll: Roll) -> Iterator[str]:
    found: dict[Target, int] = {}
    for one in roll.standings:
        if one.plight is Plight.CALLS and one.target:
            found[one.target] = found.get(one.target, 0) + max(1, len(one.numbers))
    most = sorted(found, key=lambda target: -found[target])
    for target in most[:2]:
        yield f"{_of(found[target], roll)} {_call(found[target])} {towards(target)} in vain"
    if len(most) > 2:
        yield f"{sum(found[target] for target in most[2:]):,} call others in vain"


def _waiting(roll: Roll, waits: int, *, alone: bool) -> Iterator[str]:
    if not waits:
        return
    targets = {one.target for one in roll.standings if one.plight is Plight.WAITS and one.target}
    told = next(iter(targets)) if len(targets) == 1 and alone and not roll.counts.get(Plight.ABSENT) else None
    count = _of(waits, roll) if alone else f"{waits:,}"
    yield f"{count} {_wait(waits)}" + (f" for {towards(told)}" if told else "")


def _absent(roll: Roll) -> Iterator[str]:
    gone = [one.numbers[0] for one in roll.standings if one.plight is Plight.ABSENT]
    if gone:
        yield f"{who(gone, ())} never appeared in these logs"


def _of(count: int, roll: Roll) -> str:
    if roll.of_ranks:
        return f"{count:,} of {roll.total:,} ranks"
    return f"{count:,} of {roll.total:,} processes" if roll.total > 1 else "the only process"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _call(count: int) -> str:
    return "calls" if count == 1 else "call"


def _wait(count: int) -> str:
    return "waits" if count == 1 else "wait"


# A row ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Cells:
    """A row of the table as text, in the order of the headings."""

    sign: str
    tone: Tone
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Needs:
    """What the columns have to hold."""

    widths: tuple[int, ...]
    """Cells of the widest text in each; none for a column that nobody fills."""
    clocked: bool
    """Whether a line had the time in it."""


@lru_cache(maxsize=2)
def needs(roll: Roll) -> Needs:
    """By the headings, each group, and the first one inside."""
    rows = [cells(one).texts for group in roll.groups for one in _inwards(group)]
    columns = zip(HEADINGS, *rows, strict=True)
    widths = tuple(max(map(cell_len, column)) if any(column[1:]) else 0 for column in columns)
    return Needs(widths, any(":" in row[-1] for row in rows))


def _inwards(group: Group) -> Iterator[Group]:
    yield group
    if group.parts:
        yield from _inwards(group.parts[0])


def cells(group: Group) -> Cells:
    """A group as a row."""
    sign, tone = _sign(group.first)
    known = numbers(group.numbers) or "?"
    many = len(group.members) - len(group.numbers) if len(group.members) > 1 and not group.numbers else 0
    rank = f"? ×{len(group.members)}" if many else known
    host = hosts(group.hosts) or "?"
    since = _since(group)
    return Cells(sign, tone, (rank, host, share(group.first.stage), waits(group), often(group), since))


def _sign(one: Standing) -> tuple[str, Tone]:
    if one.plight is Plight.UP:
        return ("!", Tone.WARNING) if one.named else ("✓", Tone.GOOD)
    return {
        Plight.CALLS: ("✗", Tone.BAD),
        Plight.FAILED: ("✗", Tone.BAD),
        Plight.ABSENT: ("?", Tone.BAD),
        Plight.WAITS: ("…", Tone.PLAIN),
    }[one.plight]


def waits(group: Group) -> str:
    """Whom ranks call or wait for, in a few words."""
    one = group.first
    if one.plight is Plight.CALLS and several_targets(group):
        return OTHERS
    if one.plight is Plight.ABSENT:
        return "in none of these logs"
    if one.plight is Plight.UP:
        return ""
    if one.plight is Plight.FAILED:
        return "stopped with an error"
    if one.plight is Plight.WAITS and one.callers:
        return f"called by {towards(one.callers)}"
    return towards(one.target) if one.target else "no line tells"


def several_targets(group: Group) -> bool:
    """Whether each calls somebody else."""
    return any(one.target != group.first.target for one in group.members)


def towards(target: Target) -> str:
    """Whom somebody calls or waits for, within a sentence."""
    if target.ranks and (len(target.hosts) < 2 or not target.address):
        return who(target.ranks, target.hosts)
    if target.root:
        return f"the root on {hosts(target.hosts)}"
    if target.own:
        return f"{line(target.address)}, its own address"
    if target.address:
        owner = f" of {' or '.join(map(line, target.hosts[:3]))}" if target.hosts else ""
        return line(f"{target.address}{owner}")
    return who((), target.hosts)


def often(group: Group) -> str:
    """What came back, and how often."""
    found = [one.attempts[0] for one in group.members if one.attempts]
    if not found:
        return ""
    fewest, most = min(attempt.count for attempt in found), max(attempt.count for attempt in found)
    many = f"{most}" if fewest == most else f"{fewest}-{most}"
    return result(found[0]) + (f" {many}×" if most else "")


def result(attempt: Attempt) -> str:
    """What came back, in words."""
    return line(_RESULTS.get(attempt.result, attempt.result.replace("-", " ")))


def _since(group: Group) -> str:
    if clock := min((one.clock for one in group.members if one.clock), default=""):
        return clock
    return f"line {group.first.since.line}" if group.first.since and len(group.members) == 1 else ""
