"""What an address or an interface looks like, and which networks two hosts share. Pure.

A look is a hint, never a proof: rules that use one call themselves likely at most, unless a failure goes with it.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ncclcheck.model import Endpoint, Job
from ncclcheck.rulebook.subject import Value, known

_DOCKER = ipaddress.ip_network("172.17.0.0/16")
_DOCKER_POOL = ipaddress.ip_network("172.16.0.0/12")
_LIBVIRT = ipaddress.ip_network("192.168.122.0/24")
_NAMES = tuple(
    (re.compile(pattern), look)
    for pattern, look in (
        (r"lo$", "loopback"),
        (r"docker|br-[0-9a-f]{12}|podman|cni|lxcbr|lxdbr", "docker"),
        (r"virbr|vnet\d", "virbr"),
        (r"veth|cali|flannel|cilium|lxc\w", "veth"),
        (r"tun\d|tap\d|wg\d|tailscale|zt|utun|ppp", "tunnel"),
        (r"ibmc|usb\d|idrac", "management"),
    )
)
POOR = frozenset({"loopback", "docker", "virbr", "veth", "tunnel", "management", "link-local"})
"""Looks of interfaces that nodes usually do not share."""


@dataclass(frozen=True, slots=True)
class Place:
    """An address on a host's interface."""

    host: str
    interface: str
    address: str
    prefix: int | None = None
    roles: frozenset[str] = frozenset()
    """bootstrap, data: what NCCL uses it for; empty for one that the node merely has."""
    named: bool = True
    """Whether the host's name is known; else ``host`` is the log's, and two logs may be of one host."""

    @property
    def look(self) -> str:
        """What the interface looks like by its name, else by its address."""
        by_address = address_look(self.address)
        if by_address in ("loopback", "link-local"):
            return by_address
        return next((look for pattern, look in _NAMES if pattern.match(self.interface)), by_address)


def address_look(address: str) -> str:
    """loopback, link-local, docker, virbr, plain; empty for what is no address."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return ""
    if parsed.is_loopback:
        return "loopback"
    if parsed.is_link_local:
        return "link-local"
    if isinstance(parsed, ipaddress.IPv6Address):
        return "plain"
    if parsed in _DOCKER or (parsed in _DOCKER_POOL and parsed.packed[2:] == b"\0\1"):
        return "docker"  # Docker's default bridge, or the gateway address of one of its further bridges.
    return "virbr" if parsed in _LIBVIRT else "plain"


def places_of(job: Job) -> tuple[Place, ...]:
    """Every address that the logs or the nodes' facts tell of, one entry for each host, interface and address."""
    merged: dict[tuple[str, str, str], Place] = {}
    for place in (*_from_logs(job), *_from_nodes(job)):
        key = (place.host, place.interface, place.address)
        known = merged.get(key, place)
        merged[key] = replace(known, prefix=known.prefix or place.prefix, roles=known.roles | place.roles)
    return tuple(merged.values())


def _from_logs(job: Job) -> Iterator[Place]:
    for rank in job.ranks:
        host = rank.host or rank.process.source
        if rank.bootstrap:
            yield _announced(host, rank.bootstrap, "bootstrap", rank.host is not None)
        for endpoint in rank.sockets:
            yield _announced(host, endpoint, "data", rank.host is not None)


def _announced(host: str, endpoint: Endpoint, role: str, named: bool) -> Place:
    return Place(host, endpoint.interface, endpoint.address, None, frozenset({role}), named)


def _from_nodes(job: Job) -> Iterator[Place]:
    for node in job.nodes:
        for interface in node.interfaces:
            for address in interface.addresses:
                # A pasted list may be of a host that the log calls by another name.
                yield Place(node.host, interface.name, address.address, address.prefix, named=not node.places)


def same_network(one: Place, other: Place) -> bool:
    """Whether two different addresses are in one network; without a prefix length, /24 (or /64) is taken."""
    if one.address == other.address:
        return False
    try:
        left = ipaddress.ip_address(one.address.partition("%")[0])
        right = ipaddress.ip_address(other.address.partition("%")[0])
    except ValueError:
        return False
    if left.version != right.version:
        return False
    prefix = one.prefix or other.prefix or (24 if left.version == 4 else 64)
    return right in ipaddress.ip_network((left, prefix), strict=False)


def shared_by(place: Place, places: tuple[Place, ...]) -> bool | None:
    """Whether another host has an address in this network; None while no other host is known."""
    others = [other for other in places if other.host != place.host]
    if not others:
        return None
    return any(same_network(place, other) for other in others)


def twins(place: Place, places: tuple[Place, ...]) -> tuple[str, ...]:
    """Other hosts with this very address: a network that is not shared, since addresses in one network differ."""
    named = (other for other in places if other.named and place.named)
    return tuple(sorted({other.host for other in named if other.host != place.host and other.address == place.address}))


def better_than(place: Place, places: tuple[Place, ...]) -> Place | None:
    """The host's interface to use in its stead: one shared with another host if there is, else one that looks it."""
    mine = [other for other in places if other.host == place.host and other.interface != place.interface]
    fit = [other for other in mine if other.look not in POOR and not twins(other, places)]
    shared = [other for other in fit if shared_by(other, places)]
    unsure = [other for other in fit if shared_by(other, places) is None]
    return next(iter(shared or unsure or fit), None) or _as_elsewhere(place, places)


def _as_elsewhere(place: Place, places: tuple[Place, ...]) -> Place | None:
    """The interface by name that another host uses, where the host's own list is not in the log."""
    return next(
        (
            Place(place.host, other.interface, "")
            for other in places
            if other.host != place.host
            and other.roles
            and other.look not in POOR
            and not twins(other, places)
            and other.interface != place.interface
        ),
        None,
    )


def place_values(place: Place, places: tuple[Place, ...]) -> dict[str, Value]:
    """The attributes of an address on a host's interface, and of the interface to use in its stead."""
    same = twins(place, places)
    return {
        **known(
            interface=place.interface,
            address=place.address,
            look=place.look,
            shared=shared_by(place, places),
            twin=bool(same),
            twin_hosts=" and ".join((place.host, *same)) if same else None,
        ),
        **better_values(place, places),
    }


def better_values(place: Place | None, places: tuple[Place, ...]) -> dict[str, Value]:
    """better, better_address, better_shared: the interface to use in its stead, if one is known."""
    better = better_than(place, places) if place else None
    if better is None:
        return {}
    return known(better=better.interface, better_address=better.address, better_shared=shared_by(better, places))
