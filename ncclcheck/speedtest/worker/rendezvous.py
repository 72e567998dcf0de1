"""torch's store at HOST:PORT: rank 0's own, opened once all have met, or the one that torchrun's agent serves."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from .company import Company
from .meeting import Door, Waiting, come, different, knock
from .voice import Failure
from .watch import Watch
from .words import show


class Rendezvous:
    """All ranks are there and mean the same test; ``store`` is for setting up the backend too."""

    def __init__(self, dist: Any, watch: Watch, hello: dict[str, Any]) -> None:
        self._dist, self._watch = dist, watch
        asked = watch.asked
        owner = asked.rank == 0 and not asked.store
        if owner:
            Door(watch, hello).gather()
        elif not asked.store:
            come(watch, hello)
        watch.stage = f"in the rendezvous at {show(asked.place)}"
        if not owner:
            # torch, too, waits for it, but for long and without a word.
            knock(watch).close()
        self.store = self._open(owner)
        self.company = Company(self.store, asked.rank, asked.ranks, owner)
        watch.listen(self.another)
        self.company.hello(hello)
        if asked.store:
            meet(self.company, watch, hello)

    def _open(self, serve: bool) -> Any:
        asked = self._watch.asked
        left = timedelta(seconds=max(1.0, self._watch.left()))
        store = self._dist.TCPStore(asked.place[0], asked.place[1], asked.ranks, serve, left, wait_for_workers=False)
        return self._dist.PrefixStore(asked.store, store) if asked.store else store

    def another(self) -> Company:
        """A connection for another thread, as each blocks on its own."""
        mine = self.company
        return Company(self._open(False), mine.rank, mine.ranks, mine.owner)


def meet(company: Company, watch: Watch, hello: dict[str, Any]) -> None:
    """Wait at a store that was there before us for all others, and see that they mean the same test."""
    waiting = Waiting(watch)
    missing = [rank for rank in range(company.ranks) if rank != company.rank]
    while missing := list(_absent(company, missing, hello)):
        at, limit = show(watch.asked.place), watch.asked.limit
        waiting.on(missing[0], "not there yet", f"rank {missing[0]} did not come to {at} within {limit:g} s")
        time.sleep(0.05)


def _absent(company: Company, ranks: list[int], hello: dict[str, Any]) -> Iterator[int]:
    for rank in ranks:
        other = company.hello_of(rank)
        if other is None:
            yield rank
        elif wrong := different(company.rank, hello, rank, other):
            raise Failure(wrong)
