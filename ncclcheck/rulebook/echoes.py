"""Closed and broken connections: which one it was, whose other end it is, and who fell silent. Pure.

Such a line is the echo of something that happened at the other end; these attributes help to find where.
"""

from __future__ import annotations

from ncclcheck.model import Event, Job, Rank
from ncclcheck.rulebook.networks import Place
from ncclcheck.rulebook.subject import Value, host_of, known

_ECHOES = frozenset({"connection.closed", "connection.broken", "ras.peer-lost", "ras.trouble"})
_PLUMBING = ("misc/socket.cc", "proxy.cc")


def echo_values(job: Job, rank: Rank, event: Event, places: tuple[Place, ...]) -> dict[str, Value]:
    """chain, own_thread, got_over, peer_host, silent_host, all_complain; nothing for other events."""
    if event.kind not in _ECHOES:
        return {}
    silent = _silent_hosts(job)
    return known(
        chain=_chain(rank, event),
        own_thread=event.thread == rank.process.pid if event.thread is not None else None,
        got_over=any(other.get("state") == "COMPLETE" for other in _after(rank, event)),
        peer_host=_peer_host(job, event, places),
        silent_host=silent[0] if len(silent) == 1 else None,
        all_complain=not silent and len({host_of(other) for other in job.ranks}) > 1,
    )


def _chain(rank: Rank, event: Event) -> str | None:
    """What the connection was for: the first file in the chain of return codes that is not the socket layer."""
    for other in _after(rank, event):
        if other.thread != event.thread:
            continue
        if other.kind != "trace":
            return None
        if not other.get("file").startswith(_PLUMBING):
            return other.get("file")
    return None


def _after(rank: Rank, event: Event) -> tuple[Event, ...]:
    """What the process printed later; by order, since glued records share a place."""
    return rank.events[rank.events.index(event) + 1 :]


def _peer_host(job: Job, event: Event, places: tuple[Place, ...]) -> str | None:
    peer = event.get("peer") or event.get("address") or event.get("dead")
    by_address = next((place.host for place in places if place.address == peer), None)
    by_name = next((host_of(rank) for rank in job.ranks if peer and host_of(rank) == peer.partition(".")[0]), None)
    return by_address or by_name


def _silent_hosts(job: Job) -> list[str]:
    """Hosts none of whose ranks complained: where all others complain, the cause is there."""
    hosts = {host_of(rank) for rank in job.ranks if rank.process.pid is not None}
    loud = {host_of(rank) for rank in job.ranks if any(_complains(event) for event in rank.events)}
    return sorted(hosts - loud) if loud else []


def _complains(event: Event) -> bool:
    return event.kind in _ECHOES or event.kind == "connect.failed" or event.get("level") == "WARN"
