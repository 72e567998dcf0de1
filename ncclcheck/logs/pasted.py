"""Pasted interface lists, recognised for what they are: ``ip a``, ``ip -br a``, ``ifconfig`` → the node's facts.

Pure. Web pages flatten such text: line ends go, dots in addresses turn into blanks; what is left is still read.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ncclcheck import model
from ncclcheck.model import Unknown, Where

# Few logs hold such a list: its types are loaded (``model.Address``) and its patterns compiled when one is seen.
_IP_LINK = (
    r"(?:^|\s)\d{1,6}:?\s{1,9}(?P<name>[\w.-]{1,40})(?:\\?@[\w.-]{1,40})?:?"
    r"\s{1,9}\\?<(?P<flags>[^>]{0,200})>\s{1,9}mtu\s{1,9}(?P<mtu>\d{1,9})"
)
_IP_ADDRESS = (
    r"\binet6?\s{1,9}"
    r"(?P<address>[0-9a-f:]{0,40}:[0-9a-f:]{1,40}|\d{1,3}(?:[. ]\d{1,3}){3}|[0-9a-f]{0,4}1)/(?P<prefix>\d{1,3})"
    r"(?:\s{1,9}brd\s{1,9}[\d. ]{1,20}?)?"
    r"\s{1,9}scope\s{1,9}(?P<scope>global|host|link)\b(?:\s{1,9}(?:secondary|noprefixroute|dynamic)){0,4}"
    r"(?:\s{1,9}(?P<label>[\w.:-]{1,40}))?"
)
_BRIEF = re.compile(
    r"^\s*(?P<name>[\w.@-]{1,80})\s{1,40}(?P<state>UP|DOWN|UNKNOWN)\s{1,40}(?P<rest>[0-9a-f.:]{1,40}/\d{1,3}.*)$"
)
_BRIEF_ADDRESS = r"(?P<address>[0-9a-f.:]{1,40})/(?P<prefix>\d{1,3})"
_IFCONFIG = (
    r"^\s*(?P<name>[\w.:-]{1,40}?):? {1,40}(?:flags=\w{1,9}<(?P<flags>[^>]{0,200})>\s+mtu (?P<mtu>\d{1,9})|Link encap:)"
)
_IFCONFIG_ADDRESS = (
    r"\binet (?:addr:)?(?P<address>\d{1,3}(?:\.\d{1,3}){3})\s.{0,60}?(?:netmask |Mask:)(?P<mask>\S{1,15})"
)
_IFCONFIG_V6 = (
    r"\binet6 (?:addr: ?)?(?P<address>[0-9a-f:]{1,40})(?:%\w{1,20})?(?:/|\s{1,9}prefixlen )(?P<prefix>\d{1,3})"
)
_PROMPT = re.compile(r"^[^\s@]{0,80}@(?P<host>[\w.-]{1,80}):\S{0,200}[#$] *(?:sudo )?(?:ip |ifconfig)")
_ATTRIBUTES = frozenset({"valid", "valid_lft", "link", "inet", "inet6"})


@dataclass(slots=True)
class _Link:
    name: str
    flags: str | None
    mtu: int | None
    addresses: list[model.Address] = field(default_factory=list)


class InterfaceReader:
    """Collects the interfaces of one pasted text."""

    def __init__(self) -> None:
        self._links: dict[str, _Link] = {}
        self._places: list[Where] = []
        self._current: _Link | None = None
        self._host = ""

    def take(self, where: Where, line: str) -> None:
        """Look at one line; most hold nothing of the kind."""
        if "@" in line and (prompt := _PROMPT.match(line)):
            self._host = prompt["host"]
        lists = ("inet" in line or "mtu" in line or "encap" in line) and (self._ip(line) or self._ifconfig(line))
        if lists or ("/" in line and self._brief(line)):
            self._places.append(where)

    def facts(self) -> model.Facts | None:
        """The node that was described, or None."""
        links = [link for link in self._links.values() if link.addresses]
        if not links:
            return None
        return model.Facts(
            host=self._host or self._places[0].source,
            interfaces=tuple(_interface(i, link) for i, link in enumerate(links, 1)),
            places=tuple(self._places),
            unknown=(Unknown("which settings does NCCL get there?", "the output of: env | grep NCCL_"),),
        )

    def _ip(self, line: str) -> bool:
        found = False
        matches = (*re.finditer(_IP_LINK, line), *re.finditer(_IP_ADDRESS, line))
        for match in sorted(matches, key=lambda match: match.start()):
            found = True
            if match.re.pattern == _IP_LINK:
                self._current = self._link(match["name"], match["flags"], int(match["mtu"]))
            else:
                self._take_ip_address(match)
        return found and bool(self._links)

    def _take_ip_address(self, match: re.Match[str]) -> None:
        label = match["label"] if match["label"] not in _ATTRIBUTES else None
        # The label behind the address says which interface it is on, also where the heading names another one.
        name = label.partition(":")[0] if label else None
        link = self._links.get(name) if name else None
        if link is None and name:
            link = self._link(name, self._current.flags if self._current else None, None)
        link = link or self._current
        if link is not None:
            link.addresses.extend(address_of(match["address"].replace(" ", "."), int(match["prefix"])))

    def _brief(self, line: str) -> bool:
        match = _BRIEF.match(line)
        if not match:
            return False
        flags = "UP,RUNNING" if match["state"] in ("UP", "UNKNOWN") else ""
        link = self._link(match["name"].partition("@")[0], flags, None)
        link.addresses.extend(_addresses(re.finditer(_BRIEF_ADDRESS, match["rest"])))
        return True

    def _ifconfig(self, line: str) -> bool:
        if match := re.match(_IFCONFIG, line):
            self._current = self._link(match["name"], match["flags"], int(match["mtu"]) if match["mtu"] else None)
            return True
        if self._current is None:
            return False
        found = [
            address
            for match in re.finditer(_IFCONFIG_ADDRESS, line)
            for address in address_of(match["address"], _prefix(match["mask"]))
        ]
        found += _addresses(re.finditer(_IFCONFIG_V6, line))
        self._current.addresses.extend(found)
        return bool(found)

    def _link(self, name: str, flags: str | None, mtu: int | None) -> _Link:
        return self._links.setdefault(name, _Link(name, flags, mtu))


def _addresses(matches: Iterator[re.Match[str]]) -> list[model.Address]:
    return [address for match in matches for address in address_of(match["address"], int(match["prefix"]))]


def address_of(text: str, prefix: int) -> tuple[model.Address, ...]:
    """The address, or nothing where pasting left none (``::1`` without its colons)."""
    try:
        longest = ipaddress.ip_address(text).max_prefixlen
    except ValueError:
        return ()
    return (model.Address(text, prefix),) if prefix <= longest else ()


def _prefix(mask: str) -> int:
    """Prefix length of ``255.255.0.0``, or of ``0xffff0000`` as macOS writes it."""
    if mask.startswith("0x"):
        return mask.count("f") * 4
    return sum(int(part).bit_count() for part in mask.split(".") if part.isdecimal())


def _interface(index: int, link: _Link) -> model.Interface:
    flags = None if link.flags is None else set(re.split(r"[,\s]+", link.flags.upper()))
    running = None if flags is None else bool(flags & {"RUNNING", "LOWER_UP", "LOWER"})
    return model.Interface(
        name=link.name,
        index=index,
        kind=kind_of(link.name),
        up=None if flags is None else "UP" in flags,
        running=running,
        mtu=link.mtu,
        speed=None,
        addresses=tuple(link.addresses),
    )


def kind_of(name: str) -> model.LinkKind:
    """A guess: only the name was pasted."""
    kinds = model.LinkKind
    for start, kind in (("lo", kinds.LOOPBACK), ("docker", kinds.DOCKER), ("br-", kinds.DOCKER)):
        if name.startswith(start):
            return kind
    return kinds.VIRBR if name.startswith("virbr") else kinds.OTHER
