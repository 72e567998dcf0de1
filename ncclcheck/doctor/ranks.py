"""The use case "how far did each rank come, and whom does it wait for?": the job as a roll, those who are stuck first.

Pure. A log tells what a rank printed, not what it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from ncclcheck.doctor.clock import clock_of
from ncclcheck.doctor.ranks_targets import Owners, Target, Waiting, callers_of
from ncclcheck.model import Attempt, Diagnosis, Event, Job, Process, Rank, Severity, Stage, Where

TextAt = Callable[[Where], str]
"""The line at a place; empty where nobody has it."""
Key = tuple[object, ...]


class Plight(IntEnum):
    """How a rank is doing, those to look at first."""

    CALLS = 0
    """A connection of its own does not come about."""
    FAILED = 1
    """Its lines end in an error that is none of a connection."""
    ABSENT = 2
    """The job has this number, and no log has its lines."""
    WAITS = 3
    """Not through, and without a complaint of its own."""
    UP = 4
    """Through with the initialisation."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One process of the job, or a number of which nothing was seen."""

    numbers: tuple[int, ...]
    """Empty where no line told them."""
    host: str
    """Empty where no line told it."""
    plight: Plight
    stage: Stage
    rank: Rank | None = None
    attempts: tuple[Attempt, ...] = ()
    """Those that it did not get over, the first one first."""
    target: Target | None = None
    """Whom it calls; of one that waits, whom for."""
    callers: Target | None = None
    """Those that call it in vain."""
    named: bool = False
    """Whether a finding that counts names it, and not every rank."""
    since: Where | None = None
    """Where it began to be stuck."""
    clock: str = ""
    """The time of day in that line."""
    lasted: float | None = None
    """Seconds from there to its last line."""


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Standings that are shown as one row, and what they are when it is opened."""

    key: Key
    members: tuple[Standing, ...]
    numbers: tuple[int, ...]
    """All that are known, in order."""
    hosts: tuple[str, ...]
    """All that are known, in order."""
    parts: tuple[Group, ...] = ()
    """Empty for a single one."""

    @property
    def first(self) -> Standing:
        """The one that stands for all."""
        return self.members[0]


@dataclass(frozen=True, slots=True, eq=False)
class Roll:
    """The job rank by rank; thousands of them are never compared one by one."""

    diagnosis: Diagnosis
    groups: tuple[Group, ...] = ()
    total: int = 0
    """Ranks of the job where a line tells it, else processes that were seen."""
    of_ranks: bool = False
    """Whether the total is the number of the job's ranks."""
    counts: Mapping[Plight, int] = field(default_factory=dict)

    @property
    def standings(self) -> Iterator[Standing]:
        """Everybody, those who are stuck first."""
        return (one for group in self.groups for one in group.members)


def roll_of(diagnosis: Diagnosis, text_at: TextAt) -> Roll:
    """Who is there, how far each came and whom it waits for."""
    job = diagnosis.job
    found = list(_standings(job, _named(diagnosis), text_at))
    groups = _split(sorted(found, key=_order), (_Stories(found).of, _host, _self), ())
    counts = {plight: sum(max(1, len(one.numbers)) for one in found if one.plight is plight) for plight in Plight}
    size, seen = job.world_size, sum(counts.values())
    # A log of two runs has more processes than the job has ranks.
    return Roll(diagnosis, groups, size or seen, size is not None and seen <= size, counts)


# Grouping ------------------------------------------------------------------------------------------------------------


def _order(one: Standing) -> tuple[int, int, int, str]:
    return (one.plight, one.stage, one.numbers[0] if one.numbers else 1 << 30, one.host)


class _Stories:
    """What is equal of ranks that are told as one."""

    def __init__(self, standings: Iterable[Standing]) -> None:
        targets: dict[str, set[Target]] = {}
        for one in standings:
            if one.attempts and one.target:
                targets.setdefault(one.attempts[0].link, set()).add(one.target)
        # Where each calls its own neighbour, a row for each would hide that all have one story.
        self._crowded = {link for link, found in targets.items() if len(found) > _MOST_TARGETS}

    def of(self, one: Standing) -> Key:
        """The story of one."""
        call = one.attempts[0] if one.attempts else None
        if call is None:
            return (one.plight, one.stage, one.callers, one.named)
        towards = None if call.link in self._crowded else one.target
        callers = one.callers if towards else None
        return (one.plight, one.stage, callers, one.named, towards, call.link, call.result, call.gave_up)


def _host(one: Standing) -> Key:
    return (one.host,)


def _self(one: Standing) -> Key:
    # Two runs in one log may have the same number on the same host.
    return (one.numbers, one.host, one.rank.process if one.rank else None)


_MOST_TARGETS = 8
"""Whom ranks of one story call, told apart."""
_ENDS = frozenset({"process.killed", "process.exited", "gpu.oom", "gpu.xid", "gpu.broken", "shm.bus-error"})
"""Events after which a process says no more of its own."""


