"""What of a node goes on its card (pure): enough to compare it with others, and nothing that is nobody's business.

Made anew field by field, never by taking things away, so that what the model learns later does not slip in.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import TypeVar, cast

from ncclcheck.model import (
    Choice,
    Facts,
    Gpu,
    Hint,
    Interface,
    Library,
    LinkKind,
    Machine,
    NameLookup,
    RdmaDevice,
    Route,
    Setting,
    Unknown,
)
from ncclcheck.peer.card_wire import LONGEST, MOST, MOST_ADDRESSES, MOST_LINKS, MOST_ROUTES
from ncclcheck.printable import printable

T = TypeVar("T")

PREFIXES = ("NCCL_", "GLOO_", "MASTER_")
"""What the names of settings begin with that may be on a card."""
LONGEST_VALUE = 200
LEFT_OUT = "a card leaves out what is too long or too much for it"

_SECRET = re.compile("KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH", re.IGNORECASE)
_OPEN = ("NCCL_IB_PKEY",)
"""The number of an InfiniBand partition, which nodes must agree on; no secret."""
_LOGIN = re.compile(r"://[^/\s]*@")
_HOME = re.compile(r"(?<![\w.~-])(?:/[\w.-]+)*?/(?:home|Users)/[^/\s:,]+|(?<![\w.~/-])/root(?![\w.-])")
_CONF = re.compile(r"^/.*(?=/\.nccl\.conf$)")
_KINDS = {"ethernet", "wireless", "bridge", "docker", "virbr", "veth", "tunnel", "ipoib", "bond", "vlan", "loopback"}
"""Kinds of version 1, beside ``other``: readers of that version know no more."""


def of(facts: Facts) -> Facts:
    """The part of the facts that is on a card; the same again for what is on one already."""
    facts = _plain(facts)
    links, cut = _first(_links(facts), MOST_LINKS, "interfaces")
    names = {link.name for link in links}
    settings, long = _settings(facts)
    machine, missing = _machine(facts.machine, names) if facts.machine else (None, ())
    cut += tuple(name for link in links for name in _first(link.addresses, MOST_ADDRESSES, _of(link))[1])
    return Facts(
        host=facts.host,
        interfaces=tuple(_link(link, names) for link in links),
        settings=settings,
        conf_files=tuple(map(_path, facts.conf_files))[:MOST],
        library=Library("", facts.library.version) if facts.library else None,
        choice=_choice(facts.choice),
        sockets=_choice(facts.sockets),
        unknown=_left_out(facts, (*cut, *missing, *long)),
        machine=machine,
    )


def _left_out(facts: Facts, now: Iterable[str]) -> tuple[Unknown, ...]:
    before = [one.question for one in facts.unknown if one.missing == LEFT_OUT]
    return tuple(Unknown(question, LEFT_OUT) for question in dict.fromkeys([*before, *now]))[:MOST]


def _first(items: Sequence[T], most: int, what: str) -> tuple[tuple[T, ...], tuple[str, ...]]:
    return tuple(items[:most]), (f"{what} beyond the first {most}",) if len(items) > most else ()


def _plain(value: T) -> T:
    """The value with every text on one line, of printable characters, and not too long."""
    if isinstance(value, str) and not isinstance(value, Enum):
        shown = printable(value).replace("\n", "\\x0a").replace("\t", "\\x09")
        return cast(T, shown[:LONGEST])
    if isinstance(value, tuple):
        return cast(T, tuple(map(_plain, value)))
    if is_dataclass(value) and not isinstance(value, type):
        return cast(T, replace(value, **{field.name: _plain(getattr(value, field.name)) for field in fields(value)}))
    return value


def _links(facts: Facts) -> list[Interface]:
    taken = {name.partition(":")[0] for name in _taken(facts)}
    kept = [link for link in facts.interfaces if link.name in taken or not _is_inner(link)]
    # Where there are too many, those without an address are the first to go.
    return kept if len(kept) <= MOST_LINKS else sorted(kept, key=lambda link: not link.addresses)


def _taken(facts: Facts) -> Iterator[str]:
    for choice in filter(None, (facts.choice, facts.sockets)):
        yield choice.interface or ""
        yield from (one.interface for one in choice.candidates if one.taken)


def _is_inner(link: Interface) -> bool:
    """It leads nowhere but to this machine's own containers: loopback, and a container's link as its host sees it."""
    if link.kind is LinkKind.VETH:
        return all(one.family == 6 and one.address.lower().startswith("fe80:") for one in link.addresses)
    return link.kind is LinkKind.LOOPBACK


def _link(link: Interface, names: Collection[str]) -> Interface:
    return Interface(
        name=link.name,
        index=link.index,
        kind=link.kind if link.kind.value in _KINDS else LinkKind.OTHER,
        up=link.up,
        running=link.running,
        mtu=link.mtu,
        speed=link.speed,
        addresses=link.addresses[:MOST_ADDRESSES],
        driver=link.driver,
        master=link.master,
        members=tuple(name for name in link.members if name in names),
    )


def _of(link: Interface) -> str:
    return f"addresses of {link.name}"


def _settings(facts: Facts) -> tuple[tuple[Setting, ...], tuple[str, ...]]:
    told = [one for one in facts.settings if one.wins and _may_be_told(one)]
    short = [one for one in told if len(one.value) <= LONGEST_VALUE]
    kept, cut = _first(
        [Setting(one.name, _homeless(one.value), _path(one.origin), one.line) for one in short], MOST, "settings"
    )
    return kept, (*cut, *(f"the value of {one.name}" for one in told if len(one.value) > LONGEST_VALUE))


def _may_be_told(one: Setting) -> bool:
    secret = _SECRET.search(one.name) and one.name not in _OPEN
    return one.name.startswith(PREFIXES) and not secret and not _LOGIN.search(one.value)


def _path(path: str) -> str:
    """The path without the name of a user: ``.nccl.conf`` lies in somebody's home folder wherever that is."""
    return _homeless(_CONF.sub("~", path))


