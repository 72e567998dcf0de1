"""What an address or an interface looks like, and which networks two hosts share. Pure.

A look is a hint, never a proof: rules that use one call themselves likely at most, unless a failure goes with it.
"""

from __future__ import annotations

import ipaddress
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from ncclcheck.model import Endpoint, Job
from ncclcheck.rulebook.subject import Value, host_of, known

_DOCKER = ipaddress.ip_network("172.17.0.0/16")
_DOCKER_POOL = ipaddress.ip_network("172.16.0.0/12")
_BEFORE_POOL = ipaddress.ip_network("172.16.0.0/16")
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
_BITS = {4: 32, 6: 128}
_USUAL_PREFIX = {4: 24, 6: 64}
_MOST_ADDRESSES = 16384
"""Addresses whose parsed form is remembered."""

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


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


@lru_cache(_MOST_ADDRESSES)
def _parsed(address: str) -> _Address | None:
    try:
        return ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None


def in_pool(address: str) -> bool:
    """Whether it is in a default pool of Docker's bridges, 172.17.0.0 to 172.31.255.255 (libnetwork, ipamutils)."""
    parsed = _parsed(address)
    return parsed is not None and parsed in _DOCKER_POOL and parsed not in _BEFORE_POOL


@lru_cache(_MOST_ADDRESSES)
def address_look(address: str) -> str:
    """loopback, link-local, docker, virbr, plain; empty for what is no address."""
    parsed = _parsed(address)
    if parsed is None:
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


def places_of(job: Job) -> Places:
    """Every address that the logs or the nodes' facts tell of, one entry for each host, interface and address."""
    merged: dict[tuple[str, str, str], Place] = {}
    for place in (*_from_logs(job), *_from_nodes(job)):
        key = (place.host, place.interface, place.address)
        known = merged.get(key, place)
        merged[key] = replace(known, prefix=known.prefix or place.prefix, roles=known.roles | place.roles)
    return Places(merged.values())


def _from_logs(job: Job) -> Iterator[Place]:
    for rank in job.ranks:
        host = host_of(rank)
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
    left, right = _parsed(one.address), _parsed(other.address)
    if one.address == other.address or left is None or right is None or left.version != right.version:
        return False
    prefix = one.prefix or other.prefix or _USUAL_PREFIX[left.version]
    return _network(left, prefix) == _network(right, prefix)


def _network(address: _Address, prefix: int) -> int:
    """The leading bits."""
    return int(address) >> max(_BITS[address.version] - prefix, 0)


