"""What happens while nodes are paired, one frozen value a step; both front ends show them, in order."""

from __future__ import annotations

from dataclasses import dataclass

from ncclcheck.doctor.conclude import Conclusion
from ncclcheck.model import Applied, Cell, Edit, Facts, Handshake, SpeedTest, Use
from ncclcheck.peer.invitation import Invitation
from ncclcheck.speedtest.reports import Progress


@dataclass(frozen=True, slots=True)
class Waiting:
    """The port is open; this is what to type on the other node."""

    invitation: Invitation
    failed: tuple[tuple[str, str], ...] = ()
    """Own addresses that could not be listened on, with the reason."""


@dataclass(frozen=True, slots=True)
class Turned:
    """Somebody called who does not know the token; nothing was told to him."""

    address: str
    problem: str


@dataclass(frozen=True, slots=True)
class Knocking:
    """A candidate address that did not lead to the other node."""

    address: str
    problem: str
    seconds: float


@dataclass(frozen=True, slots=True)
class NoWay:
    """No candidate led anywhere; cards do without a connection."""

    tried: tuple[Knocking, ...]
    sources: tuple[str, ...]
    """Own interfaces and addresses, from which it was tried."""
    card: str
    """Of this node."""


@dataclass(frozen=True, slots=True)
class Joined:
    """A node takes part."""

    facts: Facts
    address: str
    """Where the two met; empty for this node itself."""


@dataclass(frozen=True, slots=True)
class Trying:
    """A connection was tried."""

    cell: Cell


@dataclass(frozen=True, slots=True)
class Concluded:
    """What all of it means, by now."""

    conclusion: Conclusion


@dataclass(frozen=True, slots=True)
class Shook:
    """NCCL's own handshake is over, with the settings as they are, or as they are proposed."""

    handshake: Handshake
    proposed: bool


@dataclass(frozen=True, slots=True)
class Planned:
    """What would change on this node; its user is asked next."""

    host: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class MadeFix:
    """What became of the fix of a node."""

    host: str
    applied: bool
    text: str
    changes: tuple[Applied, ...] = ()
    """Of this node's own files, with what undoes them; none for other nodes'."""


@dataclass(frozen=True, slots=True)
class FoundPort:
    """A port of the first node at which ranks can meet: nobody uses it."""

    address: str
    port: int
    taken: tuple[int, ...] = ()
    """Ports before it that somebody has."""


@dataclass(frozen=True, slots=True)
class WentFast:
    """The speed test between the first two nodes is over."""

    test: SpeedTest


@dataclass(frozen=True, slots=True)
class Trained:
    """A small model was trained over DDP on all nodes, or was to be."""

    test: SpeedTest


@dataclass(frozen=True, slots=True)
class Ended:
    """The pairing is over; verified where NCCL's handshake passed with the settings as they are."""

    verified: bool
    use: tuple[Use, ...] = ()


Step = (
    Waiting
    | Turned
    | Knocking
    | NoWay
    | Joined
    | Trying
    | Concluded
    | Shook
    | Planned
    | MadeFix
    | FoundPort
    | Progress
    | WentFast
    | Trained
    | Ended
)
