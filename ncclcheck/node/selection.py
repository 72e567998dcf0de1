"""Which interface NCCL will choose, and why (pure).

The algorithm of bootstrapNetInit (bootstrap.cc), ncclFindInterfaces and ncclFindInterfaceMatchSubnet
(misc/socket.cc) by NCCL version, 2.4 to 2.32; agrees with every measured case. This room's other files
read the machine: nothing here does.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ncclcheck.model import Candidate, Choice, Interface
from ncclcheck.node.pattern import Pattern, parse
from ncclcheck.node.subnet import Peer, Resolver, literal, peer_of, same_subnet
from ncclcheck.node.undecodable import length, shown
from ncclcheck.node.version import since

IFNAME = "NCCL_SOCKET_IFNAME"
FAMILY = "NCCL_SOCKET_FAMILY"
COMM_ID = "NCCL_COMM_ID"

_MOST_SOCKETS = 16
_FAMILIES = {"AF_INET": 4, "AF_INET6": 6}


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of getifaddrs: a name (an IPv4 label counts as one) with one address."""

    name: str
    address: str
    """As NCCL prints it; a link-local IPv6 address carries its interface: ``fe80::1%eth1``."""
    prefix: int
    running: bool | None

    @property
    def family(self) -> int:
        """4 or 6."""
        return 6 if ":" in self.address else 4


Objection = Callable[[Entry], str]
"""Why an entry cannot be taken; empty where nothing speaks against it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One attempt of NCCL to find an interface."""

    why: str
    objection: Objection


def entries(interfaces: Iterable[Interface]) -> tuple[Entry, ...]:
    """All addresses in the order of getifaddrs (glibc): IPv4 by interface index, then IPv6 by interface index."""
    ordered = sorted(interfaces, key=lambda interface: interface.index)
    found = [
        Entry(
            name=address.label or link.name,
            address=_printed(address.address, link.name),
            prefix=address.prefix,
            running=link.running,
        )
        for link in ordered
        for address in link.addresses
    ]
    return tuple(sorted(found, key=lambda entry: entry.family))


def _printed(address: str, interface: str) -> str:
    if ":" not in address or "%" in address or not ipaddress.IPv6Address(address).is_link_local:
        return address
    return f"{address}%{interface}"


def bootstrap(
    interfaces: Sequence[Interface], values: Mapping[str, str], nccl: str, resolve: Resolver = literal
) -> Choice:
    """The interface that ncclGetUniqueId and ncclCommInitRank will use on a machine with these interfaces.

    ``values`` are the settings as NCCL ends up with them, ``resolve`` looks up a host name in NCCL_COMM_ID.
    """
    choice = bootstrap_among(entries(interfaces), values, nccl, resolve)
    bare = tuple(
        Candidate(interface=link.name, address="", taken=False, reason="it has no IPv4 or IPv6 address")
        for link in interfaces
        if not link.addresses
    )
    return replace(choice, candidates=choice.candidates + bare)


def bootstrap_among(
    found: Sequence[Entry], values: Mapping[str, str], nccl: str, resolve: Resolver = literal
) -> Choice:
    """As ``bootstrap``, from the entries of getifaddrs."""
    comm_id = values.get(COMM_ID)
    if comm_id is not None and since(nccl, 2, 8):
        return _by_comm_id(found, comm_id, nccl, resolve)
    choice = _first_success(_steps(values, nccl, resolve), found, values, nccl, limit=1)
    if choice.interface is not None:
        return choice
    # The text became "invalid usage" in 2.24: bootstrap.cc, bootstrapNetInit.
    code = 5 if since(nccl, 2, 24) else 3
    return replace(
        choice, reason=f"{choice.reason}; NCCL then gives up: “Bootstrap : no socket interface found”", code=code
    )


def sockets(
    interfaces: Sequence[Interface], values: Mapping[str, str], nccl: str, resolve: Resolver = literal
) -> Choice:
    """The interfaces of the data network (``NET/Socket : Using``): every candidate that is taken, at most 16."""
    found = entries(interfaces)
    choice = _first_success(_steps(values, nccl, resolve), found, values, nccl, limit=_MOST_SOCKETS)
    if choice.interface is not None:
        return choice
    return replace(choice, reason=f"{choice.reason}; NCCL then says “NET/Socket : no interface found”", code=3)


def _by_comm_id(found: Sequence[Entry], comm_id: str, nccl: str, resolve: Resolver) -> Choice:
    peer = peer_of(comm_id, resolve)
    if peer is None:
        reason = f"{COMM_ID} is “{shown(comm_id)}”, no host:port that can be looked up: “Invalid {COMM_ID}”"
        return Choice(nccl=nccl, interface=None, address=None, reason=reason, code=4)
    step = _subnet_step(peer, nccl)
    candidates = tuple(_judge(found, (step.objection,), limit=1, distinct=False))
    choice = _choice(candidates, step.why, nccl)
    if choice.interface is not None:
        return choice
    reason = f"{COMM_ID} is “{shown(comm_id)}”, and no interface here is in the subnet of that address"
    return replace(choice, reason=f"{reason}: “NET/Socket : No usable listening interface found”", code=2)


