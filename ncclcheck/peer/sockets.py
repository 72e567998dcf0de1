"""Sockets that say why a call failed: what Linux keeps about a connection beyond its errno.

Numbers that Python has no name for: linux/in.h, linux/in6.h, linux/tcp.h (struct tcp_info), linux/sockios.h.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import socket
import struct
import time
from dataclasses import dataclass

from ncclcheck.peer.calls import Call, bare
from ncclcheck.peer.icmp import Failure, Notice, notice_of

_IP_RECVERR, _IPV6_RECVERR = 11, 25
_IP_MTU, _IPV6_MTU = 14, 24
_IP_BIND_ADDRESS_NO_PORT = 24
_SO_BINDTODEVICE = 25
_MSG_ERRQUEUE = 0x2000
_SIOCGIFMTU = 0x8921
_SIOCOUTQ = 0x5411
_TCP_INFO = struct.Struct("=8B24I")
_SYN_SENT = 2
_TIMESTAMPS = 1
_TIMESTAMP_BYTES = 12

Target = tuple[str, int] | tuple[str, int, int, int]


def socket_address(address: str, port: int) -> Target:
    """What bind(2) and connect(2) take; OSError where a zone names no interface of this machine."""
    if ":" not in address:
        return address, port
    name, _, zone = address.partition("%")
    if not zone:
        return name, port, 0, 0
    return name, port, 0, int(zone) if zone.isdigit() else _index(zone)


def _index(interface: str) -> int:
    try:
        return socket.if_nametoindex(interface)
    except OSError as error:
        # Python gives it no errno.
        raise OSError(errno.ENODEV, os.strerror(errno.ENODEV)) from error


def family_of(address: str) -> int:
    """AF_INET or AF_INET6."""
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def calling_socket(call: Call) -> socket.socket:
    """A socket that goes out as the call says; OSError where it cannot."""
    one = socket.socket(family_of(call.address), socket.SOCK_STREAM)
    try:
        one.setblocking(False)
        # Closing must leave no port waiting for a minute: there may be few.
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        keep_errors(one, True)
        if call.interface:
            _bind(one, call)
    except BaseException:
        one.close()
        raise
    return one


def keep_errors(one: socket.socket, wanted: bool) -> None:
    """Have the kernel keep ICMP messages; on an established connection they would end it, unlike NCCL's."""
    six = one.family == socket.AF_INET6
    level, option = (socket.IPPROTO_IPV6, _IPV6_RECVERR) if six else (socket.IPPROTO_IP, _IP_RECVERR)
    one.setsockopt(level, option, int(wanted))


def _bind(one: socket.socket, call: Call) -> None:
    # Before Linux 5.7 this takes CAP_NET_RAW; the source address alone then chooses, where routes do not say otherwise.
    with contextlib.suppress(PermissionError):
        one.setsockopt(socket.SOL_SOCKET, _SO_BINDTODEVICE, call.interface.encode())
    # The port is chosen with the connection, as for a call that is not bound: a port can serve several.
    with contextlib.suppress(OSError):
        one.setsockopt(socket.IPPROTO_IP, _IP_BIND_ADDRESS_NO_PORT, 1)
    one.bind(socket_address(call.source, 0))


def is_own(address: str) -> bool:
    """Whether this node itself has the address; nothing is sent."""
    with contextlib.suppress(OSError), socket.socket(family_of(address), socket.SOCK_DGRAM) as one:
        one.connect(socket_address(address, 9))
        return bare(one.getsockname()[0]) == bare(address)
    return False


def local_address(one: socket.socket) -> str | None:
    """The address that the socket calls from; ``None`` where it has none so far."""
    address = bare(one.getsockname()[0])
    return None if address in ("0.0.0.0", "::") else address