def _split(members: Sequence[Standing], levels: Sequence[Callable[[Standing], Key]], above: Key) -> tuple[Group, ...]:
    parts: dict[Key, list[Standing]] = {}
    for one in members:
        parts.setdefault(levels[0](one), []).append(one)
    keyed = (((*above, key), part) for key, part in parts.items())
    return tuple(_group(key, part, _inside(part, levels[1:], key)) for key, part in keyed)


def _group(key: Key, members: Sequence[Standing], parts: tuple[Group, ...]) -> Group:
    if len(members) == 1:
        one = members[0]
        return Group(key, (one,), one.numbers, (one.host,) if one.host else ())
    numbers = tuple(sorted(number for one in members for number in one.numbers))
    hosts = tuple(sorted({one.host for one in members if one.host}))
    return Group(key, tuple(members), numbers, hosts, parts)


def _inside(members: Sequence[Standing], levels: Sequence[Callable[[Standing], Key]], above: Key) -> tuple[Group, ...]:
    if len(members) == 1 or not levels:
        return ()
    inside = _split(members, levels, above)
    # A level that divides nothing, or that has nothing below it, is one key press too many.
    return inside[0].parts if len(inside) == 1 else inside


# Standings -----------------------------------------------------------------------------------------------------------


def _named(diagnosis: Diagnosis) -> frozenset[int]:
    size = diagnosis.job.world_size
    counting = (one.ranks for one in diagnosis.findings if one.severity is not Severity.INFO)
    return frozenset(number for ranks in counting if size is None or len(ranks) < size for number in ranks)


def _standings(job: Job, named: frozenset[int], text_at: TextAt) -> Iterator[Standing]:
    stuck = _stuck(job.attempts)
    found = [(rank, stuck.get(rank.process, ())) for rank in job.ranks]
    found = [(rank, attempts) for rank, attempts in found if attempts or _is_rank(rank)]
    ranks = [rank for rank, _ in found]
    owners = Owners(ranks)
    calls = [(rank, owners.target(rank, attempts[0])) for rank, attempts in found if attempts]
    absent = _absent(job, ranks)
    callers, waiting, targets = callers_of(calls), Waiting(ranks, calls, absent), iter(calls)
    for rank, attempts in found:
        plight = _plight(rank, attempts)
        since = _since(rank, attempts, plight)
        clock, lasted = _clock(since, rank.last, text_at) if since else ("", None)
        waited = waiting.target(rank) if plight is Plight.WAITS else None
        yield Standing(
            numbers=rank.numbers,
            host=rank.host or "",
            plight=plight,
            stage=rank.stage,
            rank=rank,
            attempts=attempts,
            target=next(targets)[1] if attempts else waited,
            callers=callers.get(rank.numbers),
            named=not named.isdisjoint(rank.numbers),
            since=since,
            clock=clock,
            lasted=lasted,
        )
    yield from (Standing((number,), "", Plight.ABSENT, Stage.SILENT, named=number in named) for number in absent)


def _is_rank(rank: Rank) -> bool:
    """Whether these lines are a rank's, rather than the launcher's or some program's beside it."""
    return bool(rank.numbers) or rank.process.pid is not None or rank.stage > Stage.SILENT


def _stuck(attempts: Iterable[Attempt]) -> dict[Process, tuple[Attempt, ...]]:
    found: dict[Process, tuple[Attempt, ...]] = {}
    for attempt in attempts:
        if not attempt.recovered:
            found[attempt.process] = (*found.get(attempt.process, ()), attempt)
    return found


def _absent(job: Job, ranks: Iterable[Rank]) -> tuple[int, ...]:
    seen = {number for rank in ranks for number in rank.numbers}
    nameless = any(not rank.numbers for rank in ranks)
    # A process whose number nobody told may be any of the missing ones.
    return () if nameless else tuple(number for number in range(job.world_size or 0) if number not in seen)


def _plight(rank: Rank, attempts: Sequence[Attempt]) -> Plight:
    if attempts:
        return Plight.CALLS
    last = rank.events[-1] if rank.events else None
    up = rank.stage >= Stage.COMPLETE
    if last is not None and (last.kind in _ENDS or (last.kind == "trace" and not up and _returned(last))):
        return Plight.FAILED
    return Plight.UP if up else Plight.WAITS


def _returned(trace: Event) -> bool:
    """Whether NCCL gave an error back: what only its root thread has is logged and goes no further (bootstrap.cc)."""
    return trace.get("file") != "bootstrap.cc"


def _since(rank: Rank, attempts: Sequence[Attempt], plight: Plight) -> Where | None:
    if attempts and attempts[0].evidence:
        return attempts[0].evidence[0]
    return rank.last if plight in (Plight.WAITS, Plight.FAILED) else None


def _clock(since: Where, last: Where, text_at: TextAt) -> tuple[str, float | None]:
    """The time of day in a line, and the seconds from there to the last line."""
    began = clock_of(text_at(since))
    if began is None:
        return "", None
    ended = clock_of(text_at(last)) if last != since else None
    return began.text, ended.after(began) if ended else None
