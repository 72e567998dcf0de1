"""What ranks and root tell each other when NCCL starts, by version, as bytes (pure).

Only the first two steps of init are here: a rank reports to the root, and the root tells it where the next rank
listens. Source: bootstrap.cc and misc/socket.cc; every layout was measured against the real root of NCCL 2.13 to 2.32.
Everything is in the order of little-endian machines, which all that NCCL is built for are.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
import struct
from dataclasses import dataclass

from ncclcheck.errors import PeerError

_INET, _INET6 = 2, 10
_SOCKET_ADDRESS = 28
"""Bytes of sockaddr_in6, the larger member of NCCL's union of addresses (socket.h)."""
_NET_HANDLE = 128
"""Bytes of NCCL_NET_HANDLE_MAXSIZE, which from 2.23 on surround the address for the ring."""
_BOOTSTRAP_SOCKET = 1
"""ncclSocketTypeBootstrap."""
_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})\.(\d{1,4})")
_CHECKSUM = 2


@dataclass(frozen=True, slots=True)
class SocketAddress:
    """An address and port as they stand in NCCL's messages."""

    address: str
    """Without a zone."""
    port: int
    scope: int = 0
    """Index of the interface that a link-local IPv6 address is bound to, as its owner counts them."""

    def __str__(self) -> str:
        zone = f"%{self.scope}" if self.scope else ""
        return f"[{self.address}{zone}]:{self.port}" if ":" in self.address else f"{self.address}:{self.port}"


@dataclass(frozen=True, slots=True)
class Ticket:
    """What a rank must know to take part: the content of a unique id, and the version that tells how to talk."""

    nccl: str
    magic: int
    """64 bits that begin every connection from NCCL 2.16 on; 0 before."""
    root: SocketAddress


def sockaddr(place: SocketAddress) -> bytes:
    """A sockaddr_in or sockaddr_in6 (ip(7), ipv6(7)) in 28 bytes."""
    packed = ipaddress.ip_address(place.address).packed
    if len(packed) == 4:
        return (struct.pack("<H", _INET) + struct.pack(">H", place.port) + packed).ljust(_SOCKET_ADDRESS, b"\0")
    head = struct.pack("<H", _INET6) + struct.pack(">HI", place.port, 0)
    return head + packed + struct.pack("<I", place.scope)


def socket_address(stored: bytes) -> SocketAddress | None:
    """The address in a sockaddr; ``None`` where there is none of IPv4 or IPv6."""
    if len(stored) < _SOCKET_ADDRESS:
        return None
    (family,), (port,) = struct.unpack_from("<H", stored), struct.unpack_from(">H", stored, 2)
    if family == _INET:
        return SocketAddress(str(ipaddress.IPv4Address(stored[4:8])), port)
    if family == _INET6:
        (scope,) = struct.unpack_from("<I", stored, 24)
        return SocketAddress(str(ipaddress.IPv6Address(stored[8:24])), port, scope)
    return None


def ticket_of(unique_id: bytes, nccl: str) -> Ticket:
    """The ticket for the root of a unique id (ncclBootstrapHandle: magic from 2.16 on, then the root's address).

    Raises PeerError where the id names no address, and for versions before 2.8, whose ranks talk in another way.
    """
    if not _since(nccl, 8):
        problem = f"NCCL {nccl} starts in another way than NCCL 2.8 and later"
        raise PeerError(problem, next_step="Use a newer NCCL for this test")
    start = 8 if _since(nccl, 16) else 0
    root = socket_address(unique_id[start : start + _SOCKET_ADDRESS])
    if root is None:
        raise PeerError("NCCL's unique id names no address of a root")
    return Ticket(nccl, int.from_bytes(unique_id[:start], "little"), root)


def ticket_text(ticket: Ticket) -> str:
    """The ticket as one word of letters, digits, dots and a dash, with a checksum."""
    packed = ipaddress.ip_address(ticket.root.address).packed
    scope = struct.pack("<I", ticket.root.scope) if len(packed) == 16 else b""
    content = struct.pack("<QH", ticket.magic, ticket.root.port) + packed + scope
    word = base64.b32encode(content + _checksum(ticket.nccl, content)).decode().rstrip("=")
    return f"{ticket.nccl}-{word}"


