"""Tries all calls at once, in seconds, and says of each what became of it."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from ncclcheck.model import Cell, Outcome
from ncclcheck.peer.attempt import Caller, failed, greeted, itself, recognized
from ncclcheck.peer.calls import Call, bare
from ncclcheck.peer.icmp import Failure, Verdict, judged
from ncclcheck.peer.packets import BULK_LIMIT, FULL, Passage, exchanged, largest_packet
from ncclcheck.peer.sockets import (
    calling_socket,
    connect,
    interface_mtu,
    is_own,
    keep_errors,
    local_address,
    path_mtu,
    socket_address,
    tcp_state,
)
from ncclcheck.peer.synqueue import Lost

_GREETING = 0.8
"""Seconds for it at least, however late the connection came about."""
_MOST_SEARCHES = 16
"""Cells whose packet size is searched for: each takes some twenty connections."""


def reach(me: str, calls: tuple[Call, ...], key: str, *, limit: float = 3.5) -> Iterator[Cell]:
    """A cell for each call, as soon as it is settled; ``limit`` is in seconds, for connection and greeting.

    ARP and neighbour discovery take 3 s to give up (``mcast_solicit`` times ``retrans_time_ms``, arp(7)). Looking for
    packets that are too big, after a late connection, takes up to 4.5 s more.
    """
    addresses = tuple({bare(call.source): call.interface for call in calls if call.interface}.items())
    attempt = _Attempt(Caller(me, key, addresses), time.monotonic() + limit, asyncio.Semaphore(_MOST_SEARCHES))
    loop = asyncio.new_event_loop()
    pending = {loop.create_task(_cell(attempt, call)) for call in calls}
    try:
        while pending:
            first = asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            done, pending = loop.run_until_complete(first)
            for task in done:
                yield task.result()
    finally:
        for task in pending:
            task.cancel()
        loop.run_until_complete(_ended(pending))
        loop.close()


async def _ended(tasks: set[asyncio.Task[Cell]]) -> None:
    await asyncio.gather(*tasks, return_exceptions=True)


@dataclass(frozen=True, slots=True)
class _Attempt:
    """What all calls have in common."""

    caller: Caller
    until: float
    searches: asyncio.Semaphore

    def cell(self, call: Call, verdict: Verdict) -> Cell:
        """The cell of a call, without what only a connection tells."""
        where = (self.caller.host, call.interface, call.callee, call.target, bare(call.address))
        return Cell(*where, verdict.outcome, detail=verdict.detail)


async def _cell(attempt: _Attempt, call: Call) -> Cell:
    if not call.interface and is_own(call.address):
        return attempt.cell(call, itself(call))
    try:
        one = calling_socket(call)
    except OSError as error:
        return attempt.cell(call, judged(call, Failure(error.errno or 0, 0.0)))
    with one:
        cell = await _connected(attempt, call, one)
        if not cell.passed:
            return cell
        return await _sized(attempt, call, one, cell)


async def _connected(attempt: _Attempt, call: Call, one: socket.socket) -> Cell:
    """Up to the greeting."""
    begin = time.monotonic()
    try:
        failure = await connect(one, socket_address(call.address, call.port), attempt.until)
    except OSError as error:
        failure = Failure(error.errno or 0, 0.0)
    local = local_address(one)
    if failure:
        return replace(attempt.cell(call, failed(one, call, failure)), source=local)
    keep_errors(one, False)
    state, passed = tcp_state(one), time.monotonic() - begin
    # The kernel's own measure, since this process has many calls to look after; after a repetition it tells less.
    seconds = passed if state.repeated else min(passed, state.round_trip)
    greeting = max(attempt.until, time.monotonic() + _GREETING)
    answer = await greeted(one, attempt.caller, call, FULL, greeting)
    if isinstance(answer, Verdict):
        return replace(attempt.cell(call, answer), seconds=seconds, source=local)
    verdict = recognized(attempt.caller, call, answer, local)
    return replace(attempt.cell(call, verdict), seconds=seconds, source=answer.source)


async def _sized(attempt: _Attempt, call: Call, one: socket.socket, cell: Cell) -> Cell:
    """The cell, after full-sized packets were sent both ways."""
    try:
        passage = await exchanged(one, FULL, time.monotonic() + BULK_LIMIT)
    except OSError as error:
        broken = f"the connection came about, and broke off under load ({error.strerror or 'closed'})"
        return replace(cell, outcome=Outcome.DROPPED, detail=broken)
    if passage is Passage.PASSED:
        return replace(cell, mtu=_learned(attempt, one))
    if passage is Passage.SLOW:
        return replace(cell, detail=_joined(cell.detail, "too slow to try full-sized packets to the end"))
    return await _searched(attempt, call, one, replace(cell, detail=""), passage)


def _learned(attempt: _Attempt, one: socket.socket) -> int | None:
    """The path's MTU where it is smaller than the interface's, as this kernel has learned by now."""
    interface = dict(attempt.caller.addresses).get(local_address(one) or "")
    own = interface_mtu(interface) if interface else None
    known = path_mtu(one)
    return known if own and known < own else None


async def _searched(attempt: _Attempt, call: Call, one: socket.socket, cell: Cell, passage: Passage) -> Cell:
    state = tcp_state(one)
    out = passage is Passage.STUCK_OUT
    where = f"towards {call.callee}" if out else f"from {call.callee}"
    full = state.sends if out else state.takes
    if attempt.searches.locked():
        stuck = f"packets of {full} bytes vanish {where}; whether smaller ones pass was not tried"
        return replace(cell, outcome=Outcome.MTU_TOO_SMALL, detail=stuck)
    async with attempt.searches:
        largest = await largest_packet(attempt.caller, call, full)
    if largest is None:
        vanish = f"the connection came about, and then packets of any size vanished {where}"
        return replace(cell, outcome=Outcome.DROPPED, detail=vanish)
    if largest == full:
        return replace(cell, detail=_joined(cell.detail, f"packets {where} stood still for a while, then passed"))
    stuck = f"packets of {full} bytes vanish {where}, those of {largest} pass"
    return replace(cell, outcome=Outcome.MTU_TOO_SMALL, detail=stuck, mtu=largest)


def _joined(*sentences: str) -> str:
    return "; ".join(one for one in sentences if one)


def settled(cells: tuple[Cell, ...], unanswered: Mapping[str, Collection[Lost]]) -> tuple[Cell, ...]:
    """The cells, with what the callees' kernels saw of the calls that went unanswered (pure).

    ``unanswered`` is by host; of a host that is not in it nothing is known.
    """
    return tuple(_settled(cell, cells, unanswered.get(cell.callee)) for cell in cells)


def _settled(cell: Cell, cells: tuple[Cell, ...], lost: Collection[Lost] | None) -> Cell:
    if cell.outcome is not Outcome.DROPPED or cell.seconds is not None or lost is None:
        return cell
    here = {caller for caller, _, called in lost if called == cell.address}
    if cell.source in here:
        return replace(cell, arrived=True)
    # Addresses that no caller has: it may be this call, behind NAT.
    foreign = here - {one.source for one in cells}
    return replace(cell, arrived=None if foreign else False)
