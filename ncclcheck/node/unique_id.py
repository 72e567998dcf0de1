"""The address inside an ncclUniqueId (pure).

Layout by NCCL version: a socket address at offset 0 up to 2.15, behind a 64-bit magic from 2.16 on
(bootstrap.h, ncclBootstrapHandle); family in host order, port in network order (sys/socket.h).
"""

from __future__ import annotations

import ipaddress
import socket
import struct
from collections.abc import Callable

from ncclcheck.node.version import since

_INET, _INET6 = 2, 10


def root_of(unique_id: bytes, nccl: str, name_of: Callable[[int], str] = socket.if_indextoname) -> str | None:
    """Address and port of the root, ``10.0.0.1:5000`` or ``[fd00::1]:5000``; ``None`` where the id holds none."""
    start = 8 if since(nccl, 2, 16) else 0
    stored = unique_id[start : start + 28]
    if len(stored) < 28:
        return None
    family, port = struct.unpack_from("<H", stored)[0], struct.unpack_from(">H", stored, 2)[0]
    if family == _INET:
        return f"{ipaddress.IPv4Address(stored[4:8])}:{port}"
    if family == _INET6:
        address = ipaddress.IPv6Address(stored[8:24])
        return f"[{address}{_zone(struct.unpack_from('<I', stored, 24)[0], name_of)}]:{port}"
    return None


def _zone(index: int, name_of: Callable[[int], str]) -> str:
    if not index:
        return ""
    try:
        return f"%{name_of(index)}"
    except OSError:
        return f"%{index}"