def interface_mtu(name: str) -> int | None:
    """Bytes; ``None`` where there is no such interface."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        asked = struct.pack("16si12x", name.encode(), 0)
        return int(struct.unpack("16si12x", fcntl.ioctl(one, _SIOCGIFMTU, asked))[1])
    return None


def path_mtu(one: socket.socket) -> int:
    """Bytes of the largest packet to the other end, as far as this kernel has learned."""
    if one.family == socket.AF_INET6:
        return one.getsockopt(socket.IPPROTO_IPV6, _IPV6_MTU)
    return one.getsockopt(socket.IPPROTO_IP, _IP_MTU)


def unconfirmed(one: socket.socket) -> int:
    """Bytes that were sent or wait to be, and that the other end's kernel has not confirmed."""
    return int(struct.unpack("i", fcntl.ioctl(one, _SIOCOUTQ, bytes(4)))[0])


@dataclass(frozen=True, slots=True)
class TcpState:
    """What the kernel counts about a connection (struct tcp_info)."""

    calling: bool
    """Neither yes nor no has come so far."""
    timeouts: int
    """How often it wanted to repeat the first packet, since the last answer."""
    repeated: int
    """How often it did, or handed it down in vain; not while the first one still waits to be sent."""
    underway: int
    """Repeated packets that went out and are not confirmed."""
    round_trip: float
    """Seconds."""
    sends: int
    """Bytes of a full packet that this end sends, headers included."""
    takes: int
    """Bytes of the largest packet that it lets the other end send."""


def tcp_state(one: socket.socket) -> TcpState:
    """Of this connection, now."""
    counted = _TCP_INFO.unpack(one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO.size))
    numbers = counted[8:]
    options = _TIMESTAMP_BYTES if counted[5] & _TIMESTAMPS else 0
    return TcpState(
        calling=counted[0] == _SYN_SENT,
        timeouts=counted[2],
        repeated=numbers[23],
        underway=numbers[7],
        round_trip=numbers[15] / 1e6,
        sends=numbers[2] + options + headers(one),
        takes=numbers[19] + options + headers(one),
    )


def headers(one: socket.socket) -> int:
    """Bytes of the headers of IP and TCP, without options."""
    return 60 if one.family == socket.AF_INET6 else 40


async def connect(one: socket.socket, target: Target, until: float) -> Failure | None:
    """Connect; ``None`` once that is done. ``until`` is a time of time.monotonic()."""
    begin = time.monotonic()
    code = one.connect_ex(target)
    if code not in (0, errno.EINPROGRESS):
        return Failure(code, 0.0)
    try:
        await asyncio.wait_for(_writable(one), max(0.0, until - begin))
    except asyncio.TimeoutError:
        return Failure(errno.ETIMEDOUT, time.monotonic() - begin)
    code = one.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if not code:
        return None
    notice = _notice(one)
    own = notice is not None and is_own(notice.sender)
    return Failure(code, time.monotonic() - begin, notice, own)


async def _writable(one: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    loop.add_writer(one, _raise_flag, ready)
    try:
        await ready
    finally:
        loop.remove_writer(one)


def _raise_flag(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


def _notice(one: socket.socket) -> Notice | None:
    with contextlib.suppress(OSError):
        _, controls, _, _ = one.recvmsg(1, 512, _MSG_ERRQUEUE)
        found = (notice_of(content) for _, kind, content in controls if kind in (_IP_RECVERR, _IPV6_RECVERR))
        return next(found, None)
    return None


async def read_line(one: socket.socket, longest: int) -> bytes:
    """A line without its end; empty where there is none, or it is longer than that."""
    loop = asyncio.get_running_loop()
    got = b""
    while b"\n" not in got:
        piece = await loop.sock_recv(one, longest + 1 - len(got))
        got += piece
        if not piece or len(got) > longest:
            return b""
    return got.partition(b"\n")[0]


@dataclass(slots=True)
class Tally:
    """Bytes so far; its reader alone changes it."""

    count: int = 0


async def read_bytes(one: socket.socket, number: int, tally: Tally) -> bool:
    """Count so many bytes in; false where the other end closed before."""
    loop = asyncio.get_running_loop()
    while tally.count < number:
        piece = await loop.sock_recv(one, min(65536, number - tally.count))
        if not piece:
            return False
        tally.count += len(piece)
    return True
