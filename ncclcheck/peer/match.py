"""Which networks nodes share, and which interface NCCL should use on each. Pure.

By their cards alone, or also by the connections that were tried between them.
An address counts only where NCCL would take it: the first IPv4 address of an interface, else its first IPv6 address
(NCCL 2.8 to 2.32, getifaddrs order; measured). Names of interfaces never decide.
"""

from __future__ import annotations

import ipaddress
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product

from ncclcheck.model import (
    Address,
    Cell,
    Facts,
    Interface,
    LinkKind,
    Match,
    NetworkMember,
    SharedNetwork,
    Use,
)
from ncclcheck.peer.calls import bare

_POOR = frozenset({LinkKind.DOCKER, LinkKind.VIRBR, LinkKind.BRIDGE, LinkKind.TUNNEL, LinkKind.WIRELESS})
"""Kinds of links that are taken only where nothing else fits."""
_MOST_OPTIONS = 4096
"""Combinations of interfaces that are weighed; two nodes with 64 interfaces each."""


@dataclass(frozen=True, slots=True)
class _Place:
    """An interface of a node with the address that NCCL takes on it."""

    host: str
    interface: Interface
    address: Address

    @property
    def use(self) -> Use:
        return Use(self.host, self.interface.name, self.address.address)


def match(nodes: tuple[Facts, ...], cells: tuple[Cell, ...] = ()) -> Match:
    """How the nodes fit together; with cells, an interface over which a connection failed counts last."""
    hosts = tuple(node.host for node in nodes)
    networks = shared_networks(nodes)
    options = [option for option in _options(nodes, networks, cells) if option.tenable]
    best = max(options, key=lambda option: option.merit, default=None)
    if best is None:
        return Match(hosts, networks, because=_why_none(nodes, networks))
    return Match(hosts, networks, tuple(place.use for place in best.places), best.proved, best.because)


def network_of(address: Address) -> str:
    """The network that an address is in, ``10.0.0.0/24``."""
    return str(ipaddress.ip_network(f"{bare(address.address)}/{address.prefix}", strict=False))


def taken(interface: Interface, family: str = "") -> Address | None:
    """The address that NCCL takes on an interface that is named exactly; ``family`` is NCCL_SOCKET_FAMILY.

    An address with a label of its own (``eth0:1``) goes by that name instead (measured, NCCL 2.13 to 2.32).
    """
    wanted = {"AF_INET": (4,), "AF_INET6": (6,)}.get(family, (4, 6))
    own = [address for address in interface.addresses if address.label is None and address.family in wanted]
    return min(own, key=lambda address: address.family, default=None)


def shared_networks(nodes: Iterable[Facts]) -> tuple[SharedNetwork, ...]:
    """Networks in which several nodes have an address of their own, those of most nodes first.

    An address that two nodes have (a bridge's) shows the opposite: within one network addresses differ. Link-local
    addresses, which every link has, show nothing.
    """
    groups: list[list[tuple[Address, NetworkMember]]] = []
    for address, member in sorted(_members(nodes), key=lambda one: -one[0].prefix):
        group = next((group for group in groups if mutual(address, group[0][0])), None)
        if group is None:
            groups.append(group := [])
        group.append((address, member))
    found = (SharedNetwork(network_of(group[0][0]), _untwinned([member for _, member in group])) for group in groups)
    shared = [network for network in found if len(_hosts(network)) > 1]
    return tuple(sorted(shared, key=lambda network: -len(_hosts(network))))


def link_local(address: str) -> bool:
    """Whether it is valid on one link only, 169.254.0.0/16 or fe80::/10."""
    return ipaddress.ip_address(bare(address)).is_link_local


def mutual(one: Address, other: Address) -> bool:
    """Whether each believes the other to be in its own network; their prefix lengths may differ."""
    return one.family == other.family and _contains(one, other) and _contains(other, one)


def _contains(one: Address, other: Address) -> bool:
    return ipaddress.ip_address(bare(other.address)) in ipaddress.ip_network(network_of(one))


def _hosts(network: SharedNetwork) -> set[str]:
    return {member.host for member in network.members}


def _members(nodes: Iterable[Facts]) -> Iterator[tuple[Address, NetworkMember]]:
    for node in nodes:
        for interface, address in usable_addresses(node):
            if not link_local(address.address):
                member = NetworkMember(node.host, interface.name, address.address, interface.mtu, interface.speed)
                yield address, member


def _untwinned(members: list[NetworkMember]) -> tuple[NetworkMember, ...]:
    hosts: defaultdict[str, set[str]] = defaultdict(set)
    for member in members:
        hosts[member.address].add(member.host)
    return tuple(member for member in members if len(hosts[member.address]) == 1)


def usable_addresses(node: Facts) -> Iterator[tuple[Interface, Address]]:
    """Every address that could lead to other nodes: of interfaces that are up, without loopback."""
    for interface in node.interfaces:
        if interface.kind is not LinkKind.LOOPBACK and interface.up is not False and interface.running is not False:
            yield from ((interface, address) for address in interface.addresses)


