"""What a log tells: places, events, and the story of each rank."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from ncclcheck.model.place import Where

if TYPE_CHECKING:
    from ncclcheck.model.node import Facts
    from ncclcheck.model.peer import Sides

_MOST_DIGITS = 18


@dataclass(frozen=True, slots=True)
class Process:
    """Who printed a line: as much as the line and its wrapper tell."""

    source: str
    host: str | None = None
    pid: int | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """A line that means something, by a shape from ``rules/events/``."""

    kind: str
    where: Where
    process: Process
    fields: tuple[tuple[str, str], ...] = ()
    rank: int | None = None
    """From the launcher's prefix; never the device number in NCCL's own prefix."""
    thread: int | None = None
    """Thread id, where the line carries NCCL's prefix."""

    def get(self, name: str, default: str = "") -> str:
        """The field's text, or the default where the line does not carry it."""
        for key, value in self.fields:
            if key == name:
                return value
        return default

    def at(self, where: Where) -> Event:
        """The same event in another place of its source."""
        return Event(self.kind, where, self.process, self.fields, self.rank, self.thread)

    def number(self, name: str) -> int | None:
        """The field as a number; None where it is absent, is none, or has more digits than anything countable."""
        text = self.get(name)
        return int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS else None


class Stage(IntEnum):
    """How far NCCL came on one rank (order of `NCCL_DEBUG=INFO` lines, NCCL 2.4 to 2.32)."""

    SILENT = 0
    INTERFACE = 1
    BOOTSTRAP = 2
    RING = 3
    TOPOLOGY = 4
    CHANNELS = 5
    CONNECTED = 6
    COMPLETE = 7
    COLLECTIVE = 8
    DESTROYED = 9


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An interface and the address that NCCL announced on it."""

    interface: str
    address: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """A connection that did not come about at once: who called whom, how often, and what came back."""

    process: Process
    address: str
    """Empty where this NCCL version does not print it (2.16 to 2.26)."""
    port: int | None
    result: str
    """refused, timed-out, no-route, unreachable, aborted, invalid, prohibited, not-permitted, no-local-port, reset,
    unprinted or other."""
    count: int
    gave_up: bool
    link: str
    """root (rank to root), callback (root to rank), ring, bootstrap (one of these), data, store, gloo or unknown."""
    limit: int | None
    """How many retries NCCL grants, where the line says so."""
    recovered: bool
    """The rank went on afterwards, so it was only a matter of who started first."""
    evidence: tuple[Where, ...]


@dataclass(frozen=True, slots=True)
class Rank:
    """One process of the job, and how far it came."""

    process: Process
    host: str | None
    numbers: tuple[int, ...]
    """Rank numbers of the communicators it joined, the first one first; empty while unknown."""
    world_size: int | None
    nccl: str | None
    stage: Stage
    bootstrap: Endpoint | None
    sockets: tuple[Endpoint, ...]
    """All interfaces of the data network (``NET/Socket : Using``)."""
    network: str | None
    """``Socket``, ``IB`` or a plugin's name (``Using network``)."""
    settings: tuple[tuple[str, str], ...]
    """Settings as NCCL echoed them (``… set by environment to …``)."""
    device: str | None
    """PCI bus id of the GPU."""
    events: tuple[Event, ...]
    """Every event of this process, in order."""
    last: Where
    root: bool | None = None
    """Whether it made the unique id: rank 0 does so before it asks for the CUDA driver's version (2.13 and later)."""

    @property
    def number(self) -> int | None:
        """The rank in the first communicator, usually the world."""
        return self.numbers[0] if self.numbers else None


@dataclass(frozen=True, slots=True)
class Job:
    """What the logs tell of one job."""

    ranks: tuple[Rank, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    world_size: int | None = None
    launcher: str | None = None
    """torchrun, mpirun, … by its traces in the logs."""
    nodes: tuple[Facts, ...] = ()
    """What is known of the nodes from elsewhere: read there, from their cards, or pasted (``ip a``, ``ifconfig``)."""
    sides: Sides | None = None
    """What was learnt between these nodes."""
