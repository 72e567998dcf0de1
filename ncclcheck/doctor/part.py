"""One node's part in a pairing: what it does for the others, be it their host or their guest.

Whatever comes from another node names addresses, and only those of nodes that take part are ever called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace

from ncclcheck.doctor.conclude import Conclusion
from ncclcheck.doctor.steps import MadeFix, Planned
from ncclcheck.errors import NcclcheckError, PeerError
from ncclcheck.model import Cell, Contact, Edit, Facts, Fix, Node, SpeedTest
from ncclcheck.peer import messages
from ncclcheck.peer.calls import Door, bare, calls_of, doors_of, listening_addresses
from ncclcheck.peer.listen import Listeners, listening
from ncclcheck.peer.match import usable_addresses
from ncclcheck.peer.reach import reach
from ncclcheck.peer.synqueue import Lost
from ncclcheck.speedtest.plan import Side
from ncclcheck.speedtest.reports import Progress
from ncclcheck.speedtest.worker.words import TRANSFERS, WORKLOADS

HERE = Node("this machine")

MOST_BYTES = 4 * 1024**3
"""Of a message in a speed test that another node asks for."""
_LESS = "Nothing was sent. Ask for at most 4G: ncclcheck pair --speed 256M"

Agree = Callable[[tuple[Edit, ...], Fix], bool]
"""Shows what would change to this node's own user, and gives the answer."""


def here(python: str | None) -> Facts:
    """What this node tells the others about itself: no more than its card does."""
    from ncclcheck.doctor.card import card

    return card(HERE, python=python)


@dataclass
class Part:
    """This node while it takes part; ``facts`` has the name by which it goes among the others."""

    facts: Facts
    nodes: tuple[Facts, ...]
    stack: ExitStack
    """Closes what is open when the pairing ends, however it ends."""
    python: str | None = None
    listeners: Listeners | None = None
    key: str = ""

    def open_doors(self, key: str) -> tuple[Door, ...]:
        """Listen on every own address."""
        self.key = key
        self.listeners = self.stack.enter_context(listening(self.facts.host, listening_addresses(self.facts), key))
        return doors_of(self.facts, self.listeners.ports)

    def call_doors(self, doors: tuple[Door, ...]) -> Iterator[Cell]:
        """Call all of these that are others'; PeerError for a door at an address that is no taking node's."""
        for door in doors:
            self._must_be_known(door.address)
        yield from reach(self.facts.host, calls_of(self.facts, doors), self.key)

    def close_doors(self) -> tuple[Lost, ...]:
        """Stop listening, and tell which calls came and got lost."""
        lost = self.listeners.unanswered() if self.listeners else frozenset()
        self.stack.close()
        self.listeners = None
        return tuple(sorted(lost))

    def play_rank(
        self, ticket_text: str, rank: int, world_size: int, interface: str, *, ends: int | None = None
    ) -> tuple[Contact, ...]:
        """Be a rank of NCCL's bootstrap on this interface, or on the one that NCCL takes here now.

        Waiting ends early when the file descriptor ``ends`` becomes readable.
        """
        from ncclcheck.doctor.handshake import play_here
        from ncclcheck.peer.bootstrap_wire import read_ticket

        ticket = read_ticket(ticket_text)
        self._must_be_known(ticket.root.address)
        contacts = play_here(ticket, rank, world_size, env=proposed(interface), ends=ends)
        return tuple(replace(contact, host=self.facts.host) for contact in contacts)

    def mend(self, conclusion: Conclusion, agree: Agree) -> Iterator[Planned | MadeFix]:
        """Make this node's own fix, if it has one and its user agrees; the last value tells."""
        from ncclcheck.doctor.fix import apply, preview

        host, fix = self.facts.host, conclusion.fix_for(self.facts.host)
        if fix is None:
            yield MadeFix(host, True, "nothing to change")
            return
        edits = preview(replace(fix, files=()), HERE)
        yield Planned(host, edits)
        if not agree(edits, fix):
            yield MadeFix(host, False, "its user said no; nothing was written")
            return
        try:
            applied = apply(edits, HERE)
        except NcclcheckError as error:
            yield MadeFix(host, False, error.problem)
            return
        written = ", ".join(f"{one.path} written" for one in applied) or "it was so already"
        yield MadeFix(host, True, written, applied)

    def measure(self, asked: messages.Measure) -> Iterator[Progress | SpeedTest]:
        """Be one side of a speed test, or of a training; PeerError for one that no host of ours asks for."""
        from ncclcheck.doctor.measure import measure_here

        self._must_be_known(asked.address)
        if not 0 < asked.size <= MOST_BYTES:
            raise self._refused(f"a speed test with {asked.size} bytes was asked for")
        if asked.workload not in WORKLOADS or not 0 <= asked.rank < asked.ranks <= len(self.nodes):
            raise self._refused(f"rank {asked.rank} of {asked.ranks} of {asked.workload!r} was asked for")
        side = Side(
            (asked.address, asked.port),
            asked.size,
            asked.rank,
            interface=asked.interface,
            limit=60.0,
            ranks=asked.ranks,
            baseline=asked.workload == TRANSFERS,
            workload=asked.workload,
        )
        try:
            yield from measure_here(side, self.python)
        except NcclcheckError as error:
            yield SpeedTest("", asked.interface, failure=f"{self.facts.host}: {error.problem}")

    def _refused(self, problem: str) -> PeerError:
        return PeerError(problem, place=self.facts.host, next_step=_LESS)

    def _must_be_known(self, address: str) -> None:
        known = {bare(one.address) for node in self.nodes for _, one in usable_addresses(node)}
        if bare(address) not in known:
            raise PeerError(
                f"{address} was to be called, which is no address of a node that takes part",
                place=self.facts.host,
                next_step="Nothing was sent there. Start the pairing again with a node that you trust.",
            )


def proposed(interface: str) -> tuple[tuple[str, str], ...]:
    """The setting that is to be proved before it is written; none for the settings as they are."""
    return (("NCCL_SOCKET_IFNAME", f"={interface}"),) if interface else ()