def _subnet_step(peer: Peer, nccl: str) -> Step:
    # NCCL 2.29.2 to 2.29.7 test IPv4 subnets the wrong way round (misc/socket.cc, matchSubnet).
    inverted = since(nccl, 2, 29) and not since(nccl, 2, 30)

    def objection(entry: Entry) -> str:
        if entry.family != peer.family:
            return f"its address is not of the family of {peer.address}"
        wrong_way = inverted and peer.family == 4
        if same_subnet(entry.address, entry.prefix, peer) != wrong_way:
            return ""
        if wrong_way:
            return f"its subnet holds {peer.address}, and NCCL 2.29 by mistake takes only what lies outside of it"
        return f"its subnet does not hold {peer.address}"

    place = "outside" if inverted and peer.family == 4 else "in"
    why = f"{COMM_ID} is set: NCCL takes the first interface {place} the subnet of {peer.address}"
    why += f", and {IFNAME} does not count"
    return Step(f"{why} (a mistake of NCCL 2.29)" if place == "outside" else why, objection)


def _steps(values: Mapping[str, str], nccl: str, resolve: Resolver) -> Iterator[Step]:
    """What NCCL tries, in order; a list of names given by the user is the only attempt."""
    wanted = values.get(IFNAME, "")
    if length(wanted) > 1:
        yield _named_step(parse(wanted, nccl))
        return
    demoted = ("docker", "lo", "virbr") if since(nccl, 2, 28, 3) else ("docker", "lo")
    preface = f"{IFNAME} is “{shown(wanted)}”, too short to count" if wanted else f"{IFNAME} is not set"
    yield _prefix_step("ib", f"{preface}: names that begin with “ib” go first")
    peer = peer_of(values[COMM_ID], resolve) if length(values.get(COMM_ID, "")) > 1 else None
    if peer is not None:
        yield _subnet_step(peer, nccl)
    yield _demoting_step(Pattern("", demoted, exclude=True), preface)
    for prefix in demoted:
        yield _prefix_step(prefix, f"{preface}, and nothing better is left: names that begin with “{prefix}”")


def _named_step(pattern: Pattern) -> Step:
    def objection(entry: Entry) -> str:
        if pattern.admits(entry.name):
            return ""
        return f"{IFNAME} leaves it out" if pattern.exclude else f"its name is not what {IFNAME} asks for"

    why = f"{IFNAME} is “{shown(pattern.text)}”: NCCL takes an interface whose name {pattern.words}"
    return Step(why, objection)


def _prefix_step(prefix: str, why: str) -> Step:
    def objection(entry: Entry) -> str:
        if entry.name.startswith(prefix):
            return ""
        return f"names that begin with “{prefix}” go before it" if prefix == "ib" else f"not a “{prefix}” name"

    return Step(why, objection)


def _demoting_step(pattern: Pattern, preface: str) -> Step:
    def objection(entry: Entry) -> str:
        if pattern.admits(entry.name):
            return ""
        prefix = next(name for name in pattern.names if entry.name.startswith(name))
        return f"its name begins with “{prefix}”: NCCL takes such a one only where nothing else is left"

    return Step(f"{preface}: NCCL takes the first interface whose name {pattern.words}", objection)


def _first_success(
    steps: Iterable[Step], found: Sequence[Entry], values: Mapping[str, str], nccl: str, limit: int
) -> Choice:
    general = _general_objection(values, nccl)
    choice = Choice(nccl=nccl, interface=None, address=None, reason="no interface has an address")
    for step in steps:
        candidates = tuple(_judge(found, (general, step.objection), limit, distinct=True))
        choice = _choice(candidates, step.why, nccl)
        if choice.interface is not None:
            return choice
    named = length(values.get(IFNAME, "")) > 1
    return choice if named else replace(choice, reason="NCCL chooses by itself, and none of the addresses can be used")


def _choice(candidates: tuple[Candidate, ...], why: str, nccl: str) -> Choice:
    first = next((candidate for candidate in candidates if candidate.taken), None)
    if first is None:
        names = ", ".join(dict.fromkeys(candidate.interface for candidate in candidates))
        reason = f"{why}; there is none among {names or 'the interfaces here, none of which has an address'}"
        return Choice(nccl=nccl, interface=None, address=None, reason=reason, candidates=candidates)
    reason = f"{why}; in the kernel's order that is {first.interface}"
    return Choice(nccl=nccl, interface=first.interface, address=first.address, reason=reason, candidates=candidates)


def _general_objection(values: Mapping[str, str], nccl: str) -> Objection:
    family = _FAMILIES.get(values.get(FAMILY, ""))
    running_only = since(nccl, 2, 28, 3)

    def objection(entry: Entry) -> str:
        if running_only and entry.running is False:
            return "it is down or has no carrier (no RUNNING flag), and NCCL from 2.28 skips such interfaces"
        if family is not None and entry.family != family:
            return f"{FAMILY}={shown(values[FAMILY])} asks for IPv{family} addresses"
        if entry.address == "::1":
            return "NCCL never uses ::1"
        return ""

    return objection


def _judge(found: Sequence[Entry], objections: Sequence[Objection], limit: int, distinct: bool) -> Iterator[Candidate]:
    """A verdict for every entry; ``distinct`` takes each name once only."""
    taken: list[str] = []
    for entry in found:
        objection = next(filter(None, (object_to(entry) for object_to in objections)), "")
        if not objection and distinct and entry.name in taken:
            objection = f"NCCL takes one address of {entry.name}, the first"
        elif not objection and len(taken) == limit:
            objection = f"it would do, but {taken[0]} comes first in the kernel's order"
        elif not objection:
            taken.append(entry.name)
        yield Candidate(
            interface=entry.name,
            address=entry.address,
            taken=not objection,
            reason=objection or "it is the first that fits",
        )
