"""The sockets of a rank that we play: listening, calling, and hearing the right caller among strangers. [effects]"""

from __future__ import annotations

import errno
import selectors
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from ncclcheck.errors import PeerError
from ncclcheck.peer.bootstrap_wire import SocketAddress

_PAUSE = 0.1
"""Seconds between two calls to somebody who refuses."""
_BACKLOG = 128
_LAST_CALLS = 0.5
"""Seconds for calls that are under way when nobody is waited for any more."""


def listener(address: str) -> socket.socket:
    """A listening socket on any free port of this address, as all of NCCL's; PeerError where that cannot be."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        # The look-up turns the zone of fe80::1%eth1 into the number that bind wants.
        made.bind(socket.getaddrinfo(address, 0, family, socket.SOCK_STREAM, 0, socket.AI_NUMERICHOST)[0][4])
        made.listen(_BACKLOG)
        made.setblocking(False)
    except OSError as error:
        made.close()
        problem = f"a rank cannot listen there: {error.strerror or error}"
        raise PeerError(
            problem, place=address, next_step="Name an address that an interface of this node has"
        ) from error
    return made


def is_here(address: str) -> bool:
    """Whether an address without a zone is one of this node's own."""
    try:
        listener(address).close()
    except PeerError:
        return False
    return True


def place_of(listening: socket.socket) -> SocketAddress:
    """Where a socket listens."""
    address, port, *rest = listening.getsockname()
    return SocketAddress(address.partition("%")[0], port, rest[1] if rest else 0)


def send(place: SocketAddress, message: bytes, limit: float, patience: float) -> str:
    """Call and say it; what went wrong in words, or nothing.

    ``limit`` is in seconds and for an answer, ``patience`` for calling again somebody who refuses.
    """
    give_up = time.monotonic() + patience
    while True:
        try:
            _send(place, message, limit)
        except ConnectionRefusedError as error:
            if time.monotonic() >= give_up:
                return _words(error, place)
            time.sleep(_PAUSE)
        except TimeoutError:
            return f"no answer from {place} within {limit:g} s"
        except OSError as error:
            return _words(error, place)
        else:
            return ""


def _send(place: SocketAddress, message: bytes, limit: float) -> None:
    six = ":" in place.address
    with socket.socket(socket.AF_INET6 if six else socket.AF_INET, socket.SOCK_STREAM) as caller:
        caller.settimeout(limit)
        caller.connect((place.address, place.port, *((0, place.scope) if six else ())))
        caller.sendall(message)


def _words(error: OSError, place: SocketAddress) -> str:
    said = {
        errno.ECONNREFUSED: f"{place} refused the connection",
        errno.EHOSTUNREACH: f"no way to {place}: an ICMP message said so, or nobody on that network has the address",
        errno.ENETUNREACH: f"this node knows no route to {place}",
        errno.EPERM: f"this node's own firewall forbids the call to {place}",
        errno.EACCES: f"this node's own routes forbid the call to {place}",
    }
    if error.errno == errno.EINVAL and place.address.startswith("fe80:"):
        return f"{place} is a link-local address, and this node has no interface of that number"
    return said.get(error.errno or 0, f"the call to {place} failed: {error.strerror or error}")


@dataclass(frozen=True, slots=True)
class Heard:
    """What came in."""

    message: bytes | None
    """``None`` where nobody said the right thing in time."""
    stranger: str = ""
    """What was wrong with the last of those who called besides."""


def hear(
    listening: socket.socket, length: int, fault: Callable[[bytes], str], limit: float, ends: int | None = None
) -> Heard:
    """The first message of ``length`` bytes in which ``fault`` finds none; other callers are let go.

    Gives up after ``limit`` seconds, and soon once the file descriptor ``ends`` becomes readable.
    """
    ear, deadline = _Ear(listening, length, fault), time.monotonic() + limit
    try:
        while ear.message is None and (left := deadline - time.monotonic()) > 0:
            if ends in ear.take_all(left, ends):
                # Whoever ended it has seen all others end, and what they sent is on its way.
                ends, deadline = None, min(deadline, time.monotonic() + _LAST_CALLS)
    finally:
        ear.close()
    return Heard(ear.message, ear.stranger)


class _Ear:
    """Several callers at once, for one who is silent must not keep out the right one."""

    def __init__(self, listening: socket.socket, length: int, fault: Callable[[bytes], str]) -> None:
        self.message: bytes | None = None
        self.stranger = ""
        self._listening, self._length, self._fault = listening, length, fault
        self._said: dict[socket.socket, bytes] = {}

    def take_all(self, seconds: float, ends: int | None) -> set[object]:
        """Wait for anything to happen, and take it in; gives what was ready."""
        # poll, since epoll refuses a standard input that is a file.
        with selectors.PollSelector() as selector:
            for one in (self._listening, *self._said, *(() if ends is None else (ends,))):
                selector.register(one, selectors.EVENT_READ)
            ready: set[object] = {key.fileobj for key, _ in selector.select(seconds)}
        for caller in [caller for caller in self._said if caller in ready]:
            self._take(caller)
        if self._listening in ready:
            self._accept()
        return ready

    def _accept(self) -> None:
        # The caller may have gone again already.
        with suppress(OSError):
            caller, _ = self._listening.accept()
            caller.setblocking(False)
            self._said[caller] = b""
            if not self._length:
                self._judge(caller)

    def _take(self, caller: socket.socket) -> None:
        try:
            more = caller.recv(self._length - len(self._said[caller]))
        except OSError:
            more = b""
        self._said[caller] += more
        if not more or len(self._said[caller]) == self._length:
            self._judge(caller)

    def _judge(self, caller: socket.socket) -> None:
        said = self._said.pop(caller)
        caller.close()
        wrong = self._fault(said) if len(said) == self._length else "and said too little"
        if wrong:
            self.stranger = wrong
        elif self.message is None:
            self.message = said

    def close(self) -> None:
        """Let everybody go."""
        for caller in self._said:
            caller.close()
