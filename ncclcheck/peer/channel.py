"""A connection whose two ends have proved to each other that they know the same token.

First each side answers the other's random challenge with HMAC-SHA256 under the token (RFC 2104), so a recorded
conversation cannot be played again; then every message carries a MAC over its direction, its number and its content.
The content is readable by whoever listens in: it is what a node card holds, and no secret.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum

from ncclcheck.errors import PeerError
from ncclcheck.peer import messages

PROTOCOL = 1
_GREETING = 512
"""Bytes of the longest line before both sides are known to each other."""
_HEADER = struct.Struct(">I32s")
_CHALLENGE = 32


_SMALL = 536
"""Bytes of TCP's payload in a packet that every network passes (RFC 9293, 3.7.1)."""


def keep_small(connection: socket.socket) -> None:
    """Before it connects or listens: only send packets that pass everywhere, for the network is what is in question."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, _SMALL)


class Role(Enum):
    """Who of the two one is."""

    HOST = "host"
    GUEST = "guest"

    @property
    def other(self) -> Role:
        """The other one."""
        return Role.GUEST if self is Role.HOST else Role.HOST


def proof(token: str, role: Role, host_challenge: str, guest_challenge: str) -> str:
    """What this side has to say to both challenges; hexadecimal."""
    said = f"ncclcheck {PROTOCOL} {role.value} {host_challenge} {guest_challenge}"
    return hmac.new(token.encode(), said.encode(), hashlib.sha256).hexdigest()


class Channel:
    """Messages to and from the other node, one after the other."""

    def __init__(self, connection: socket.socket, role: Role, key: bytes) -> None:
        self.peer = str(connection.getpeername()[0])
        self._connection = connection
        self._role = role
        self._key = key
        self._sent = 0
        self._received = 0

    def send(self, message: messages.Message, limit: float = 10.0) -> None:
        """Send it within ``limit`` seconds; PeerError where the other side is gone or takes nothing."""
        content = messages.encoded(message)
        mac = self._mac(self._role, self._sent, content)
        self._sent += 1
        try:
            self._connection.settimeout(limit)
            self._connection.sendall(_HEADER.pack(len(content), mac) + content)
        except OSError as error:
            raise self._gone(error) from error

    def receive(self, limit: float) -> messages.Any:
        """The next message; PeerError where none comes within ``limit`` seconds, or it is not from the other side."""
        until = time.monotonic() + limit
        length, mac = _HEADER.unpack(self._exactly(_HEADER.size, until))
        if length > messages.LONGEST:
            raise PeerError(f"a message of {length} bytes was announced", place=self.peer, next_step=_NOT_OURS)
        content = self._exactly(length, until)
        if not hmac.compare_digest(mac, self._mac(self._role.other, self._received, content)):
            raise PeerError("a message was changed or repeated on the way", place=self.peer, next_step=_NOT_OURS)
        self._received += 1
        return messages.decoded(content, self.peer)

    def must_be_there(self) -> None:
        """PeerError where the other side has gone, without waiting for a message of it."""
        try:
            self._connection.settimeout(0)
            gone = not self._connection.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return
        except OSError as error:
            raise self._gone(error) from error
        if gone:
            raise self._gone(ConnectionResetError())

    def close(self) -> None:
        """Hang up; whoever waits for a message, on whichever side, hears of it at once."""
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()

    def _mac(self, sender: Role, number: int, content: bytes) -> bytes:
        return hmac.new(self._key, f"{sender.value} {number} ".encode() + content, hashlib.sha256).digest()

    def _exactly(self, count: int, until: float) -> bytes:
        try:
            return exactly(self._connection, count, until)
        except OSError as error:
            raise self._gone(error) from error

    def _gone(self, error: OSError) -> PeerError:
        why = "did not answer in time" if isinstance(error, TimeoutError) else "has ended the conversation"
        return PeerError(f"the other node {why}", place=self.peer, next_step="Start ncclcheck pair and join again.")


_NOT_OURS = "Start ncclcheck pair again; if it comes back, something on the way changes what passes through it."


def exactly(connection: socket.socket, count: int, until: float) -> bytes:
    """So many bytes before that time; TimeoutError, or ConnectionError where the connection ends first."""
    received = bytearray()
    while len(received) < count:
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        connection.settimeout(left)
        piece = connection.recv(min(count - len(received), 65536))
        if not piece:
            raise ConnectionResetError
        received += piece
    return bytes(received)


# The greeting --------------------------------------------------------------------------------------------------------


def greet_guest(connection: socket.socket, token: str, limit: float = 5.0) -> Channel:
    """As the host: ask whoever called to prove that he knows the token; PeerError says why not."""
    until, mine = time.monotonic() + limit, secrets.token_hex(_CHALLENGE)
    who = str(connection.getpeername()[0])
    with _greeting(who):
        _say(connection, {"ncclcheck": PROTOCOL, "challenge": mine}, until)
        answer = _hear(connection, until, who)
        theirs = answer["challenge"]
        if not _same(answer["proof"], proof(token, Role.GUEST, mine, theirs)):
            _say(connection, {"ncclcheck": PROTOCOL, "refused": "wrong token"}, until)
            raise PeerError("called with a wrong token", place=who)
        _say(connection, {"ncclcheck": PROTOCOL, "proof": proof(token, Role.HOST, mine, theirs)}, until)
    return Channel(connection, Role.HOST, _key(token, mine, theirs))


def greet_host(connection: socket.socket, token: str, limit: float = 5.0) -> Channel:
    """As the guest: prove that the token is known, and have the host prove it too; PeerError says why not."""
    until, mine = time.monotonic() + limit, secrets.token_hex(_CHALLENGE)
    who = str(connection.getpeername()[0])
    with _greeting(who):
        theirs = _hear(connection, until, who)["challenge"]
        mine_proved = proof(token, Role.GUEST, theirs, mine)
        _say(connection, {"ncclcheck": PROTOCOL, "challenge": mine, "proof": mine_proved}, until)
        answer = _hear(connection, until, who)
        if answer["refused"]:
            raise PeerError(f"it refuses: {answer['refused']}", place=who, next_step=_COPY_AGAIN)
        if not _same(answer["proof"], proof(token, Role.HOST, theirs, mine)):
            raise PeerError("whoever answers there does not know the token", place=who, next_step=_COPY_AGAIN)
    return Channel(connection, Role.GUEST, _key(token, theirs, mine))


_COPY_AGAIN = "Copy the line that ncclcheck pair shows again; a token is good for one pairing only."


@contextmanager
def _greeting(who: str) -> Iterator[None]:
    """What goes wrong while both are strangers to each other, in one sentence."""
    try:
        yield
    except TimeoutError as error:
        raise PeerError("said nothing that counts within the time limit", place=who) from error
    except OSError as error:
        raise PeerError("hung up during the greeting", place=who) from error


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())


def _key(token: str, host_challenge: str, guest_challenge: str) -> bytes:
    return hmac.new(token.encode(), f"key {host_challenge} {guest_challenge}".encode(), hashlib.sha256).digest()


def _say(connection: socket.socket, said: dict[str, str | int], until: float) -> None:
    connection.settimeout(max(0.01, until - time.monotonic()))
    connection.sendall(json.dumps(said).encode() + b"\n")


def _hear(connection: socket.socket, until: float, who: str) -> dict[str, str]:
    """One line of at most 512 bytes; absent texts are empty."""
    line = bytearray()
    while not line.endswith(b"\n"):
        line += exactly(connection, 1, until)
        if len(line) > _GREETING:
            raise PeerError("is no ncclcheck: its first line has no end", place=who)
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict) or not isinstance(said.get("ncclcheck"), int):
        raise PeerError("is no ncclcheck: it speaks another protocol", place=who)
    if said["ncclcheck"] != PROTOCOL:
        raise PeerError(
            f"speaks version {said['ncclcheck']} of this protocol, and this ncclcheck speaks {PROTOCOL}",
            place=who,
            next_step="Install the same version of ncclcheck on both nodes.",
        )
    return {name: str(said.get(name, "")) for name in ("challenge", "proof", "refused")}
