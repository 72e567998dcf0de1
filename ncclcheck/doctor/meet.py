"""How nodes come together for a pairing: one waits with a token, the others prove that they know it."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace

from ncclcheck.doctor.company import ANSWER, Company, Member
from ncclcheck.doctor.conclude import distinct
from ncclcheck.doctor.steps import Joined, Step, Turned, Waiting
from ncclcheck.errors import PeerError
from ncclcheck.model import Facts, SpeedTest, Use
from ncclcheck.peer import card, messages
from ncclcheck.peer.calls import is_link_local, listening_addresses
from ncclcheck.peer.invitation import Invitation, new_token
from ncclcheck.peer.porch import Guest, Porch, Stranger, waiting

_LOOK = 0.25
"""Seconds between two looks at whether the waiting is to be ended."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the person who invites may want."""

    nodes: int = 2
    """How many take part, this one included."""
    limit: float = 600.0
    """Seconds to wait for them."""
    addresses: tuple[str, ...] = ()
    """Own addresses to wait at; empty for all."""
    announce: tuple[str, ...] = ()
    """Further addresses that lead here, such as a router's that passes the port on."""
    port: int = 0
    python: str | None = None
    mend: bool = True
    """Ask for the fix and prove it; else only tell."""
    speed: int = 0
    """Bytes a round of a speed test at the end; 0 for none."""
    measured: tuple[Use, ...] = ()
    """Between which the speed was measured already; over the same ones that test is told again."""
    earlier: SpeedTest | None = None
    """That test."""
    train: bool = False
    """Train a small model over DDP on all nodes at the end."""
    rendezvous: bool = False
    """Find a port for ranks to meet at, also where nothing is measured."""
    unverified: bool = True
    """Measure and train also where NCCL's handshake did not pass."""
    token: str = ""
    """One that others know already; empty for a new one."""
    stopped: Callable[[], bool] = lambda: False
    """Whether the waiting is to be ended; asked several times a second."""


def meet(me: Facts, options: Options) -> Generator[Step, None, tuple[list[Member], int]]:
    """Wait until everybody is here; the guests, and the port where they came.

    Raises PeerError where somebody is missing in the end.
    """
    token, members = options.token or new_token(), list[Member]()
    addresses = options.addresses or listening_addresses(me)
    with ExitStack() as stack, waiting(addresses, token, options.port) as porch:
        candidates = tuple(dict.fromkeys((*options.announce, *_callable(porch.addresses))))
        yield Waiting(Invitation(porch.port, token, candidates), porch.failed)
        until = time.monotonic() + options.limit
        while len(members) < options.nodes - 1:
            arrived = _next(porch, until, len(members), options.stopped)
            if isinstance(arrived, Stranger):
                yield Turned(arrived.address, arrived.problem)
                continue
            member = _hello_of(arrived)
            if isinstance(member, Turned):
                yield member
            elif member is not None:
                members.append(member)
                stack.callback(member.channel.close)
                yield Joined(member.facts, member.met)
        # From here on they are the caller's to close.
        stack.pop_all()
        return members, porch.port


def _callable(addresses: tuple[str, ...]) -> Iterator[str]:
    """Those that mean something elsewhere; link-local ones last, and without our zone."""
    yield from (address for address in addresses if not is_link_local(address))
    yield from (address.partition("%")[0] for address in addresses if is_link_local(address))


def _next(porch: Porch, until: float, came: int, stopped: Callable[[], bool]) -> Guest | Stranger:
    while not stopped():
        left = until - time.monotonic()
        arrived = porch.next(max(0.0, min(left, _LOOK)))
        if arrived is not None:
            return arrived
        if left <= 0:
            raise PeerError(
                f"nobody {'else ' if came else ''}joined in time",
                place="pair",
                next_step="If join said that no address answers: ncclcheck card on both nodes, then ncclcheck match.",
            )
    raise PeerError("the waiting was ended", place="pair", next_step="Invite again when the other node is ready.")


def _hello_of(guest: Guest) -> Member | Turned | None:
    """The guest with his card; nobody where he has gone again, since another of his calls was quicker."""
    try:
        hello = guest.channel.receive(ANSWER)
    except PeerError:
        guest.channel.close()
        return None
    try:
        if not isinstance(hello, messages.Hello):
            raise PeerError("did not introduce itself")
        return Member(card.checked(hello.facts), guest.channel, guest.address)
    except PeerError as error:
        guest.channel.close()
        return Turned(guest.channel.peer, error.problem)


def introduced(me: Facts, guests: list[Member]) -> Company:
    """The guests under names that differ, each told who all of them are."""
    nodes = distinct((me, *(guest.facts for guest in guests)))
    company = Company(tuple(replace(guest, facts=facts) for guest, facts in zip(guests, nodes[1:], strict=True)))
    for member in company.members:
        member.channel.send(messages.Company(nodes, member.facts.host))
    return company
