"""NCCL_COMM_ID: the address it names, and whether it lies in an interface's subnet (pure).

Source: ncclSocketGetAddrFromString and matchSubnet of NCCL's misc/socket.cc.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass

from ncclcheck.node.pattern import split_names
from ncclcheck.node.undecodable import length

Resolver = Callable[[str], str | None]
"""Looks up a host name: its first address, or ``None``."""

_BRACKETED = re.compile(r"\[([^]%]*)(?:%([^]]*))?\].*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Peer:
    """The address in NCCL_COMM_ID."""

    address: str
    zone: str = ""
    """The interface that a link-local address is bound to."""

    @property
    def family(self) -> int:
        """4 or 6."""
        return 6 if ":" in self.address else 4


def literal(name: str) -> str | None:
    """Look up nothing: only an address is one."""
    try:
        return str(ipaddress.ip_address(name))
    except ValueError:
        return None


def peer_of(comm_id: str, resolve: Resolver) -> Peer | None:
    """The address in ``host:port``, ``[ipv6]:port`` or ``[ipv6%eth0]:port``; ``None`` where NCCL refuses the text."""
    if length(comm_id) < 2:
        return None
    if comm_id.startswith("["):
        found = _BRACKETED.fullmatch(comm_id)
        return _bracketed(found[1], found[2] or "") if found else None
    names = split_names(comm_id)
    address = (literal(names[0]) or resolve(names[0])) if names else None
    return Peer(*address.split("%", 1)) if address else None


def _bracketed(text: str, zone: str) -> Peer:
    # NCCL does not look whether inet_pton understood the text, and goes on with zeros.
    address = literal(text) or ""
    return Peer(address if ":" in address else "::", zone)


def same_subnet(address: str, prefix: int, peer: Peer) -> bool:
    """Whether the peer lies in the subnet of an interface's address; both are of one family."""
    bare, _, zone = address.partition("%")
    network = ipaddress.ip_network(f"{bare}/{prefix}", strict=False)
    return ipaddress.ip_address(peer.address) in network and zone == peer.zone
