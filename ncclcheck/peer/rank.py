"""Playing one rank of NCCL's bootstrap with plain sockets, against the real root. [effects]

As NCCL does: the rank listens on its own address, calls the root unbound (so that the kernel chooses the way), is
called back, then calls the next rank while the rank before calls it. Whoever else connects is let go, as NCCL does.
"""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack
from dataclasses import dataclass

from ncclcheck.model import Contact, Leg
from ncclcheck.peer import bootstrap_wire as wire
from ncclcheck.peer.bootstrap_sockets import Heard, hear, is_here, listener, place_of, send
from ncclcheck.peer.bootstrap_wire import SocketAddress, Ticket


@dataclass(frozen=True, slots=True)
class Limits:
    """How long to wait, in seconds; a rank takes at most twice the sum."""

    connect: float = 3.0
    """For a connection to be answered."""
    patience: float = 1.0
    """How long to call again somebody who refuses: his process may just be starting."""
    others: float = 5.0
    """For the root to call back, which it does once the other ranks have reported; then for the rank before."""


@dataclass(frozen=True, slots=True)
class _Rank:
    """A rank that listens."""

    ticket: Ticket
    number: int
    world_size: int
    host: str
    callback: socket.socket
    ring: socket.socket
    limits: Limits
    ends: int | None

    def contact(self, leg: Leg, address: str, seconds: float, problem: str) -> Contact:
        return Contact(leg, self.number, self.host, address, None if problem else seconds, problem)


def play(
    ticket: Ticket,
    rank: int,
    world_size: int,
    host: str,
    address: str,
    *,
    limits: Limits | None = None,
    ends: int | None = None,
) -> tuple[Contact, ...]:
    """Play a rank that listens on ``address`` (``fe80::1%eth1`` where it needs a zone), and tell what came about.

    The last contact is the one that failed, or the one to the next rank: what was not tried is not listed. Waiting
    for others ends early when the file descriptor ``ends`` becomes readable. Raises PeerError where the address is
    none of this node's.
    """
    with ExitStack() as stack:
        callback, ring = (stack.enter_context(listener(address)) for _ in range(2))
        player = _Rank(ticket, rank, world_size, host, callback, ring, limits or Limits(), ends)
        to_root = _report(player)
        if to_root.problem:
            return (to_root,)
        from_root, next_rank = _called_back(player)
        if next_rank is None:
            return to_root, from_root
        return to_root, from_root, _join_the_ring(player, next_rank)


def _report(player: _Rank) -> Contact:
    """Tell the root where this rank listens."""
    root, callback = player.ticket.root, place_of(player.callback)
    message = wire.report(player.ticket, player.number, player.world_size, callback, place_of(player.ring))
    begin = time.monotonic()
    problem = send(root, message, player.limits.connect, player.limits.patience)
    if problem and player.number and is_here(root.address):
        problem += f"; {root.address} is this node's own address too, so the call never left it"
    return player.contact(Leg.TO_ROOT, str(root), time.monotonic() - begin, problem)


def _called_back(player: _Rank) -> tuple[Contact, SocketAddress | None]:
    """Wait for the root's call, which names the next rank."""
    begin, place, ticket = time.monotonic(), str(place_of(player.callback)), player.ticket
    length = wire.answer_length(ticket)
    heard = hear(player.callback, length, lambda said: wire.fault(ticket, said), player.limits.others, player.ends)
    seconds, problem, next_rank = time.monotonic() - begin, "", None
    if heard.message is None:
        problem = (
            f"the root did not call back to {place} {_time(seconds, heard)}: see NCCL's own lines, where the root runs"
        )
    else:
        next_rank = wire.next_rank(ticket, heard.message)
    return player.contact(Leg.FROM_ROOT, place, seconds, problem), next_rank


def _join_the_ring(player: _Rank, next_rank: SocketAddress) -> Contact:
    """Call the next rank, and be called by the one before."""
    begin, hello = time.monotonic(), wire.greeting(player.ticket)
    problem = send(next_rank, hello, player.limits.connect, player.limits.patience)
    seconds = time.monotonic() - begin
    # The rank before gets its chance in any case, but nobody waits long for what has failed already.
    limit = player.limits.connect if problem else player.limits.others
    heard = hear(player.ring, len(hello), lambda said: wire.fault_in_greeting(player.ticket, said), limit, player.ends)
    if heard.message is None and not problem:
        before, waited = (player.number - 1) % player.world_size, time.monotonic() - begin
        problem = f"rank {before} did not call {place_of(player.ring)} {_time(waited, heard)}"
    return player.contact(Leg.RING, str(next_rank), seconds, problem)


def _time(seconds: float, heard: Heard) -> str:
    waited = f"within {max(1, round(seconds))} s"
    return f"{waited} (somebody else called {heard.stranger})" if heard.stranger else waited
