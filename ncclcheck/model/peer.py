"""What only shows between nodes: who reaches whom, and which interface each should use."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Outcome(Enum):
    """What became of one connection from an interface to another node's address."""

    OK = "ok"
    REFUSED = "refused"
    """A reset came back: the address is somebody's, and nobody listens there or something in between resets."""
    DROPPED = "dropped"
    """Nothing came back, neither yes nor no."""
    REJECTED = "rejected"
    """An ICMP message said no; the cell's detail names which, and who sent it."""
    NO_NEIGHBOUR = "no neighbour"
    """Nobody on the link owns the address (ARP or neighbour discovery went unanswered)."""
    NO_ROUTE = "no route"
    """The caller's own kernel knows no way."""
    FORBIDDEN = "forbidden"
    """The caller's own firewall or kernel does not let it out."""
    WRONG_SOURCE = "wrong source"
    """It came through, but the callee saw another address than the caller's interface has."""
    MTU_TOO_SMALL = "mtu too small"
    """It came through, but full-sized packets do not."""
    STRANGER = "somebody else"
    """Whoever answered is not the callee: another machine, or the caller itself, has the same address."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One connection that was tried."""

    caller: str
    """Host."""
    interface: str
    """Of the caller; empty for the way that the caller's kernel takes by itself, which is NCCL's way."""
    callee: str
    """Host."""
    target: str
    """The callee's interface."""
    address: str
    """On it."""
    outcome: Outcome
    seconds: float | None = None
    """From SYN to the established connection."""
    detail: str = ""
    source: str | None = None
    """The caller's address: as the callee saw it, or where it did not answer, as the caller's kernel set it."""
    mtu: int | None = None
    """Bytes of the largest packet that passes, where that is less than the caller's interface allows."""
    arrived: bool | None = None
    """For what stayed unanswered: whether the callee's kernel saw the call, so that the answer got lost."""

    @property
    def passed(self) -> bool:
        """NCCL could talk over it."""
        return self.outcome in (Outcome.OK, Outcome.WRONG_SOURCE)


@dataclass(frozen=True, slots=True)
class NetworkMember:
    """A node's place in a network."""

    host: str
    interface: str
    address: str
    mtu: int | None = None
    speed: int | None = None
    """Mbit/s."""


@dataclass(frozen=True, slots=True)
class SharedNetwork:
    """A network in which several nodes have an address of their own."""

    network: str
    """``10.0.0.0/24``."""
    members: tuple[NetworkMember, ...]


@dataclass(frozen=True, slots=True)
class Use:
    """The interface that NCCL should use on a node."""

    host: str
    interface: str
    address: str
    """The one that NCCL takes on it."""


@dataclass(frozen=True, slots=True)
class Match:
    """How nodes fit together."""

    hosts: tuple[str, ...]
    networks: tuple[SharedNetwork, ...]
    """Those that all nodes are in come first."""
    use: tuple[Use, ...] = ()
    """One for each node; empty where no interfaces fit together."""
    proved: bool = False
    """Whether connections over these interfaces were tried, in all directions, and passed."""
    because: str = ""
    """Why these and not others; or why none."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """That one node reached another at a port which was made known beforehand, as a rendezvous port is."""

    caller: str
    callee: str
    address: str
    port: int


@dataclass(frozen=True, slots=True)
class Sides:
    """All that was learnt between nodes."""

    match: Match
    cells: tuple[Cell, ...] = ()
    meetings: tuple[Meeting, ...] = ()


class Leg(Enum):
    """A connection of NCCL's bootstrap (init on the wire, NCCL 2.8 and later, bootstrap.cc)."""

    TO_ROOT = "rank to root"
    FROM_ROOT = "root to rank"
    RING = "rank to next rank"


@dataclass(frozen=True, slots=True)
class Contact:
    """One connection of the handshake."""

    leg: Leg
    rank: int
    """The rank that plays; the other end is the root, or the next rank."""
    host: str
    """Where that rank runs."""
    address: str
    """That was called: ``10.0.0.1:41234``."""
    seconds: float | None = None
    """From its begin to its success."""
    problem: str = ""
    """Why it did not come about; empty where it did."""


@dataclass(frozen=True, slots=True)
class Handshake:
    """NCCL's bootstrap, served by the real library's root, with ranks that we play."""

    nccl: str
    host: str
    """Where the root runs."""
    root: str
    """Its address and port as the unique id has them."""
    contacts: tuple[Contact, ...]
    log: tuple[str, ...] = ()
    """NCCL's own lines, of the root."""
    failure: str = ""
    """Why there was no handshake at all, such as no libnccl; empty where there was one."""

    @property
    def passed(self) -> bool:
        """Every rank reached the root, was called back, and reached the next rank."""
        return not self.failure and bool(self.contacts) and not any(one.problem for one in self.contacts)
