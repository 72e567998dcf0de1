"""Closed and broken connections: which one it was, whose other end it is, and who fell silent. Pure.

Such a line is the echo of something that happened at the other end; these attributes help to find where.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ncclcheck.model import Event, Job, Rank
from ncclcheck.rulebook.networks import Places
from ncclcheck.rulebook.subject import Value, host_of, known

_ECHOES = frozenset({"connection.closed", "connection.broken", "ras.peer-lost", "ras.trouble"})
_PLUMBING = ("misc/socket.cc", "proxy.cc")


class Echoes:
    """What the whole job says about such lines, worked out once."""

    def __init__(self, job: Job, places: Places) -> None:
        self._places = places
        self._hosts = {host_of(rank) for rank in job.ranks}
        self._silent = _silent_hosts(job)

    def of(self, rank: Rank) -> EchoesOfRank:
        """For the events of one process."""
        return EchoesOfRank(self, rank)

    def values(self, event: Event) -> dict[str, Value]:
        """peer_host, silent_host, all_complain."""
        return known(
            peer_host=self._peer_host(event),
            silent_host=self._silent[0] if len(self._silent) == 1 else None,
            all_complain=not self._silent and len(self._hosts) > 1,
        )

    def _peer_host(self, event: Event) -> str | None:
        peer = event.get("peer") or event.get("address") or event.get("dead")
        by_address = next((place.host for place in self._places.at(peer)), None)
        name = peer.partition(".")[0]
        return by_address or (name if peer and name in self._hosts else None)


class EchoesOfRank:
    """What one process printed after such lines; by order, since glued records share a place."""

    def __init__(self, echoes: Echoes, rank: Rank) -> None:
        self._echoes = echoes
        self._rank = rank
        self._order: dict[Event, int] = {}
        self._threads: defaultdict[int | None, list[Event]] = defaultdict(list)
        self._completed = -1
        if any(event.kind in _ECHOES for event in rank.events):
            self._read()

    def _read(self) -> None:
        for number, event in enumerate(self._rank.events):
            self._order.setdefault(event, number)
            self._threads[event.thread].append(event)
            if event.get("state") == "COMPLETE":
                self._completed = number

    def values(self, event: Event) -> dict[str, Value]:
        """chain, own_thread, got_over and those of the job; nothing for other events."""
        if event.kind not in _ECHOES:
            return {}
        own_thread = event.thread == self._rank.process.pid if event.thread is not None else None
        return {
            **known(chain=self._chain(event), own_thread=own_thread, got_over=self._completed > self._order[event]),
            **self._echoes.values(event),
        }

    def _chain(self, event: Event) -> str | None:
        """What the connection was for: the first file in the chain of return codes that is not the socket layer."""
        for other in self._after(event):
            if other.kind != "trace":
                return None
            if not other.get("file").startswith(_PLUMBING):
                return other.get("file")
        return None

    def _after(self, event: Event) -> Iterator[Event]:
        """What the thread printed later."""
        thread = self._threads[event.thread]
        return iter(thread[thread.index(event) + 1 :])


def _silent_hosts(job: Job) -> list[str]:
    """Hosts none of whose ranks complained: where all others complain, the cause is there."""
    hosts = {host_of(rank) for rank in job.ranks if rank.process.pid is not None}
    loud = {host_of(rank) for rank in job.ranks if any(_complains(event) for event in rank.events)}
    return sorted(hosts - loud) if loud else []


def _complains(event: Event) -> bool:
    return event.kind in _ECHOES or event.kind == "connect.failed" or event.get("level") == "WARN"
