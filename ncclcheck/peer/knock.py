"""How a node joins another one: it calls every candidate address at once, and the first that proves itself counts."""

from __future__ import annotations

import queue
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from ncclcheck.errors import PeerError
from ncclcheck.peer.channel import Channel, greet_host, keep_small
from ncclcheck.peer.invitation import Invitation

CONNECT_LIMIT = 4.0
"""Seconds for a connection: the first SYN and two repetitions of it (tcp(7))."""
_PATIENCE = 0.5
"""Seconds between two tries at an address that refuses, while its owner may still be starting."""


@dataclass(frozen=True, slots=True)
class Knocked:
    """An address that was called in vain."""

    address: str
    problem: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Door:
    """The address that led to the other node."""

    address: str
    channel: Channel


class _Race:
    """Only the first one counts."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self._first = threading.Lock()

    def won(self) -> bool:
        """Whether the caller of this is the first."""
        first = self._first.acquire(blocking=False)
        self.over.set()
        return first


def knock(invitation: Invitation, zones: tuple[str, ...], patience: float = 3.0) -> Iterator[Knocked | Door]:
    """Call all candidates; the last value is a Door unless none opened.

    ``zones`` are the own interfaces that a link-local address is tried on; ``patience`` is for how many seconds an
    address that refuses is tried again.
    """
    places = [place for address in invitation.addresses for place in _places(address, zones)]
    results: queue.Queue[Knocked | Door] = queue.Queue()
    race = _Race()
    for place in places:
        caller = threading.Thread(target=_call, args=(place, invitation, patience, results, race), daemon=True)
        caller.start()
    for _ in places:
        result = results.get()
        yield result
        if isinstance(result, Door):
            return


def _places(address: str, zones: tuple[str, ...]) -> tuple[str, ...]:
    """The address, or for an IPv6 link-local one that address on each interface."""
    return tuple(f"{address}%{zone}" for zone in zones) if address.startswith("fe80:") else (address,)


def _call(
    address: str,
    invitation: Invitation,
    patience: float,
    results: queue.Queue[Knocked | Door],
    race: _Race,
) -> None:
    """One address, on a thread of its own; a door that opens after another one is closed again."""
    began = time.monotonic()
    try:
        channel = _channel(address, invitation, began + patience, race)
    except PeerError as error:
        results.put(Knocked(address, error.problem, time.monotonic() - began))
    except OSError as error:
        results.put(Knocked(address, _reason(error), time.monotonic() - began))
    else:
        if race.won():
            results.put(Door(address, channel))
        else:
            channel.close()
            results.put(Knocked(address, "it works too; another address was quicker", time.monotonic() - began))


def _channel(address: str, invitation: Invitation, until: float, race: _Race) -> Channel:
    while True:
        try:
            connection = _connected(address, invitation.port)
            break
        except ConnectionRefusedError:
            if time.monotonic() > until or race.over.wait(_PATIENCE):
                raise
    try:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return greet_host(connection, invitation.token)
    except (PeerError, OSError):
        with suppress(OSError):
            connection.close()
        raise


def _connected(address: str, port: int) -> socket.socket:
    (family, kind, protocol, _, place), *_ = socket.getaddrinfo(
        address, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST
    )
    connection = socket.socket(family, kind, protocol)
    try:
        keep_small(connection)
        connection.settimeout(CONNECT_LIMIT)
        connection.connect(place)
    except OSError:
        connection.close()
        raise
    return connection


def _reason(error: OSError) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer within {CONNECT_LIMIT:g} s"
    return error.strerror or str(error)
