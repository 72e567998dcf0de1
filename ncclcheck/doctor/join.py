"""The use case "what is wrong between us?", on a node that joins: it does its part when asked, and shows the rest."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

from ncclcheck.doctor import part
from ncclcheck.doctor.company import PERSON
from ncclcheck.doctor.conclude import Conclusion, of_sides
from ncclcheck.doctor.part import Agree, Part
from ncclcheck.doctor.steps import (
    Concluded,
    Ended,
    FoundPort,
    Joined,
    Knocking,
    MadeFix,
    NoWay,
    Shook,
    Step,
    Trained,
    Trying,
    WentFast,
)
from ncclcheck.errors import PeerError
from ncclcheck.model import Facts, SpeedTest
from ncclcheck.peer import card, messages
from ncclcheck.peer.calls import Door as CalledDoor
from ncclcheck.peer.channel import Channel
from ncclcheck.peer.invitation import Invitation
from ncclcheck.peer.knock import Door, knock
from ncclcheck.peer.match import usable_addresses


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to try at the doors of a node that may not be there yet."""

    limit: float = 0.0
    """Seconds in which all addresses are called again and again; 0 for once."""
    stopped: Callable[[], bool] = lambda: False
    """Whether it is to be ended before; asked once a round."""


_ONCE = Patience()
_APART = 0.5
"""Seconds between two rounds: where there is no way at all, a round is over at once."""


def join(
    invitation: Invitation, agree: Agree, python: str | None = None, patience: Patience = _ONCE
) -> Generator[Step, None, None]:
    """Find the other node, and take part; the last step is Ended, or NoWay where no address led there.

    Raises PeerError where the other side is not who it should be, or went away.
    """
    me = part.here(python)
    door = yield from _find(invitation, me, patience)
    if door is None:
        return
    try:
        door.channel.send(messages.Hello(me, door.address))
        yield from _take_part(door.channel, agree, python)
    finally:
        door.channel.close()


def _find(invitation: Invitation, me: Facts, patience: Patience) -> Generator[Step, None, Door | None]:
    zones = tuple(dict.fromkeys(interface.name for interface, _ in usable_addresses(me)))
    until, said = time.monotonic() + patience.limit, set[tuple[str, str]]()
    while True:
        tried: list[Knocking] = []
        for result in knock(invitation, zones):
            if isinstance(result, Door):
                return result
            tried.append(Knocking(result.address, result.problem, result.seconds))
            if (result.address, result.problem) not in said:
                said.add((result.address, result.problem))
                yield tried[-1]
        if time.monotonic() > until or patience.stopped():
            break
        time.sleep(_APART)
    sources = tuple(f"{interface.name} {address.address}" for interface, address in usable_addresses(me))
    yield NoWay(tuple(tried), sources, card.write(me))
    return None


def _take_part(channel: Channel, agree: Agree, python: str | None) -> Iterator[Step]:
    # The host's company may still be gathering.
    company = channel.receive(PERSON)
    if not isinstance(company, messages.Company):
        raise PeerError("it did not say who takes part", place=channel.peer)
    nodes = tuple(card.checked(node) for node in company.nodes)
    own = next((node for node in nodes if node.host == company.you), None)
    if own is None:
        raise PeerError("it does not count this node among those that take part", place=channel.peer)
    yield from (Joined(node, "") for node in nodes if node.host != company.you)
    with ExitStack() as stack:
        yield from _Guest(channel, Part(own, nodes, stack, python), agree).story()


@dataclass
class _Guest:
    """A node that answers."""

    channel: Channel
    own: Part
    agree: Agree
    known: Conclusion | None = None

    def story(self) -> Iterator[Step]:
        """Answer until the host takes leave."""
        while True:
            said = self.channel.receive(PERSON)
            if isinstance(said, messages.Farewell):
                yield Ended(said.verified, self.known.sides.match.use if self.known else ())
                return
            yield from self._news(said)
            yield from self._deed(said)

    def _news(self, said: messages.Any) -> Iterator[Step]:
        """What others did."""
        match said:
            case messages.Tried(cell):
                yield Trying(cell)
            case messages.Learnt(sides):
                self.known = of_sides(self.own.nodes, sides)
                yield Concluded(self.known)
            case messages.Shaken(handshake, proposed):
                yield Shook(handshake, proposed)
            case messages.Mended(host, applied, text):
                yield MadeFix(host, applied, text)
            case messages.PortFound() | messages.Measured() | messages.Trained():
                yield from self._proved(said)
            case _:
                pass

    def _proved(self, said: messages.PortFound | messages.Measured | messages.Trained) -> Iterator[Step]:
        match said:
            case messages.PortFound(address, port, taken):
                yield FoundPort(address, port, taken)
            case messages.Measured(test):
                yield WentFast(test)
            case messages.Trained(test):
                yield Trained(test)

    def _deed(self, said: messages.Any) -> Iterator[Step]:
        """What this node is asked to do."""
        match said:
            case messages.OpenDoors(key):
                self.channel.send(messages.Doors(self.own.open_doors(key)))
            case messages.CallDoors(doors):
                yield from self._call(doors)
            case messages.CloseDoors():
                self.channel.send(messages.Settled(self.own.close_doors()))
            case messages.PlayRank(ticket, rank, world_size, interface):
                self.channel.send(messages.Played(self.own.play_rank(ticket, rank, world_size, interface)))
            case messages.Mend():
                yield from self._mend()
            case messages.Measure():
                yield from self._measure(said)
            case _:
                pass

    def _call(self, doors: tuple[CalledDoor, ...]) -> Iterator[Step]:
        for cell in self.own.call_doors(doors):
            self.channel.send(messages.Tried(cell))
            yield Trying(cell)
        self.channel.send(messages.Settled())

    def _mend(self) -> Iterator[Step]:
        if self.known is None:
            raise PeerError("it asks for a fix before anything is known", place=self.channel.peer)
        for step in self.own.mend(self.known, self.agree):
            yield step
            if isinstance(step, MadeFix):
                self.channel.send(messages.Mended(step.host, step.applied, step.text))

    def _measure(self, asked: messages.Measure) -> Iterator[Step]:
        for value in self.own.measure(asked):
            if isinstance(value, SpeedTest):
                self.channel.send(messages.Measured(value))
            else:
                self.channel.must_be_there()
                yield value