def read_ticket(text: str) -> Ticket:
    """The ticket in such a word; PeerError where it is none, or was not copied rightly."""
    nccl, _, word = text.strip().partition("-")
    try:
        content = base64.b32decode(word.upper() + "=" * (-len(word) % 8))
    except (binascii.Error, ValueError) as error:
        raise _no_ticket(text) from error
    content, checksum = content[:-_CHECKSUM], content[-_CHECKSUM:]
    length = {14: 4, 30: 16}.get(len(content))
    if length is None or not _VERSION.fullmatch(nccl) or checksum != _checksum(nccl, content):
        raise _no_ticket(text)
    magic, port = struct.unpack_from("<QH", content)
    (scope,) = struct.unpack_from("<I", content, 26) if length == 16 else (0,)
    return Ticket(nccl, magic, SocketAddress(str(ipaddress.ip_address(content[10 : 10 + length])), port, scope))


def _checksum(nccl: str, content: bytes) -> bytes:
    return struct.pack("<I", binascii.crc32(nccl.encode() + content))[:_CHECKSUM]


def _no_ticket(text: str) -> PeerError:
    shown = text if len(text) <= 80 else f"{text[:80]}…"
    return PeerError(
        f"“{shown}” is not a ticket, or a part of it is missing",
        next_step="Copy the whole command that the first node printed",
    )


def greeting(ticket: Ticket) -> bytes:
    """What every connection begins with: magic and socket type; nothing before 2.16."""
    return struct.pack("<Qi", ticket.magic, _BOOTSTRAP_SOCKET) if _since(ticket.nccl, 16) else b""


def report(ticket: Ticket, rank: int, world_size: int, callback: SocketAddress, ring: SocketAddress) -> bytes:
    """All that a rank sends to the root: where the root calls back, and where the rank before it connects to."""
    numbers = [rank, world_size]
    if _since(ticket.nccl, 23):
        # One root of one (iroot, nroots); from 2.29 on also the first rank that it serves.
        numbers += [0, 1, *([0] if _since(ticket.nccl, 29) else [])]
    payload = struct.pack(f"<{len(numbers)}i", *numbers) + sockaddr(callback) + _for_ring(ticket, ring)
    return greeting(ticket) + struct.pack("<i", len(payload)) + payload


def answer(ticket: Ticket, next_rank: SocketAddress) -> bytes:
    """All that the root sends when it calls back."""
    payload = _for_ring(ticket, next_rank)
    return greeting(ticket) + struct.pack("<i", len(payload)) + payload


def answer_length(ticket: Ticket) -> int:
    """Bytes of what the root sends when it calls back."""
    return len(answer(ticket, SocketAddress("0.0.0.0", 0)))


def fault(ticket: Ticket, message: bytes) -> str:
    """What is wrong with a whole answer of the root's; empty where nothing is."""
    start = len(greeting(ticket))
    wrong = fault_in_greeting(ticket, message[:start])
    if wrong:
        return wrong
    (length,) = struct.unpack_from("<i", message, start)
    if length != answer_length(ticket) - start - 4:
        return f"with a message of {length} bytes, which is not what NCCL {ticket.nccl} sends"
    return "" if socket_address(message[start + 4 :]) else "without the address of a next rank"


def fault_in_greeting(ticket: Ticket, message: bytes) -> str:
    """What is wrong with the begin of a connection; empty where nothing is."""
    hello = greeting(ticket)
    if message == hello:
        return ""
    return "with a wrong magic" if message[:8] != hello[:8] else "for another purpose than NCCL's bootstrap"


def next_rank(ticket: Ticket, message: bytes) -> SocketAddress:
    """Where the next rank listens, by a whole answer that has no fault; PeerError where it has one."""
    found = socket_address(message[len(greeting(ticket)) + 4 :])
    if found is None:
        raise PeerError("the root's answer names no address of a next rank")
    return found


def _for_ring(ticket: Ticket, ring: SocketAddress) -> bytes:
    return sockaddr(ring).ljust(_NET_HANDLE if _since(ticket.nccl, 23) else _SOCKET_ADDRESS, b"\0")


def _since(nccl: str, minor: int) -> bool:
    """Whether the version is 2.``minor`` or newer."""
    found = _VERSION.match(nccl)
    return found is not None and (int(found[1]), int(found[2])) >= (2, minor)
