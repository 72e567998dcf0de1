"""Calls that reached this machine's kernel and were never completed: our answer to them got lost.

Read from /proc/net/tcp and tcp6 (proc(5), net/ipv4/tcp_ipv4.c), where such a call is in state 03, SYN_RECV, for as
long as the kernel repeats its answer: about a minute, unless it is set otherwise.
"""

from __future__ import annotations

import ipaddress
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_SYN_RECV = "03"
_MOST = 4096
"""Calls that are kept in mind: a flood of them is not ours."""


Lost = tuple[str, int, str]
"""A call that never came about: the caller's address and port, and our address that it called."""


@dataclass(frozen=True, slots=True)
class HalfOpen:
    """A call that waits for the caller's confirmation."""

    caller: str
    """Address, as we see it."""
    caller_port: int
    address: str
    """Our own, that was called."""
    port: int


def half_open(table: str) -> Iterator[HalfOpen]:
    """Those in the text of a table."""
    for line in table.splitlines()[1:]:
        words = line.split(maxsplit=4)
        if len(words) > 3 and words[3] == _SYN_RECV:
            (address, port), (caller, caller_port) = _place(words[1]), _place(words[2])
            yield HalfOpen(caller, caller_port, address, port)


def _place(text: str) -> tuple[str, int]:
    """``0B00000A:1F90`` as 10.0.0.11 and 8080: the address in words of 32 bits, each in this machine's byte order."""
    address, _, port = text.partition(":")
    words = (int(address[at : at + 8], 16).to_bytes(4, sys.byteorder) for at in range(0, len(address), 8))
    return str(ipaddress.ip_address(b"".join(words))), int(port, 16)


class SynQueue:
    """What was seen at our ports so far; fed by one thread, asked by another."""

    def __init__(self, ports: frozenset[int], tables: tuple[Path, ...] = TABLES) -> None:
        self._ports = ports
        self._tables = tables
        self._seen: set[HalfOpen] = set()
        self._completed: set[tuple[str, int]] = set()
        self._lock = threading.Lock()

    def sample(self) -> None:
        """Look once."""
        found = {one for table in self._tables for one in half_open(_text(table)) if one.port in self._ports}
        with self._lock:
            if len(self._seen) < _MOST:
                self._seen |= found

    def complete(self, caller: str, port: int) -> None:
        """That call came about after all."""
        with self._lock:
            self._completed.add((caller, port))

    def unanswered(self) -> frozenset[Lost]:
        """Those that never came about."""
        with self._lock:
            lost = (one for one in self._seen if (one.caller, one.caller_port) not in self._completed)
            return frozenset((one.caller, one.caller_port, one.address) for one in lost)


def _text(table: Path) -> str:
    try:
        return table.read_text()
    except OSError:
        # No IPv6, or /proc is hidden from us: then nothing is known of such calls.
        return ""
