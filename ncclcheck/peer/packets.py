"""Whether full-sized packets pass over a connection, and which size does where they do not.

TCP sets "don't fragment" (ip(7), IP_PMTUDISC_WANT), so a packet that is too big for a link in between is dropped; where
the ICMP message that says so is dropped too, the connection stands and hangs: a path MTU black hole (RFC 2923).
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Callable, Coroutine
from enum import Enum

from ncclcheck.peer.attempt import Caller, greeted
from ncclcheck.peer.calls import Call
from ncclcheck.peer.greeting import Answer
from ncclcheck.peer.sockets import (
    Tally,
    calling_socket,
    connect,
    headers,
    keep_errors,
    read_bytes,
    socket_address,
    unconfirmed,
)

FULL = 65536
"""Bytes each way: seven packets even of 9000 bytes, and little enough for all cells at once."""
_SAMPLE = 16384
"""Bytes each way in the search for a size."""
_STALL = 1.5
"""Seconds without progress. A lost packet is repeated after 0.2 s, and again after 0.4 s and 0.8 s."""
_LOOK = 0.05
BULK_LIMIT = 2.0
SEARCH_LIMIT = 1.7
"""Seconds; what still moves then is slow, not stuck."""
_SIZES = (576, 1000, 1280, 1350, 1380, 1400, 1420, 1440, 1450, 1460, 1472, 1480, 1492, 1500, 2000, 4000, 8000, 8900)
"""Bytes of a packet with its headers: usual limits of links and tunnels."""


class Passage(Enum):
    """How far the bytes of both directions came."""

    PASSED = "passed"
    STUCK_OUT = "stuck towards the callee"
    STUCK_BACK = "stuck on the way back"
    SLOW = "slow"


async def exchanged(one: socket.socket, size: int, until: float) -> Passage:
    """Send so many bytes and take as many; OSError where the connection breaks."""
    out = await _watched(_sent(one, size), lambda: unconfirmed(one), until)
    if out is not Passage.PASSED:
        return out
    tally = Tally()
    back = await _watched(read_bytes(one, size, tally), lambda: tally.count, until)
    return Passage.STUCK_BACK if back is Passage.STUCK_OUT else back


async def _sent(one: socket.socket, size: int) -> bool:
    """Send, and wait for the callee's confirmation."""
    await asyncio.get_running_loop().sock_sendall(one, bytes(size))
    return await read_bytes(one, 1, Tally())


async def _watched(work: Coroutine[None, None, bool], progress: Callable[[], int], until: float) -> Passage:
    """Until it is done, nothing has moved for a while, or the time is over."""
    task = asyncio.ensure_future(work)
    last, moved = progress(), time.monotonic()
    try:
        while not (await asyncio.wait({task}, timeout=_LOOK))[0]:
            now = time.monotonic()
            if (current := progress()) != last:
                last, moved = current, now
            elif now - moved > _STALL:
                return Passage.STUCK_OUT
            if now > until:
                return Passage.SLOW
        if not task.result():
            raise ConnectionResetError
        return Passage.PASSED
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError, OSError):
            await task


async def largest_packet(caller: Caller, call: Call, full: int) -> int | None:
    """The largest of the usual sizes, or of the full one, that passes both ways; ``None`` where none does."""
    until = time.monotonic() + SEARCH_LIMIT
    sizes = (*(size for size in _SIZES if size < full), full)
    passed = await asyncio.gather(*(_passes(caller, call, size, until) for size in sizes))
    return max((size for size, yes in zip(sizes, passed, strict=True) if yes), default=None)


async def _passes(caller: Caller, call: Call, size: int, until: float) -> bool:
    with contextlib.suppress(OSError), calling_socket(call) as one:
        # Binds both ends: neither sends a larger segment (tcp(7)).
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, size - headers(one))
        if await connect(one, socket_address(call.address, call.port), until):
            return False
        keep_errors(one, False)
        if isinstance(await greeted(one, caller, call, _SAMPLE, until), Answer):
            return await exchanged(one, _SAMPLE, until) is Passage.PASSED
    return False
