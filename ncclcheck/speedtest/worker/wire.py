"""The transfers under test, and their times."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from .payload import Content
from .words import ALL_GATHER, ALL_REDUCE, BOTH_WAYS, ONE_WAY, Asked

ROOM = 1 << 20
"""Least bytes of a buffer, so that small rounds each have a place of their own in it."""
_ALIGNED = 64
WARM_UP = 8 * 1024**2

if TYPE_CHECKING:
    # Python 3.8 cannot subscript it.
    Move = Callable[[], object]


def counted(pattern: str, size: int, ranks: int) -> int:
    """Bytes as nccl-tests counts them that a round of about this size moves: whole 32-bit words where ranks share."""
    if pattern == ALL_GATHER:
        return max(4, size // ranks // 4 * 4) * ranks
    return max(4, size // 4 * 4) if pattern == ALL_REDUCE else size


class Wire:
    """The connection under test: a buffer for each way, and rounds over it."""

    def __init__(self, torch: Any, dist: Any, asked: Asked, device: Any) -> None:
        self.torch, self.dist, self.device = torch, dist, device
        self.rank, self.ranks = asked.rank, asked.ranks
        self.content = Content(torch, device)
        # Zeros, not empty: the first touch of memory must not fall into a measured round.
        self.room = max(ROOM, _stride(max(counted(ALL_GATHER, asked.sizes[-1], asked.ranks), asked.sizes[-1])))
        self.outgoing, self.incoming = (torch.zeros(self.room // 4, dtype=torch.int32, device=device) for _ in range(2))
        self._number = 0
        self._token = torch.zeros(1, dtype=torch.int32, device=device)
        # torch 2.13 calls it by another name, and warns of the old one.
        self._gather: Callable[..., Any] = getattr(dist, "all_gather_single", None) or dist.all_gather_into_tensor
        self._on_gpu = device.type == "cuda"
        self._clock = self._by_events if self._on_gpu else self._by_clock

    def agree(self, values: list[float]) -> list[float]:
        """The largest of each over all ranks; nobody leaves before all have come."""
        told = self.torch.tensor(values, dtype=self.torch.float64, device=self.device)
        self.dist.all_reduce(told, op=self.dist.ReduceOp.MAX)
        return [float(value) for value in told.tolist()]

    def fits(self, size: int) -> int:
        """How many rounds of this size have a place of their own."""
        return self.room // _stride(size)

    def warm(self, pattern: str, size: int) -> None:
        """Two rounds that nobody counts, of no more than is needed to have all connections at work."""
        part = min(size, WARM_UP)
        moves = [self._move(pattern, part, 0) for _ in range(2)]
        try:
            self._clock(moves)
        except RuntimeError as error:
            # gloo of torch 1.13 to 2.0 gathers into a list only.
            if pattern != ALL_GATHER or "support" not in str(error):
                raise
            self._gather = self._gather_list
            self._clock([self._move(pattern, part, 0) for _ in range(2)])

    def rounds(self, pattern: str, size: int, count: int) -> tuple[list[float], bool]:
        """This side's seconds of some rounds with fresh content, and whether all of it arrived as it was sent."""
        # The number goes on from size to size: what an earlier round left behind is no right answer.
        places, first = range(count), self._number
        self._number += count
        for place in places if self._sends(pattern) else ():
            given = self._words(self.outgoing, size, place)[: -(-self._own(pattern, size) // 4)]
            self.content.fill(given, first + place, self.rank)
        seconds = self._clock([self._move(pattern, size, place) for place in places])
        return seconds, all(self._right(pattern, size, place, first + place) for place in places)

    def _by_clock(self, moves: list[Move]) -> list[float]:
        """Each begins when all ranks are ready: nobody's lateness is in it."""
        seconds, now, meet, token = [], time.perf_counter, self.dist.all_reduce, self._token
        for move in moves:
            meet(token)
            start = now()
            move()
            seconds.append(now() - start)
        return seconds

    def _by_events(self, moves: list[Move]) -> list[float]:
        """As above, on the GPU's own clock: what the host needs to start a transfer is not in it."""
        marks = [tuple(self.torch.cuda.Event(enable_timing=True) for _ in range(2)) for _ in moves]
        for move, (start, end) in zip(moves, marks):  # noqa: B905 - strict= needs Python 3.10
            self.dist.all_reduce(self._token)
            start.record()
            move()
            end.record()
        self.torch.cuda.synchronize(self.device)
        return [start.elapsed_time(end) / 1000 for start, end in marks]

    def _words(self, buffer: Any, size: int, place: int) -> Any:
        """A place in a buffer, in whole 32-bit words."""
        begin = place * _stride(size) // 4
        return buffer[begin : begin + -(-size // 4)]

    def _bytes(self, buffer: Any, size: int, place: int) -> Any:
        return self._words(buffer, size, place).view(self.torch.uint8)[:size]

    def _move(self, pattern: str, size: int, place: int) -> Move:
        """One transfer, with all that can be made ready before its time begins."""
        if pattern == ALL_REDUCE:
            return partial(self.dist.all_reduce, self._words(self.outgoing, counted(pattern, size, self.ranks), place))
        outgoing, incoming = self._bytes(self.outgoing, size, place), self._bytes(self.incoming, size, place)
        if pattern == ALL_GATHER:
            into = self._bytes(self.incoming, counted(pattern, size, self.ranks), place)
            return partial(self._gather, into, outgoing[: self._own(pattern, size)])
        return self._pair(pattern, outgoing, incoming)

    def _pair(self, pattern: str, outgoing: Any, incoming: Any) -> Move:
        """Ranks 2k and 2k+1 belong together; an odd one out has nothing to do."""
        dist, peer, sends = self.dist, self.rank ^ 1, self.rank % 2 == 1
        if peer >= self.ranks:
            return _nothing
        if pattern == ONE_WAY and not self._on_gpu:
            return partial(dist.send, outgoing, peer) if sends else partial(dist.recv, incoming, peer)
        ways = [dist.P2POp(dist.isend, outgoing, peer), dist.P2POp(dist.irecv, incoming, peer)]
        chosen = ways if pattern == BOTH_WAYS else ways[:1] if sends else ways[1:]
        return partial(_at_once, dist.batch_isend_irecv, chosen)

    def _sends(self, pattern: str) -> bool:
        """Whether this rank has something to give: writing what nobody gets only drives the rest out of the caches."""
        return pattern != ONE_WAY or self.rank % 2 == 1

    def _own(self, pattern: str, size: int) -> int:
        """Bytes that this rank gives."""
        whole = counted(pattern, size, self.ranks)
        return whole // self.ranks if pattern == ALL_GATHER else whole

    def _receives(self, pattern: str) -> bool:
        return self.rank ^ 1 < self.ranks and (pattern == BOTH_WAYS or self.rank % 2 == 0)

    def _gather_list(self, into: Any, own: Any) -> None:
        self.dist.all_gather(list(into.split(own.numel())), own)

    def _right(self, pattern: str, size: int, place: int, number: int) -> bool:
        """Whether what arrived in this round is what the others sent."""
        whole = counted(pattern, size, self.ranks)
        if pattern == ALL_REDUCE:
            return self.content.summed(self._bytes(self.outgoing, whole, place), number, self.ranks)
        received = self._bytes(self.incoming, whole, place)
        if pattern == ALL_GATHER:
            parts = received.split(self._own(pattern, size))
            return all(self.content.arrived(part, number, rank) for rank, part in enumerate(parts))
        return not self._receives(pattern) or self.content.arrived(received, number, self.rank ^ 1)


def _stride(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED


def _nothing() -> None:
    """An odd rank's part in a transfer between pairs."""


def _at_once(start: Callable[[list[Any]], list[Any]], ways: list[Any]) -> None:
    for work in start(ways):
        work.wait()
