"""The use case "what is wrong between us?", on the node that invites: it asks, all nodes answer, every screen shows it.

Nodes meet over an authenticated channel (``peer.channel``); then each listens and each calls each; the real NCCL root
serves a rank on every node; and each node's own user is asked before anything is changed there.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial

from ncclcheck.doctor import part
from ncclcheck.doctor.company import PERSON, Company, Member
from ncclcheck.doctor.conclude import Conclusion, conclude, distinct
from ncclcheck.doctor.meet import Options, introduced, meet
from ncclcheck.doctor.part import Agree, Part
from ncclcheck.doctor.proving import Proofs
from ncclcheck.doctor.steps import (
    Concluded,
    Ended,
    MadeFix,
    Planned,
    Shook,
    Step,
    Trying,
)
from ncclcheck.errors import NcclcheckError
from ncclcheck.model import Cell, Contact, Handshake, Leg, Meeting
from ncclcheck.peer import messages
from ncclcheck.peer.reach import settled
from ncclcheck.peer.synqueue import Lost
from ncclcheck.peer.together import together


def pair(options: Options, agree: Agree) -> Generator[Step, None, None]:
    """The whole way; the last step is Ended. Raises PeerError where nobody came, or somebody went."""
    me = part.here(options.python)
    guests, port = yield from meet(me, options)
    company = introduced(me, guests)
    nodes = distinct((me, *(guest.facts for guest in company.members)))
    with ExitStack() as stack:
        stack.callback(company.close)
        own = Part(nodes[0], nodes, stack.enter_context(ExitStack()), options.python)
        yield from _Host(own, company, options, port).story(agree)


@dataclass(frozen=True)
class _Host:
    """The host while it asks."""

    own: Part
    company: Company
    options: Options
    port: int

    def story(self, agree: Agree) -> Iterator[Step]:
        """Reach, conclude, shake hands, mend, prove."""
        cells = yield from self._reach()
        known = conclude(self.own.nodes, cells, self._meetings())
        self.company.tell(messages.Learnt(known.sides))
        yield Concluded(known)
        proofs = Proofs(self.own, self.company, self.options, known)
        if proofs.wanted:
            yield from proofs.find_port()
        verified = yield from self._shake(known, proposed=False)
        if self.options.mend and not verified and known.sides.match.use and not known.settled:
            verified = yield from self._mend_and_prove(known, agree)
        if proofs.wanted and (verified or self.options.unverified):
            yield from proofs.run()
        self.company.tell(messages.Farewell(verified))
        yield Ended(verified, known.sides.match.use)

    def _meetings(self) -> tuple[Meeting, ...]:
        me = self.own.facts.host
        return tuple(Meeting(one.facts.host, me, one.met, self.port) for one in self.company.members)

    # Who reaches whom ------------------------------------------------------------------------------------------------

    def _reach(self) -> Generator[Step, None, tuple[Cell, ...]]:
        """Everybody listens, everybody calls everybody, and then says what came and got lost."""
        key = secrets.token_hex(16)
        doors = self.own.open_doors(key)
        for _, answer in self.company.ask(messages.OpenDoors(key), messages.Doors):
            doors += answer.doors
        self.company.tell(messages.CallDoors(doors))
        cells: list[Cell] = []
        calls: list[Callable[[], Iterator[Cell]]] = [partial(self.own.call_doors, doors)]
        calls += [partial(self._cells_of, member) for member in self.company.members]
        for cell in together(calls):
            cells.append(cell)
            self.company.tell(messages.Tried(cell), but=cell.caller)
            yield Trying(cell)
        lost: dict[str, tuple[Lost, ...]] = {}
        for member, said in self.company.ask(messages.CloseDoors(), messages.Settled):
            lost[member.facts.host] = said.lost
        lost[self.own.facts.host] = self.own.close_doors()
        return settled(tuple(cells), lost)

    def _cells_of(self, member: Member) -> Iterator[Cell]:
        for said in member.until(messages.Settled):
            if isinstance(said, messages.Tried):
                yield replace(said.cell, caller=member.facts.host)

    # NCCL's handshake ------------------------------------------------------------------------------------------------

    def _shake(self, known: Conclusion, *, proposed: bool) -> Generator[Step, None, bool]:
        """NCCL's bootstrap over all nodes, as set, or as proposed; whether it passed."""
        result = self._handshake(known, proposed)
        self.company.tell(messages.Shaken(result, proposed))
        yield Shook(result, proposed)
        return result.passed

    def _handshake(self, known: Conclusion, proposed: bool) -> Handshake:
        from ncclcheck.doctor.handshake import serve_root
        from ncclcheck.peer.bootstrap_wire import ticket_of, ticket_text

        host = self.own.facts.host
        interfaces = {use.host: use.interface for use in known.sides.match.use} if proposed else {}
        try:
            with serve_root(part.proposed(interfaces.get(host, "")), self.options.python) as root:
                if root.code:
                    return Handshake(root.nccl, host, "", (), root.log(), f"NCCL starts no root on {host}")
                ticket = ticket_text(ticket_of(root.unique_id, root.nccl))
                with _signal() as ends:
                    contacts = tuple(together(self._ranks(ticket, interfaces, ends)))
                return Handshake(root.nccl, host, root.address, _in_order(contacts), root.log())
        except NcclcheckError as error:
            return Handshake("", host, "", (), failure=f"{host}: {error.problem}")

    def _ranks(self, ticket: str, interfaces: dict[str, str], ends: _Ends) -> list[Callable[[], Iterator[Contact]]]:
        """All ranks, to be played at once; one that cannot report ends the waiting of rank 0."""
        size, mine = len(self.own.nodes), interfaces.get(self.own.facts.host, "")
        ranks: list[Callable[[], Iterator[Contact]]] = [
            lambda: iter(self.own.play_rank(ticket, 0, size, mine, ends=ends.read))
        ]
        for rank, member in enumerate(self.company.members, start=1):
            asked = messages.PlayRank(ticket, rank, size, interfaces.get(member.facts.host, ""))
            ranks.append(partial(_rank_of, member, asked, ends))
        return ranks

    def _mend_and_prove(self, known: Conclusion, agree: Agree) -> Generator[Step, None, bool]:
        """First the proof that it would help, then the fix, then the proof that it does."""
        if not (yield from self._shake(known, proposed=True)):
            return False
        if not (yield from self._mend(known, agree)):
            return False
        return (yield from self._shake(known, proposed=False))

    # Fix -------------------------------------------------------------------------------------------------------------

    def _mend(self, known: Conclusion, agree: Agree) -> Generator[Step, None, bool]:
        """Each node's own fix, after its own user's yes; whether all were made."""
        self.company.tell(messages.Mend())
        made = []
        fixes: list[Callable[[], Iterator[Planned | MadeFix]]] = [partial(self.own.mend, known, agree)]
        fixes += [partial(_fix_of, member) for member in self.company.members]
        for step in together(fixes):
            yield step
            if isinstance(step, MadeFix):
                made.append(step)
                self.company.tell(messages.Mended(step.host, step.applied, step.text), but=step.host)
        return all(step.applied for step in made)


@dataclass(frozen=True, slots=True)
class _Ends:
    """A pipe: readable once there is nothing left to wait for."""

    read: int
    write: int


@contextmanager
def _signal() -> Iterator[_Ends]:
    ends = _Ends(*os.pipe())
    try:
        yield ends
    finally:
        os.close(ends.read)
        os.close(ends.write)


def _rank_of(member: Member, asked: messages.PlayRank, ends: _Ends) -> Iterator[Contact]:
    member.channel.send(asked)
    contacts = member.answer(messages.Played).contacts
    if any(contact.problem and contact.leg is Leg.TO_ROOT for contact in contacts):
        os.write(ends.write, b"!")
    yield from contacts


def _fix_of(member: Member) -> Iterator[Planned | MadeFix]:
    said = member.answer(messages.Mended, PERSON)
    yield MadeFix(member.facts.host, said.applied, said.text)


def _in_order(contacts: tuple[Contact, ...]) -> tuple[Contact, ...]:
    return tuple(sorted(contacts, key=lambda one: one.rank))
