"""What paired nodes say to each other: JSON of these shapes, and nothing that could be run.

The node that invited asks; the others answer. A message of another shape is refused whole (msgspec decodes strictly).
"""

from __future__ import annotations

import msgspec

from ncclcheck.errors import PeerError
from ncclcheck.model import Cell, Contact, Facts, Handshake, Sides, SpeedTest
from ncclcheck.peer.calls import Door

LONGEST = 1 << 20
"""Bytes of the longest message; a node card with hundreds of interfaces has some ten thousand."""


class Message(msgspec.Struct, frozen=True, tag=True):
    """Whatever passes between paired nodes."""


class Hello(Message, frozen=True):
    """From whoever joins: who it is, and at which of the candidate addresses it got through."""

    facts: Facts
    address: str


class Company(Message, frozen=True):
    """Everybody who takes part, and the name by which the receiver goes among them."""

    nodes: tuple[Facts, ...]
    you: str


class OpenDoors(Message, frozen=True):
    """Listen on every address of yours; ``key`` proves to callers that it is you."""

    key: str


class Doors(Message, frozen=True):
    """Where the sender listens."""

    doors: tuple[Door, ...]


class CallDoors(Message, frozen=True):
    """Call all of these that are not your own."""

    doors: tuple[Door, ...]


class Tried(Message, frozen=True):
    """One connection was tried; also passed on, so that every screen shows all of them."""

    cell: Cell


class Settled(Message, frozen=True):
    """All calls are made. The first value names each unanswered call by the caller's address and port."""

    lost: tuple[tuple[str, int, str], ...] = ()


class CloseDoors(Message, frozen=True):
    """Stop listening, and say which calls were seen to come and never completed."""


class PlayRank(Message, frozen=True):
    """Take part in NCCL's bootstrap as this rank."""

    ticket: str
    rank: int
    world_size: int
    interface: str
    """The one to prove before it is set; empty for the one that NCCL takes there now."""


class Played(Message, frozen=True):
    """How the rank fared."""

    contacts: tuple[Contact, ...]


class Learnt(Message, frozen=True):
    """What is known of all sides by now."""

    sides: Sides


class Shaken(Message, frozen=True):
    """A handshake is over; ``proposed`` says that it went over interfaces that are not set yet."""

    handshake: Handshake
    proposed: bool


class Mend(Message, frozen=True):
    """Ask your user whether your own fix may be made."""


class Mended(Message, frozen=True):
    """What became of a node's fix."""

    host: str
    applied: bool
    text: str


class PortFound(Message, frozen=True):
    """Nobody uses this port on the host; ``taken`` are those before it that somebody has."""

    address: str
    port: int
    taken: tuple[int, ...] = ()


class Measure(Message, frozen=True):
    """Be this rank of a speed test, or of a training over DDP."""

    address: str
    port: int
    size: int
    rank: int
    ranks: int
    interface: str
    workload: str


class Measured(Message, frozen=True):
    """A speed test is over; to the host, this side's of whatever it asked for."""

    test: SpeedTest


class Trained(Message, frozen=True):
    """A training over DDP is over."""

    test: SpeedTest


class Farewell(Message, frozen=True):
    """Nothing more will come."""

    verified: bool


Any = (
    Hello
    | Company
    | OpenDoors
    | Doors
    | CallDoors
    | Tried
    | Settled
    | CloseDoors
    | PlayRank
    | Played
    | Learnt
    | Shaken
    | Mend
    | Mended
    | PortFound
    | Measure
    | Measured
    | Trained
    | Farewell
)

_DECODER = msgspec.json.Decoder(Any)


def encoded(message: Message) -> bytes:
    """The message as JSON."""
    return msgspec.json.encode(message)


def decoded(content: bytes, sender: str) -> Any:
    """The message; PeerError where it is none of the known shapes."""
    try:
        return _DECODER.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise PeerError(
            f"a message that this version cannot read came ({error})",
            place=sender,
            next_step="Use the same version of ncclcheck on both nodes.",
        ) from error
