"""What a speed test is to be, before anything runs. Pure, but for ``save_worker``."""

from __future__ import annotations

import io
import ipaddress
import zipapp
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ncclcheck.errors import SpeedError
from ncclcheck.model import Address, Facts, LinkKind
from ncclcheck.speedtest.worker.words import TRANSFERS, Asked, show

PORT = 29500
"""torchrun's own default."""
WORKER = str(Path(__file__).with_name("worker"))
BRIEF = 3.0
"""Seconds of measuring for a test that is one step of something longer."""

# Networks that begin and end on one machine, whatever address they have.
_INSIDE = frozenset({LinkKind.LOOPBACK, LinkKind.BRIDGE, LinkKind.DOCKER, LinkKind.VIRBR})


@dataclass(frozen=True, slots=True)
class Side:
    """One rank's part of a test."""

    place: tuple[str, int]
    """Address and port on rank 0's machine."""
    size: int
    """Bytes of the largest message."""
    rank: int
    device: int = 0
    backend: str | None = None
    interface: str | None = None
    limit: float = 300.0
    """Seconds for everything."""
    ranks: int = 2
    patterns: tuple[str, ...] = ()
    """By the worker's names; empty for all."""
    sizes: tuple[int, ...] = ()
    """To measure besides ``size``; empty for a sweep from 8 bytes on."""
    seconds: float = BRIEF
    """To spend on measuring, where the rounds are as uneven as to need it."""
    baseline: bool = True
    workload: str = TRANSFERS


def side_of(asked: Asked, interface: str | None) -> Side:
    """The side that a command line means."""
    return Side(
        asked.place,
        asked.sizes[-1],
        asked.rank,
        asked.device,
        asked.backend,
        interface,
        asked.limit,
        asked.ranks,
        asked.patterns,
        asked.sizes,
        asked.seconds,
        asked.baseline,
        asked.workload,
    )


def command(side: Side, python: str) -> tuple[str, ...]:
    """The command line of the worker for this side."""
    chosen = (
        ("--backend", side.backend),
        ("--interface", side.interface),
        ("--ranks", str(side.ranks)),
        ("--patterns", ",".join(name.replace(" ", "-") for name in side.patterns)),
        ("--sizes", ",".join(map(str, side.sizes))),
        ("--workload", side.workload),
        ("--seconds", f"{side.seconds:g}"),
        ("--limit", f"{side.limit:g}"),
    )
    options = [word for flag, value in chosen if value for word in (flag, value)]
    bare = () if side.baseline else ("--no-baseline",)
    words = (show(side.place), str(side.size), str(side.rank), str(side.device))
    return (python, WORKER, *words, *options, *bare, "--attached")


def save_worker(path: str) -> None:
    """Write the worker as one file that any Python with torch runs; SpeedError where it cannot be written."""
    packed = io.BytesIO()
    zipapp.create_archive(WORKER, packed, filter=_belongs)
    try:
        Path(path).write_bytes(packed.getvalue())
    except OSError as error:
        raise SpeedError(
            f"the worker cannot be written: {error.strerror}", place=path, next_step="Name a file in another folder."
        ) from error


def _belongs(path: Path) -> bool:
    # The package's own entry is for ncclcheck; the archive makes its package itself.
    return path.suffix == ".py" and path.name != "__init__.py"


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
