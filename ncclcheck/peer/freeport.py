"""A port that nobody uses on this machine, found by looking: a rendezvous port is agreed on before anything listens."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable

from ncclcheck.errors import PeerError

_MOST = 100
"""Ports that are looked at, one after the other."""


def is_free(port: int) -> bool:
    """Whether a program can listen at this port on all addresses, as torch's store does (TCPStore, torch 1.13)."""
    for family, address in ((socket.AF_INET6, "::"), (socket.AF_INET, "0.0.0.0")):
        try:
            with socket.socket(family, socket.SOCK_STREAM) as listener:
                # Connections that ended a moment ago are nobody's; one that listens still is.
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                listener.bind((address, port))
                listener.listen(1)
        except OSError as error:
            # A machine without IPv6 is no obstacle.
            if error.errno not in (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL):
                return False
    return True


def free_port(first: int, free: Callable[[int], bool] = is_free) -> tuple[int, tuple[int, ...]]:
    """The first free port from this one on, and those before it that somebody has; PeerError where none is free."""
    taken: list[int] = []
    for port in range(first, min(first + _MOST, 65536)):
        if free(port):
            return port, tuple(taken)
        taken.append(port)
    raise PeerError(
        f"somebody has every port from {first} to {taken[-1]}",
        place="port",
        next_step="See who listens: ss -tlnp. Then repeat.",
    )
