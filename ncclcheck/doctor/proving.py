"""The proofs at the end of a pairing: a port found free, the speed test, and training over DDP, asked by the host."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ncclcheck.doctor.company import Company, Member
from ncclcheck.doctor.conclude import Conclusion
from ncclcheck.doctor.meet import Options
from ncclcheck.doctor.part import Part
from ncclcheck.doctor.steps import FoundPort, Step, Trained, WentFast
from ncclcheck.model import SpeedTest, Use
from ncclcheck.peer import messages
from ncclcheck.peer.freeport import free_port, is_free
from ncclcheck.speedtest.plan import PORT
from ncclcheck.speedtest.reports import Progress
from ncclcheck.speedtest.worker.words import DDP, TRANSFERS, USUAL_SIZE

_ENDING = 90.0
"""Seconds that a guest's side may take to end after the host's has: its own limit, and what it takes to be killed."""


@dataclass
class Proofs:
    """What is proved by really doing it, between the interfaces that NCCL should use."""

    own: Part
    company: Company
    options: Options
    known: Conclusion
    port: int = PORT

    @property
    def wanted(self) -> bool:
        """Whether anything of it was asked for, and can be done at all."""
        asked = self.options
        return bool(self._use) and (bool(asked.speed) or asked.train or asked.rendezvous)

    def find_port(self) -> Iterator[Step]:
        """A port of this node that is free now, told to all."""
        self.port, taken = free_port(PORT)
        address = self._mine.address
        self.company.tell(messages.PortFound(address, self.port, taken))
        yield FoundPort(address, self.port, taken)

    def run(self) -> Iterator[Step]:
        """What was asked for, one after the other."""
        # Since it was found, a person may have been asked.
        if not is_free(self.port):
            yield from self.find_port()
        if self.options.speed:
            yield from self._speed()
        if self.options.train:
            yield from self._train()

    def _speed(self) -> Iterator[Step]:
        """The speed test between this node and the first guest, or what an earlier one over the same interfaces said.

        A guest that went away in the middle may not have heard of it.
        """
        earlier = self.options.earlier
        if earlier and set(self.options.measured) == set(self._use):
            values: Iterator[Progress | SpeedTest] = iter((earlier,))
        else:
            values = self._run(self.company.members[:1], self.options.speed, TRANSFERS)
        for value in values:
            if isinstance(value, SpeedTest):
                self.company.tell(messages.Measured(value))
                yield WentFast(value)
            else:
                yield value

    def _train(self) -> Iterator[Step]:
        """A small model over DDP, a rank on every node."""
        for value in self._run(self.company.members, USUAL_SIZE[DDP], DDP):
            if isinstance(value, SpeedTest):
                self.company.tell(messages.Trained(value))
                yield Trained(value)
            else:
                yield value

    def _run(self, members: tuple[Member, ...], size: int, workload: str) -> Iterator[Progress | SpeedTest]:
        """All sides at once; the host's own result counts for all."""
        interfaces = {one.host: one.interface for one in self._use}
        place, ranks = (self._mine.address, self.port), len(members) + 1
        for rank, member in enumerate(members, 1):
            theirs = interfaces[member.facts.host]
            member.channel.send(messages.Measure(*place, size, rank, ranks, theirs, workload))
        for value in self.own.measure(messages.Measure(*place, size, 0, ranks, self._mine.interface, workload)):
            for member in members:
                if isinstance(value, SpeedTest):
                    member.answer(messages.Measured, _ENDING)
                else:
                    # A rank whose node has gone would be waited for until the limit.
                    member.channel.must_be_there()
            yield value

    @property
    def _use(self) -> tuple[Use, ...]:
        return self.known.sides.match.use

    @property
    def _mine(self) -> Use:
        return next(one for one in self._use if one.host == self.own.facts.host)
