"""What a speed test is to be, before anything runs. Pure."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ncclcheck.model import Address, Facts, LinkKind
from ncclcheck.speedtest.worker import show

PORT = 29500
"""torchrun's own default."""
WORKER = str(Path(__file__).with_name("worker.py"))

# Networks that begin and end on one machine, whatever address they have.
_INSIDE = frozenset({LinkKind.LOOPBACK, LinkKind.BRIDGE, LinkKind.DOCKER, LinkKind.VIRBR})


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two halves of a test."""

    place: tuple[str, int]
    """Address and port on rank 0's machine."""
    size: int
    """Bytes a round."""
    rank: int
    device: int = 0
    backend: str | None = None
    interface: str | None = None
    limit: float = 300.0
    """Seconds for everything."""


def command(side: Side, python: str) -> tuple[str, ...]:
    """The command line of the worker for this side."""
    chosen = (("--backend", side.backend), ("--interface", side.interface), ("--limit", f"{side.limit:g}"))
    options = [word for flag, value in chosen if value for word in (flag, value)]
    return (python, WORKER, show(side.place), str(side.size), str(side.rank), str(side.device), *options, "--attached")


def meeting_address(first: Facts, second: Facts) -> str | None:
    """The first address of the first node that lies in a network of both; ``None`` where they share none.

    Two networks in which both have the same address are twins (docker's 172.17.0.0/16), not one.
    """
    theirs = [ipaddress.ip_address(address.address) for address in _outside(second)]
    for address in _outside(first):
        ours = ipaddress.ip_interface(f"{address.address}/{address.prefix}")
        near = [other for other in theirs if other in ours.network]
        if near and ours.ip not in near and not ours.is_link_local:
            return address.address
    return None


def _outside(facts: Facts) -> Iterator[Address]:
    for interface in facts.interfaces:
        if interface.kind not in _INSIDE:
            yield from interface.addresses