def _places(node: Facts) -> tuple[_Place, ...]:
    family = next((one.value for one in node.settings if one.name == "NCCL_SOCKET_FAMILY" and one.wins), "")
    interfaces = dict.fromkeys(interface for interface, _ in usable_addresses(node))
    found = ((interface, taken(interface, family)) for interface in interfaces)
    return tuple(_Place(node.host, interface, address) for interface, address in found if address)


@dataclass(frozen=True)
class _Option:
    """An interface for each node."""

    places: tuple[_Place, ...]
    known: Mapping[tuple[str, str, str], Cell]
    """Cells by caller, callee and address, of the way that the kernel takes by itself."""
    present: frozenset[tuple[str, str]]
    """Host and interface that NCCL takes now."""

    @cached_property
    def cells(self) -> tuple[Cell | None, ...]:
        """What is known of the connections, in all directions; None for one that was not tried."""
        pairs = permutations(self.places, 2)
        return tuple(self.known.get((one.host, other.host, other.address.address)) for one, other in pairs)

    @property
    def proved(self) -> bool:
        return all(cell is not None and cell.passed for cell in self.cells)

    @cached_property
    def same_network(self) -> bool:
        """Whether all addresses are in one network, and no two are the same."""
        addresses = {place.address.address for place in self.places}
        first, *others = self.places
        return (
            len(addresses) == len(self.places)
            and not self.local
            and all(mutual(first.address, other.address) for other in others)
        )

    @property
    def local(self) -> int:
        """How many of the addresses are valid on one link only."""
        return sum(link_local(place.address.address) for place in self.places)

    @property
    def tenable(self) -> bool:
        """Whether there is any reason to take it: it works, at least for small packets, or should by its addresses."""
        return self.same_network or all(cell is not None and (cell.passed or cell.mtu) for cell in self.cells)

    @property
    def merit(self) -> tuple[float, ...]:
        """Greater is better, the weightiest first."""
        speeds = [place.interface.speed or 0 for place in self.places]
        poor = sum(place.interface.kind in _POOR for place in self.places)
        failed = sum(cell is not None and not cell.passed for cell in self.cells)
        clean = sum(cell is not None and not cell.detail for cell in self.cells)
        mtu = min(place.interface.mtu or 0 for place in self.places)
        now = sum((place.host, place.interface.name) in self.present for place in self.places)
        return (self.proved, -failed, -self.local, self.same_network, -poor, min(speeds), now, clean, mtu)

    @property
    def because(self) -> str:
        """In a sentence."""
        failed = next((cell for cell in self.cells if cell is not None and not cell.passed), None)
        where = (
            f"they share {network_of(self.places[0].address)}"
            if self.same_network
            else "each reaches the other's address"
        )
        if self.proved:
            return f"{where}, and connections passed in every direction"
        if failed is None:
            return f"{where} by their addresses; no connection was tried"
        return f"{where} by their addresses, but {failed.caller} did not get through to {failed.callee}"


def _options(nodes: tuple[Facts, ...], networks: Iterable[SharedNetwork], cells: Iterable[Cell]) -> Iterator[_Option]:
    known = {(cell.caller, cell.callee, bare(cell.address)): cell for cell in cells if not cell.interface}
    present = frozenset((node.host, node.choice.interface) for node in nodes if node.choice and node.choice.interface)
    places = [_places(node) for node in nodes]
    for combination in _combinations(places, networks):
        yield _Option(combination, known, present)


def _combinations(places: list[tuple[_Place, ...]], networks: Iterable[SharedNetwork]) -> Iterator[tuple[_Place, ...]]:
    """All of them where they are few; else those within one network."""
    count = 1
    for of_node in places:
        count *= len(of_node)
    if len(places) < 2 or count <= _MOST_OPTIONS:
        yield from product(*places) if len(places) > 1 else ()
        return
    for network in networks:
        yield from _within(places, network)


def _within(places: list[tuple[_Place, ...]], network: SharedNetwork) -> Iterator[tuple[_Place, ...]]:
    members = {(member.host, member.address) for member in network.members}
    inside = [next((place for place in of_node if _key(place) in members), None) for of_node in places]
    chosen = tuple(place for place in inside if place is not None)
    if len(chosen) == len(places):
        yield chosen


def _key(place: _Place) -> tuple[str, str]:
    return place.host, place.address.address


def _why_none(nodes: tuple[Facts, ...], networks: tuple[SharedNetwork, ...]) -> str:
    if len(nodes) < 2:
        return "one node alone shares nothing; give the other node's card too"
    lonely = [node.host for node in nodes if not any(True for _ in usable_addresses(node))]
    if lonely:
        return f"{', '.join(lonely)} has no address but loopback"
    if networks:
        return "no network holds an address, such as NCCL takes, of every node"
    return "no two of their addresses are in one network"
