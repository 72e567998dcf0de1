"""Where a node waits for others to join: one port on the chosen addresses, open only while somebody is expected.

Strangers do no harm: everybody has a few seconds to prove that he knows the token, in a thread of his own, and there
are only so many at a time.
"""

from __future__ import annotations

import queue
import select
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field

from ncclcheck.errors import PeerError
from ncclcheck.peer.channel import Channel, greet_guest, keep_small

GREETING_LIMIT = 5.0
"""Seconds that a caller has to prove himself."""
_MOST_STRANGERS = 64
_LOOK = 0.2
"""Seconds between two looks at whether the porch is closed."""


@dataclass(frozen=True, slots=True)
class Guest:
    """Somebody who knows the token."""

    channel: Channel
    address: str
    """Of ours, that he called."""


@dataclass(frozen=True, slots=True)
class Stranger:
    """Somebody who does not, or who is no ncclcheck at all."""

    address: str
    """His."""
    problem: str


@dataclass(frozen=True)
class Porch:
    """The open port."""

    port: int
    addresses: tuple[str, ...]
    failed: tuple[tuple[str, str], ...]
    """Addresses that could not be listened on, with the reason."""
    arrivals: queue.Queue[Guest | Stranger] = field(default_factory=queue.Queue)

    def next(self, limit: float) -> Guest | Stranger | None:
        """Whoever comes next within ``limit`` seconds."""
        try:
            return self.arrivals.get(timeout=limit) if limit > 0 else self.arrivals.get_nowait()
        except queue.Empty:
            return None


@contextmanager
def waiting(addresses: tuple[str, ...], token: str, port: int = 0) -> Iterator[Porch]:
    """Listen on these addresses, all at one port (0: one that the kernel chooses); PeerError where none can be."""
    with ExitStack() as stack:
        listeners, failed = _listen(addresses, port, stack)
        if not listeners:
            raise _nowhere(failed)
        porch = Porch(listeners[0].getsockname()[1], tuple(_address(one) for one in listeners), failed)
        closed = threading.Event()
        door = threading.Thread(target=_receive, args=(listeners, token, porch, closed), daemon=True)
        door.start()
        try:
            yield porch
        finally:
            closed.set()
            door.join()
            _send_away(porch)


def _listen(
    addresses: tuple[str, ...], port: int, stack: ExitStack
) -> tuple[list[socket.socket], tuple[tuple[str, str], ...]]:
    listeners: list[socket.socket] = []
    failed = []
    for address in addresses:
        try:
            listener = stack.enter_context(_listener(address, port))
        except OSError as error:
            failed.append((address, error.strerror or str(error)))
            continue
        listeners.append(listener)
        port = listener.getsockname()[1]
    return listeners, tuple(failed)


def _listener(address: str, port: int) -> socket.socket:
    (family, kind, protocol, _, place), *_ = socket.getaddrinfo(
        address, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST
    )
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        keep_small(listener)
        listener.bind(place)
        listener.listen(16)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener


def _address(listener: socket.socket) -> str:
    return str(listener.getsockname()[0])


def _nowhere(failed: tuple[tuple[str, str], ...]) -> PeerError:
    tried = "; ".join(f"{address}: {why}" for address, why in failed) or "no address but loopback"
    return PeerError(
        f"there is no address to wait at ({tried})",
        place="pair",
        next_step="Name one with --address, another port with --port, or exchange cards: ncclcheck card",
    )


def _receive(listeners: list[socket.socket], token: str, porch: Porch, closed: threading.Event) -> None:
    """Let everybody in to the greeting, until the porch is closed; runs on a thread of its own."""
    strangers: set[socket.socket] = set()
    threads: list[threading.Thread] = []
    while not closed.is_set():
        ready, _, _ = select.select(listeners, [], [], _LOOK)
        for listener in ready:
            with suppress(OSError):
                connection, _ = listener.accept()
                if len(strangers) >= _MOST_STRANGERS:
                    connection.close()
                    continue
                strangers.add(connection)
                threads.append(threading.Thread(target=_greet, args=(connection, token, porch, strangers), daemon=True))
                threads[-1].start()
        threads = [thread for thread in threads if thread.is_alive()]
    for connection in tuple(strangers):
        # Whoever still dawdles is not waited for.
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
    for thread in threads:
        thread.join()


def _greet(connection: socket.socket, token: str, porch: Porch, strangers: set[socket.socket]) -> None:
    try:
        called = str(connection.getsockname()[0])
        channel = greet_guest(connection, token, GREETING_LIMIT)
    except PeerError as error:
        connection.close()
        porch.arrivals.put(Stranger(error.place, error.problem))
    except OSError:
        # Gone before we could ask who it is.
        connection.close()
    else:
        strangers.discard(connection)
        porch.arrivals.put(Guest(channel, called))
    strangers.discard(connection)


def _send_away(porch: Porch) -> None:
    """Whoever came too late."""
    while (late := porch.next(0.0)) is not None:
        if isinstance(late, Guest):
            late.channel.close()
