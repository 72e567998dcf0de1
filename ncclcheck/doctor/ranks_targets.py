"""Whom a rank calls, and whom a silent one waits for, as far as the logs tell. Pure.

Whom a silent rank waits for follows from NCCL's own order (bootstrap.cc: the root answers nobody before every rank
has reported), and is no more than that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ncclcheck.model import Attempt, Rank, Stage


@dataclass(frozen=True, slots=True)
class Target:
    """Whom a rank calls or waits for, as far as the logs tell."""

    ranks: tuple[int, ...] = ()
    hosts: tuple[str, ...] = ()
    """Several where one address is on several hosts."""
    address: str = ""
    root: bool = False
    """It is the one that made the unique id, whatever its number."""
    own: bool = False
    """The address is the caller's own host's."""


Call = tuple[Rank, Target]
"""Somebody who calls in vain, and whom."""


class Owners:
    """Who announced which address."""

    def __init__(self, ranks: Sequence[Rank]) -> None:
        self._roots = [rank for rank in ranks if 0 in rank.numbers] or [rank for rank in ranks if rank.root]
        self._size = max((rank.world_size or 0 for rank in ranks), default=0)
        self._bootstrap: defaultdict[str, list[Rank]] = defaultdict(list)
        self._data: defaultdict[str, list[Rank]] = defaultdict(list)
        self._known: dict[tuple[str, str], Target] = {}
        for rank in ranks:
            if rank.bootstrap:
                self._bootstrap[_bare(rank.bootstrap.address)].append(rank)
            for endpoint in rank.sockets:
                self._data[_bare(endpoint.address)].append(rank)

    def target(self, caller: Rank, attempt: Attempt) -> Target:
        """Whom an attempt was for."""
        if attempt.link == "ring" or any(rank is caller for rank in self._announced(attempt)):
            return self._target(caller, attempt)
        # For whoever has not got the address itself the answer is one and the same.
        key = (attempt.link, attempt.address)
        if key not in self._known:
            self._known[key] = self._target(caller, attempt)
        return self._known[key]

    def _target(self, caller: Rank, attempt: Attempt) -> Target:
        announced = self._announced(attempt)
        owners = [rank for rank in announced if rank is not caller]
        if announced and not owners:
            return Target(address=attempt.address, own=True)
        certain = self._certain(caller, attempt.link, owners)
        if len(certain) == 1:
            return Target(certain[0].numbers, _hosts(certain), attempt.address, root=attempt.link == "root")
        numbers = owners[0].numbers if len(owners) == 1 else ()
        return Target(numbers, _hosts(owners), attempt.address)

    def _announced(self, attempt: Attempt) -> Sequence[Rank]:
        first, second = self._bootstrap, self._data
        if attempt.link == "data":
            first, second = second, first
        address = _bare(attempt.address)
        return first.get(address) or second.get(address) or ()

    def _certain(self, caller: Rank, link: str, owners: Sequence[Rank]) -> Sequence[Rank]:
        """The one rank that this kind of connection is to (bootstrap.cc: sendToRoot, socketRingConnect)."""
        if link == "root":
            return [rank for rank in self._roots if rank in owners] or ([] if owners else self._roots)
        if link == "ring" and caller.number is not None and self._size:
            following = (caller.number + 1) % self._size
            return [rank for rank in owners if following in rank.numbers]
        return ()


class Waiting:
    """Whom a silent rank waits for by NCCL's own order, worked out once for each stage."""

    def __init__(self, ranks: Sequence[Rank], calls: Sequence[Call], absent: Sequence[int]) -> None:
        self._ranks = ranks
        self._calls = calls
        self._absent = absent
        self._least = min((rank.stage for rank in ranks), default=Stage.SILENT)
        self._found: dict[Stage, Target | None] = {}

    def target(self, rank: Rank) -> Target | None:
        """Those without whom it cannot go on; None where no line tells it."""
        if rank.stage not in self._found:
            self._found[rank.stage] = self._target(rank.stage)
        return self._found[rank.stage]

    def _target(self, stage: Stage) -> Target | None:
        callers = [rank for rank, _ in self._calls if rank.stage <= stage]
        behind = [rank for rank in self._ranks if rank.stage is self._least and self._least < stage]
        late = self._absent if stage < Stage.RING else ()
        held = callers if callers or late else behind
        numbers = sorted({*late, *(number for rank in held for number in rank.numbers)})
        return Target(tuple(numbers), _hosts(held)) if held or late else None


def callers_of(calls: Iterable[Call]) -> dict[tuple[int, ...], Target]:
    """Who calls in vain, by the numbers of the rank that is called."""
    found: defaultdict[tuple[int, ...], list[Rank]] = defaultdict(list)
    for rank, target in calls:
        if target.ranks:
            found[target.ranks].append(rank)
    return {numbers: Target(_numbers(callers), _hosts(callers)) for numbers, callers in found.items()}


def _numbers(ranks: Sequence[Rank]) -> tuple[int, ...]:
    if len(ranks) == 1:  # By far the most, where there are thousands.
        return ranks[0].numbers
    return tuple(sorted(number for rank in ranks for number in rank.numbers))


def _bare(address: str) -> str:
    """Without its zone, which is another name on every host."""
    return address.partition("%")[0]


def _hosts(ranks: Sequence[Rank]) -> tuple[str, ...]:
    if len(ranks) == 1:
        return (ranks[0].host,) if ranks[0].host else ()
    return tuple(sorted({rank.host for rank in ranks if rank.host}))