def _homeless(text: str) -> str:
    return _HOME.sub("~", text)


def _choice(choice: Choice | None) -> Choice | None:
    if choice is None:
        return None
    taken = tuple(replace(one, reason="") for one in choice.candidates if one.taken)
    return replace(choice, reason="", candidates=taken[:MOST])


def _machine(machine: Machine, names: Collection[str]) -> tuple[Machine, tuple[str, ...]]:
    routes, more_routes = _first(_routes(machine.routes, names), MOST_ROUTES, "routes")
    devices, more_devices = _first(machine.rdma, MOST, "RDMA devices")
    card = Machine(
        namespace=machine.namespace,
        boot=machine.boot,
        routes=routes,
        hints=tuple(Hint(hint.name, hint.role, ()) for hint in machine.hints)[:MOST],
        rdma=tuple(map(_device, devices)),
        limits=machine.limits[:MOST],
        firewall=machine.firewall,
        names=tuple(NameLookup(one.name, one.role, one.found[:MOST_ADDRESSES]) for one in machine.names)[:MOST],
        gpus=tuple(Gpu(gpu.name, "") for gpu in machine.gpus)[:MOST],
    )
    return card, (*more_routes, *more_devices)


def _routes(routes: Iterable[Route], names: Collection[str]) -> list[Route]:
    """Those that tell something: default ones first, then those through a gateway."""
    told = [route for route in routes if route.interface in names and not _is_clutter(route)]
    return sorted(told, key=lambda route: (not route.default, route.gateway is None))


def _is_clutter(route: Route) -> bool:
    network = ipaddress.ip_network(route.destination, strict=False)
    single = network.version == 6 and network.prefixlen == 128 and route.gateway is None
    return not route.default and (single or network.is_multicast or (network.version == 6 and network.is_link_local))


def _device(device: RdmaDevice) -> RdmaDevice:
    ports = tuple(replace(port, gids=()) for port in device.ports)
    return RdmaDevice(device.name, device.interfaces[:MOST], ports[:MOST])
