"""A diagnosis that may be shown to strangers: names of hosts and users, and addresses, replaced by stand-ins. Pure.

One name has one stand-in throughout. What an address is stays visible, since that is what the diagnosis is about:
loopback, link-local and docker's ranges as they are or within their range, two addresses of a network still in one.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import TypeVar, cast

from ncclcheck.model import Diagnosis, Event, Job, Where

T = TypeVar("T")

_V4 = r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\d)"
_V6 = r"(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?![\w:])"
_MAC = r"(?<![\w:])(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}(?![\w:])"
_ADDRESS = re.compile(f"{_MAC}|{_V4}|{_V6}")
_USERS = re.compile(r"(?:/home/|/Users/)([\w.-]+)|(?<![\w.])([\w.-]+)@[\w-]+:")
_OPEN = frozenset({"", "localhost", "root", "pasted", "-", "(unknown)", "none"})
_OF_HOSTS = frozenset({"host", "announced_host", "peer", "dead", "address"})
_CLOUD = re.compile(r"(?<![\w-])ip-\d{1,3}(?:-\d{1,3}){3}(?![\w-])")
_KEPT = tuple(map(ipaddress.ip_network, ("127.0.0.0/8", "0.0.0.0/32", "172.17.0.0/16", "192.168.122.0/24", "::/127")))
_DOCKER = ipaddress.ip_network("172.16.0.0/12")


def redacted(diagnosis: Diagnosis, texts: Mapping[Where, str]) -> tuple[Diagnosis, dict[Where, str]]:
    """The diagnosis and its evidence lines without names; what they were is kept nowhere."""
    stand_ins = StandIns((*_hosts(diagnosis.job), *_CLOUD.findall(" ".join(texts.values()))), _users(texts))
    shown = replace(diagnosis, job=_bare(diagnosis.job))
    return stand_ins.value(shown), {stand_ins.value(where): stand_ins.text(text) for where, text in texts.items()}


class StandIns:
    """What each name and address is called instead."""

    def __init__(self, hosts: Iterable[str], users: Iterable[str] = ()) -> None:
        self._names = {host: f"host-{number}" for number, host in enumerate(_wanted(hosts), 1)}
        self._names |= {
            user: f"user-{number}" for number, user in enumerate(_wanted(users), 1) if user not in self._names
        }
        longest_first = sorted(self._names, key=len, reverse=True)
        words = "|".join(map(re.escape, longest_first))
        self._known = re.compile(rf"(?<![A-Za-z0-9])(?:{words})(?![A-Za-z0-9])") if words else None
        self._members: dict[str, dict[str, int]] = {}

    def text(self, text: str) -> str:
        """The text with stand-ins."""
        text = _ADDRESS.sub(lambda match: self._address(match[0]), text)
        return self._known.sub(lambda match: self._names[match[0]], text) if self._known else text

    def value(self, value: T) -> T:
        """A frozen value with stand-ins in all of its texts."""
        if isinstance(value, str):
            return cast(T, self.text(value))
        if isinstance(value, tuple):
            return cast(T, tuple(self.value(item) for item in value))
        if is_dataclass(value) and not isinstance(value, type):
            changed = {field.name: self.value(getattr(value, field.name)) for field in fields(value)}
            return cast(T, replace(value, **changed))
        return value

    def _address(self, text: str) -> str:
        if text.count(":") == 5 and "." not in text and "::" not in text:
            return f"02:00:00:00:00:{self._member('link', text):02x}"
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            return text  # A time of day, a version, a PCI address.
        if any(address in network for network in _KEPT):
            return text
        return self._v4(address) if isinstance(address, ipaddress.IPv4Address) else self._v6(address)

    def _v4(self, address: ipaddress.IPv4Address) -> str:
        network, _, _ = str(address).rpartition(".")
        first, second, third = network.split(".")
        if address in _DOCKER and third == "0":
            return str(address)  # The usual shape of docker's further bridges; it tells of nobody.
        member = self._member(network, str(address))
        if address.is_link_local or address in _DOCKER:
            return f"{first}.{second}.{self._network(f'{first}.{second}', network)}.{member}"
        if address.is_private and first in ("10", "192"):
            return f"{first}.{'168' if first == '192' else '0'}.{self._network(first, network)}.{member}"
        return f"198.18.{self._network('public', network)}.{member}"

    def _v6(self, address: ipaddress.IPv6Address) -> str:
        if address.is_link_local:
            return f"fe80::{self._member('fe80', str(address)):x}"
        network = str(ipaddress.ip_network((int(address), 64), strict=False))
        prefix = "fd00:0:0" if address.is_private else "2001:db8:0"
        return f"{prefix}:{self._network(prefix, network):x}::{self._member(network, str(address)):x}"

    def _network(self, kind: str, network: str) -> int:
        return self._member(f"networks of {kind}", network)

    def _member(self, network: str, address: str) -> int:
        members = self._members.setdefault(network, {})
        return members.setdefault(address, len(members) + 1)


def _wanted(names: Iterable[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if name not in _OPEN and not _is_address(name) and "/" not in name]


@lru_cache(maxsize=1024)
def _is_address(text: str) -> bool:
    return _ADDRESS.fullmatch(text.partition("%")[0]) is not None


def _hosts(job: Job) -> Iterator[str]:
    for rank in job.ranks:
        yield rank.host or ""
        for event in rank.events:
            yield from _named(event)
    yield from (node.host for node in job.nodes)


def _named(event: Event) -> Iterator[str]:
    yield event.process.host or ""
    yield from (value for name, value in event.fields if name in _OF_HOSTS)


def _users(texts: Mapping[Where, str]) -> Iterator[str]:
    for where, text in texts.items():
        for match in _USERS.finditer(f"{where.source} {text}"):
            yield match[1] or match[2]


def _bare(job: Job) -> Job:
    """The job as far as reports show it."""
    ranks = tuple(replace(rank, events=(), settings=()) for rank in job.ranks)
    return replace(job, ranks=ranks, attempts=(), nodes=())
