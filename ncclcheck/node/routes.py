"""The main routing table, from /proc/net (proc(5)): cheap, and always that of this network namespace."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from pathlib import Path

from ncclcheck.model import Route, Unknown

_UP, _REJECT, _LOCAL = 0x1, 0x200, 0x80000000
"""RTF_UP, RTF_REJECT, RTF_LOCAL of linux/route.h and linux/ipv6_route.h."""


def read(proc: Path) -> tuple[tuple[Route, ...], tuple[Unknown, ...]]:
    """The routes, the default one first, and what could not be learned."""
    try:
        lines = (proc / "net/route").read_text().splitlines()[1:]
    except OSError as error:
        return (), (Unknown("routes", f"{proc / 'net/route'}: {error.strerror}"),)
    found = [*_v4(lines), *_v6(_lines(proc / "net/ipv6_route"))]
    return tuple(sorted(found, key=lambda route: not route.default)), ()


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:  # a kernel without IPv6
        return []


def _v4(lines: list[str]) -> Iterator[Route]:
    for line in lines:
        interface, destination, gateway, flags, _, _, metric, mask, *_ = line.split()
        if not int(flags, 16) & _UP:
            continue
        prefix = bin(int(mask, 16)).count("1")
        yield Route(f"{_quad(destination)}/{prefix}", interface, _gateway(_quad(gateway)), int(metric))


def _quad(text: str) -> str:
    # The kernel prints the number as it lies in memory; that of this machine's byte order is meant.
    return str(ipaddress.IPv4Address(bytes.fromhex(text)[::-1]))


def _gateway(text: str) -> str | None:
    return None if text in ("0.0.0.0", "::") else text


def _v6(lines: list[str]) -> Iterator[Route]:
    for line in lines:
        destination, prefix, _, _, gateway, metric, _, _, flags, interface = line.split()
        address = ipaddress.IPv6Address(bytes.fromhex(destination))
        if int(flags, 16) & (_REJECT | _LOCAL) or address.is_multicast or interface == "lo":
            continue
        via = str(ipaddress.IPv6Address(bytes.fromhex(gateway)))
        yield Route(f"{address}/{int(prefix, 16)}", interface, _gateway(via), int(metric, 16))
