"""Which connections to try: every own interface to every address of the others (pure)."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass

from ncclcheck.model import Address, Facts, Interface, LinkKind

MOST_CALLS = 512
"""Of one node: each is a socket, and a process may usually have 1024."""


@dataclass(frozen=True, slots=True)
class Door:
    """An open listener of a node."""

    host: str
    interface: str
    address: str
    """A link-local one has the callee's own zone: ``fe80::1%eth1``."""
    port: int
    scope: int = 0
    """Index of the interface on the callee; 0 where it is not known."""


@dataclass(frozen=True, slots=True)
class Call:
    """A connection to try."""

    interface: str
    """Our own; empty for the way that our kernel takes by itself."""
    source: str
    """Our address on it; empty for the one that our kernel takes."""
    callee: str
    target: str
    """The callee's interface."""
    address: str
    """As we have to call it: a link-local one has a zone of ours."""
    port: int


def listening_addresses(facts: Facts) -> tuple[str, ...]:
    """Where a node should listen: the addresses of interfaces that are up, link-local ones with their zone.

    A link-local one beside another address is left out: NCCL takes it only where an interface has nothing else.
    """
    return tuple(_zoned(one.address, link.name) for link in _usable(facts) for one in _meant(link))


def doors_of(facts: Facts, ports: tuple[tuple[str, int], ...]) -> tuple[Door, ...]:
    """The node's open listeners, by its addresses and their ports."""
    links = {_zoned(one.address, link.name): link for link in facts.interfaces for one in link.addresses}
    return tuple(
        Door(facts.host, links[address].name, address, port, links[address].index)
        for address, port in ports
        if address in links
    )


def calls_of(me: Facts, doors: tuple[Door, ...]) -> tuple[Call, ...]:
    """What this node tries, what tells most first; at most ``MOST_CALLS``.

    A link-local address says nothing about the link. NCCL sends the number of the callee's interface along with it,
    and the caller's kernel takes that for a number of its own (sin6_scope_id; ncclSocketConnect, misc/socket.cc):
    so does the unbound call, and where the number is not known there is none.
    """
    others = tuple(door for door in doors if door.host != me.host)
    unbound = tuple(_unbound(door) for door in others if door.scope or not is_link_local(door.address))
    bound = [pair for door in others for pair in _bound(me, door)]
    near = tuple(call for call, same in bound if same)
    far = tuple(call for call, same in bound if not same)
    return (*unbound, *near, *far)[:MOST_CALLS]


def bare(address: str) -> str:
    """The address without its zone."""
    return address.partition("%")[0]


def is_link_local(address: str) -> bool:
    """Whether it is an IPv6 address that is valid on one link only."""
    return ":" in address and ipaddress.ip_address(bare(address)).is_link_local


def _zoned(address: str, interface: str) -> str:
    return f"{bare(address)}%{interface}" if is_link_local(address) else address


def _usable(facts: Facts) -> tuple[Interface, ...]:
    return tuple(link for link in facts.interfaces if link.up is not False and link.kind is not LinkKind.LOOPBACK)


def _meant(link: Interface) -> tuple[Address, ...]:
    lasting = tuple(one for one in link.addresses if not is_link_local(one.address))
    return lasting or link.addresses


def _unbound(door: Door) -> Call:
    address = f"{bare(door.address)}%{door.scope}" if is_link_local(door.address) else door.address
    return Call("", "", door.host, door.interface, address, door.port)


def _bound(me: Facts, door: Door) -> Iterator[tuple[Call, bool]]:
    """A call from each interface that has a fitting address, and whether both are in one subnet."""
    for link in _usable(me):
        fitting = [one for one in link.addresses if _fits(one, door)]
        # The address in the callee's subnet, where there is one.
        fitting.sort(key=lambda one: not _same_subnet(one, door))
        for one in fitting[:1]:
            source, address = _zoned(one.address, link.name), _zoned(door.address, link.name)
            call = Call(link.name, source, door.host, door.interface, address, door.port)
            yield call, _same_subnet(one, door)


def _fits(own: Address, door: Door) -> bool:
    same_family = (":" in own.address) == (":" in door.address)
    return same_family and is_link_local(own.address) == is_link_local(door.address)


def _same_subnet(own: Address, door: Door) -> bool:
    network = ipaddress.ip_network(f"{bare(own.address)}/{own.prefix}", strict=False)
    return ipaddress.ip_address(bare(door.address)) in network
