"""Pasted output that is read as a whole: ``ip -json addr`` and ``ip route`` → the node's interfaces.

Pure. A list of routes tells names, addresses and networks, but not the order of the interfaces, by which NCCL chooses:
its interfaces have the index 0.
"""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from ncclcheck.logs.pasted import address_of, kind_of
from ncclcheck.model import Address, Facts, Interface, LinkKind, Unknown, Where

_JSON = re.compile(r"^[ \t]*(?=\[\s*\{)", re.MULTILINE)
_ROUTE = re.compile(
    r"\s*(?P<to>default|[0-9a-f.:]{2,45}(?:/\d{1,3})?)(?:\s+via\s+\S{1,60})?\s+dev\s+(?P<dev>[\w.@-]{1,40})(?P<more>\s.*)?$"
)
_SOURCE = re.compile(r"\bsrc\s+([0-9a-f.:]{2,45})")
_SETTINGS = Unknown("which settings does NCCL get there?", "the output of: env | grep NCCL_")
_ORDER = Unknown("in which order has the kernel these interfaces?", "the output of: ip addr")


class _Told(msgspec.Struct, frozen=True):
    """An address in the output of ``ip -json addr`` (iproute2, ipaddress.c); whatever else is there is left out."""

    local: str = ""
    prefixlen: int = 0


class _Link(msgspec.Struct, frozen=True):
    """An interface in it."""

    ifname: str
    flags: tuple[str, ...] = ()
    mtu: int | None = None
    operstate: str = ""
    addr_info: tuple[_Told, ...] = ()


@dataclass(frozen=True, slots=True)
class _Way:
    """Where a route goes out, and the own address on it."""

    interface: str
    own: tuple[Address, ...]


def interfaces_in_json(text: str, source: str) -> Facts | None:
    """The node that ``ip -json addr`` describes, or None where the text is nothing of the kind."""
    begin = _JSON.search(text)
    if begin is None:
        return None
    try:
        tree, _ = json.JSONDecoder().raw_decode(text, begin.end())
        links = msgspec.convert(tree, tuple[_Link, ...])
    except (ValueError, RecursionError, msgspec.ValidationError):
        return None
    if not any(link.addr_info for link in links):
        return None
    lines = [number for number, line in enumerate(text.split("\n"), 1) if '"ifname"' in line]
    return _node(source, lines, (_interface(index, link) for index, link in enumerate(links, 1)), _SETTINGS)


def _interface(index: int, link: _Link) -> Interface:
    # ``ip -json -br`` leaves the flags out and tells the state alone.
    flags = {flag.upper() for flag in link.flags} or (
        {"UP", "LOWER_UP"} if link.operstate in ("UP", "UNKNOWN") else set()
    )
    return Interface(
        name=link.ifname,
        index=index,
        kind=LinkKind.LOOPBACK if "LOOPBACK" in flags else kind_of(link.ifname),
        up="UP" in flags,
        running="LOWER_UP" in flags,
        mtu=link.mtu,
        speed=None,
        addresses=tuple(found for told in link.addr_info for found in address_of(told.local, told.prefixlen)),
    )


def routes_in(text: str, source: str) -> Facts | None:
    """The node that ``ip route`` describes, where at least half of the lines are routes and tell an own address."""
    lines = text.split("\n")
    ways = {number: way for number, line in enumerate(lines, 1) if (way := _way(line))}
    if 2 * len(ways) < sum(bool(line.strip()) for line in lines) or not any(way.own for way in ways.values()):
        return None
    names = dict.fromkeys(way.interface for way in ways.values())
    return _node(source, ways, (_routed(name, ways.values()) for name in names), _SETTINGS, _ORDER)


def _routed(name: str, ways: Iterable[_Way]) -> Interface:
    own = dict.fromkeys(address for way in ways if way.interface == name for address in way.own)
    return Interface(name, 0, kind_of(name), None, None, None, None, tuple(own))


def _way(line: str) -> _Way | None:
    route = _ROUTE.match(line)
    if route is None:
        return None
    own = _SOURCE.search(route["more"] or "")
    try:
        # "default" has the prefix of no own network, and neither has a single host.
        network = ipaddress.ip_network(route["to"])
    except ValueError:
        return _Way(route["dev"], ()) if route["to"] == "default" else None
    if own is None or network.num_addresses == 1:
        return _Way(route["dev"], ())
    return _Way(route["dev"], address_of(own[1], network.prefixlen))


def _node(source: str, lines: Iterable[int], found: Iterable[Interface], *unknown: Unknown) -> Facts:
    return Facts(source, tuple(found), places=tuple(Where(source, line) for line in lines), unknown=unknown)