class Places:
    """All addresses of the job, in order, with indexes: a job has thousands, and each is asked about."""

    def __init__(self, places: Iterable[Place]) -> None:
        self._by_host: defaultdict[str, list[Place]] = defaultdict(list)
        self._by_address: defaultdict[str, list[Place]] = defaultdict(list)
        self._by_name: dict[tuple[str, str, str], Place] = {}
        self._by_endpoint: dict[tuple[str, str], Place] = {}
        self._order: dict[Place, int] = {}
        for place in places:
            self._by_host[place.host].append(place)
            self._by_address[place.address].append(place)
            self._by_name.setdefault((place.host, place.interface, place.address), place)
            self._by_endpoint.setdefault((place.interface, place.address), place)
            self._order.setdefault(place, len(self._order))
        self._tables: dict[tuple[int, int, int], dict[int, list[Place]]] = {}

    def __iter__(self) -> Iterator[Place]:
        return iter(self._order)

    def of_host(self, host: str) -> list[Place]:
        """The host's addresses."""
        return self._by_host.get(host, [])

    def at(self, address: str) -> list[Place]:
        """Where the address is: on several hosts, if it is a bridge's."""
        return self._by_address.get(address, [])

    def named(self, host: str, interface: str, address: str) -> Place:
        """The one of just this name."""
        return self._by_name[host, interface, address]

    def with_endpoint(self, interface: str, address: str) -> Place | None:
        """The first with this interface and address, on whichever host."""
        return self._by_endpoint.get((interface, address))

    def shared_by(self, place: Place) -> bool | None:
        """Whether another host has an address in this network; None while no other host is known."""
        if len(self._by_host) == (place.host in self._by_host):
            return None
        prefixes = ((own, place.prefix or own) for own in self._prefixes)
        return next(self._beside(place, prefixes), None) is not None

    def peer_of(self, place: Place) -> Place | None:
        """The first address of another host whose network this one is in."""
        prefixes = ((own, own or place.prefix or 0) for own in self._prefixes)
        return min(self._beside(place, prefixes), key=self._order.__getitem__, default=None)

    @cached_property
    def _prefixes(self) -> dict[int, list[Place]]:
        """The addresses by prefix length; 0 for those where it is not known."""
        found: defaultdict[int, list[Place]] = defaultdict(list)
        for place in self:
            found[place.prefix or 0].append(place)
        return found

    def _beside(self, place: Place, prefixes: Iterable[tuple[int, int]]) -> Iterator[Place]:
        """Of each own prefix length, the first address of another host in this network, as long as the second says."""
        address = _parsed(place.address)
        if address is None:
            return
        for own, prefix in prefixes:
            length = prefix or _USUAL_PREFIX[address.version]
            there = self._table(own, address.version, length).get(_network(address, length), ())
            others = (other for other in there if other.host != place.host and other.address != place.address)
            if found := next(others, None):
                yield found

    def _table(self, own: int, version: int, length: int) -> dict[int, list[Place]]:
        """The addresses of one prefix length by network; two hosts for each address are enough to find another one."""
        if (own, version, length) not in self._tables:
            hosts: defaultdict[str, set[str]] = defaultdict(set)
            table = self._tables[own, version, length] = defaultdict(list)
            for place in self._prefixes[own]:
                address, seen = _parsed(place.address), hosts[place.address]
                if address and address.version == version and place.host not in seen and len(seen) < 2:
                    seen.add(place.host)
                    table[_network(address, length)].append(place)
        return self._tables[own, version, length]

    @cached_property
    def _named_hosts(self) -> dict[str, tuple[str, ...]]:
        """The hosts with a known name that have an address."""
        return {
            address: tuple(sorted({place.host for place in places if place.named}))
            for address, places in self._by_address.items()
        }

    def twins(self, place: Place) -> tuple[str, ...]:
        """Other hosts with this very address: a network that is not shared, since addresses in one network differ."""
        hosts = self._named_hosts.get(place.address, ()) if place.named else ()
        at = bisect_left(hosts, place.host)
        return hosts[:at] + hosts[at + 1 :] if hosts[at : at + 1] == (place.host,) else hosts

    def has_twin(self, place: Place) -> bool:
        """Whether there are any."""
        hosts = self._named_hosts.get(place.address, ()) if place.named else ()
        return len(hosts) > 1 or (len(hosts) == 1 and hosts[0] != place.host)

    def _fit(self, place: Place) -> bool:
        return place.look not in POOR and not self.has_twin(place)

    def better_than(self, place: Place) -> Place | None:
        """The host's interface to use in its stead: one shared with another host, else one that looks it."""
        mine = (other for other in self.of_host(place.host) if other.interface != place.interface)
        fit = [other for other in mine if self._fit(other)]
        shared = [other for other in fit if self.shared_by(other)]
        unsure = [other for other in fit if self.shared_by(other) is None]
        return next(iter(shared or unsure or fit), None) or self._as_elsewhere(place)

    def _as_elsewhere(self, place: Place) -> Place | None:
        """The interface by name that another host uses, where the host's own list is not in the log."""
        return next(
            (
                Place(place.host, other.interface, "")
                for other in self._in_use
                if other.host != place.host and other.interface != place.interface
            ),
            None,
        )

    @cached_property
    def _in_use(self) -> list[Place]:
        """Fit interfaces that NCCL uses; two hosts for each name are enough to find another one."""
        hosts: defaultdict[str, set[str]] = defaultdict(set)
        found = []
        for place in self:
            seen = hosts[place.interface]
            if place.roles and place.host not in seen and len(seen) < 2 and self._fit(place):
                seen.add(place.host)
                found.append(place)
        return found

    def values(self, place: Place) -> dict[str, Value]:
        """The attributes of an address on a host's interface, and of the interface to use in its stead."""
        return {
            **known(
                interface=place.interface,
                address=place.address,
                look=place.look,
                shared=self.shared_by(place),
            ),
            **self.twin_values(place),
            **self.better_values(place),
        }

    def twin_values(self, place: Place) -> dict[str, Value]:
        """twin, twin_hosts: who has the same address."""
        same = self.twins(place)
        return known(twin=bool(same), twin_hosts=" and ".join((place.host, *same)) if same else None)

    def better_values(self, place: Place | None) -> dict[str, Value]:
        """better, better_address, better_shared: the interface to use in its stead, if one is known."""
        better = self.better_than(place) if place else None
        if better is None:
            return {}
        return known(better=better.interface, better_address=better.address, better_shared=self.shared_by(better))
