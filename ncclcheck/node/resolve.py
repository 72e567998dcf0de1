"""Looking up a host name, as NCCL does for NCCL_COMM_ID."""

from __future__ import annotations

import socket


def first_address(name: str) -> str | None:
    """The first address of the name, any family; ``None`` where it has none."""
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return None
    return str(found[0][4][0])
