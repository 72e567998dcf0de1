"""A setup as it goes between fake nodes: the steps are made up, what follows from them is worked out for real."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ncclcheck.doctor.conclude import Conclusion, conclude
from ncclcheck.doctor.setup.begin import SetupOptions, begun, by_hand, questions
from ncclcheck.doctor.setup.growth import advanced
from ncclcheck.doctor.setup.kept import Kept, kept_of
from ncclcheck.doctor.setup.offer import Offered
from ncclcheck.doctor.setup.person import Leave, Person, Repeat, Skip, TakeBack
from ncclcheck.doctor.setup.state import Setup, State
from ncclcheck.doctor.setup.steps import (
    Again,
    Answered,
    Closed,
    Looked,
    Missed,
    Opened,
    Prepared,
    Ready,
    Repaired,
    SetupStep,
    Skipped,
    Undone,
)
from ncclcheck.doctor.steps import (
    Concluded,
    Ended,
    FoundPort,
    Joined,
    MadeFix,
    Planned,
    Shook,
    Step,
    Trained,
    Trying,
    Waiting,
    WentFast,
)
from ncclcheck.errors import PeerError
from ncclcheck.model import (
    Applied,
    Cell,
    DdpProof,
    Edit,
    Facts,
    Fix,
    Hint,
    Limit,
    Machine,
    Node,
    Outcome,
    Risk,
    Scope,
)
from ncclcheck.rulebook.guides import guess, load_guides
from ncclcheck.tui.setup.real import setup_cases
from ncclcheck.tui.setup.seam import SetupCases, Way
from tests.tui import fake_peers
from tests.tui.fake_peers import INVITATION, PASSES

if TYPE_CHECKING:
    from tests.tui.fake import Doctor

REPAIR = Edit(
    "/etc/nccl.conf",
    b"NCCL_SOCKET_IFNAME=eth1  # the overlay\n",
    b"NCCL_SOCKET_IFNAME=eth1\n",
)
WRITTEN = Applied("/etc/nccl.conf", "/etc/nccl.conf.ncclcheck-1", "2026-11-30T12:00:00Z")
SUMMARY = "/home/ann/.local/state/ncclcheck/setup-gpu-box.md"
GUIDES = load_guides()
HERE = Node("gpu-box")


@dataclass
class FakeSetup:
    """What is unusual about it."""

    place: str = "linux"
    """By whose signs this node is known."""
    kept: Kept | None = None
    trap: bool = False
    """Whether nccl.conf has a line that NCCL reads in another way than it looks."""
    wall: bool = False
    """Whether a firewall stands between the nodes, the first time."""
    nobody: bool = False
    """Whether no other node comes."""
    asked: list[SetupOptions] = field(default_factory=list)
    """With which options it was begun."""


def cases(doctor: Doctor) -> SetupCases:
    """The seam; rules' pages and terms are the real ones."""
    real = setup_cases()

    def keep(setup: Setup) -> str:
        doctor.calls.append("keep the summary")
        return SUMMARY

    def undo() -> tuple[Applied, ...]:
        doctor.calls.append("take back")
        return (WRITTEN,)

    return replace(
        real,
        offered=lambda: offered(doctor),
        go=lambda asked, person: _Way(doctor, person).go(asked),
        keep=keep,
        undo=undo,
    )


def hints(place: str) -> tuple[Hint, ...]:
    """The signs of a place."""
    names = GUIDES.place(place).places
    return (Hint(names[0], "provider", (f"VAST_CONTAINERLABEL is set ({names[0]})",)),) if names else ()


def offered(doctor: Doctor) -> Offered:
    """All guides, the place by its signs."""
    doctor.calls.append("offered")
    likely = guess(GUIDES, hints(doctor.setup.place))
    others = tuple((guide, ()) for guide in GUIDES.places if guide not in [one for one, _ in likely])
    launchers = sorted(GUIDES.launchers, key=lambda guide: guide.name != "torchrun")
    return Offered((*likely, *others), tuple(launchers), doctor.setup.kept)


def kept(doctor: Doctor) -> Kept:
    """One that was left when the nodes had joined."""
    setup = begun(SetupOptions(place="linux", role=0, script="train.py"), GUIDES, doctor.facts(HERE))
    done = tuple(replace(one, state=State.DONE) if number < 3 else one for number, one in enumerate(setup.stages))
    return replace(kept_of(replace(setup, stages=done)), time="2026-11-30T12:03:00+00:00")


class _Way:
    """As ``doctor.setup`` goes it, in short."""

    def __init__(self, doctor: Doctor, person: Person) -> None:
        self.now: Setup
        self.doctor, self.person = doctor, person

    def _take(self, step: SetupStep | Step) -> SetupStep | Step:
        self.now = advanced(self.now, step)
        return step

    def go(self, asked: SetupOptions) -> Way:
        """The whole way."""
        self.doctor.setup.asked.append(asked)
        yield from self.begin(asked)
        while True:
            yield from self.together()
            if self.now.proved or not (yield from self.turn()):
                break
        if self.now.proved:
            if later := by_hand(self.now, before=False):
                yield self._take(Prepared(tuple(one.id for one in later)))
            yield self._take(Ready())
        yield self._take(Closed(self.now))

    def begin(self, asked: SetupOptions) -> Way:
        """Up to the invitation."""
        facts = self.looked().facts
        known = replace(asked, place=asked.place or self.doctor.setup.place, resume=False)
        self.now = begun(known, GUIDES, facts)
        yield self._take(Opened(self.now, asked.resume))
        yield self._take(self.looked())
        for one in questions(self.now):
            for name, question in one.step.ask.items():
                if said := self.person.answer(name, question):
                    yield self._take(Answered(name, said))
        if stages := by_hand(self.now, before=True):
            left_out = self.person.prepared(stages)
            done = tuple(one.id for one in stages if one.id not in dict(left_out))
            yield self._take(Prepared(done, left_out))
        if self.doctor.setup.trap and self.person.agree(
            (REPAIR,), Fix("Put right nccl.conf", Scope.THIS_NODE, Risk.SAFE)
        ):
            self.doctor.calls.append("repaired")
            yield self._take(Repaired((WRITTEN,)))

    def looked(self) -> Looked:
        """This node, roomy enough for everything."""
        limits = (Limit("nofile", 65536, "files"), Limit("shm", 8 << 30, "bytes"), Limit("memlock", None, "bytes"))
        facts = self.doctor.facts(HERE)
        machine = Machine(limits=limits, hints=hints(self.doctor.setup.place))
        return Looked(replace(facts, machine=machine), 1, "/etc/nccl.conf")

    def together(self) -> Way:
        """The nodes meet, and all is tried."""
        if not self.now.choices.role:
            yield self._take(Waiting(INVITATION))
        self.wait("guest")
        if self.doctor.setup.nobody:
            yield self._take(Missed("nobody joined within 600 s"))
            return
        me, other = self.now.evidence.facts, self.doctor.facts(self.doctor.guest)
        assert me is not None
        yield self._take(Joined(other, "10.0.0.2"))
        nodes = (me, other) if not self.now.choices.role else (other, me)
        walled, self.doctor.setup.wall = self.doctor.setup.wall, False
        tried = tuple(_cells(nodes, walled=walled))
        for cell in tried:
            yield self._take(Trying(cell))
        known = conclude(nodes, tried)
        yield self._take(Concluded(known))
        if walled:
            yield self._take(Ended(False, known.sides.match.use))
            return
        yield from self.mend(known)

    def wait(self, what: str) -> None:
        """Until somebody lets it go on, or the person went."""
        until = time.monotonic() + 30
        while what in self.doctor.held and not self.doctor.held[what].is_set():
            if self.person.gone():
                raise PeerError("the waiting was ended")
            assert time.monotonic() < until, f"nobody let {what} go"
            time.sleep(0.005)

    def mend(self, known: Conclusion) -> Way:
        """The fix of this node, after a yes, and the proofs."""
        fix = known.fix_for(known.nodes[self.now.choices.role].host)
        edits = (Edit("/etc/nccl.conf", None, b"NCCL_SOCKET_IFNAME==eth1\n"),)
        yield self._take(FoundPort("10.0.0.1", 29501, (29500,)))
        names = [node.host for node in known.nodes]
        assert fix is not None
        yield self._take(Planned(names[0], edits))
        yes = self.person.agree(edits, fix)
        self.doctor.calls.append(f"answered {yes}")
        text = "/etc/nccl.conf written" if yes else "its user said no; nothing was written"
        yield self._take(MadeFix(names[0], yes, text, (WRITTEN,) if yes else ()))
        yield self._take(MadeFix(names[1], True, "/etc/nccl.conf written"))
        if yes:
            yield self._take(Shook(PASSES, proposed=False))
            self.wait("transfer")
            yield self._take(WentFast(self.doctor.passed))
            yield self._take(
                Trained(replace(self.doctor.passed, speeds=(), ddp=DdpProof(2, 20, 0.004, 0.1, True, 2.3, 0.4)))
            )
        yield self._take(Ended(yes, known.sides.match.use))

    def turn(self) -> Iterator[SetupStep | Step]:
        """What the person wishes."""
        while not self.person.gone():
            wish = self.person.wish(self.now)
            self.doctor.calls.append(str(wish))
            match wish:
                case Repeat(stage):
                    yield self._take(Again(stage))
                    yield self._take(self.looked())
                    return True
                case Skip(stage, reason):
                    yield self._take(Skipped(stage, reason))
                case TakeBack():
                    yield self._take(Undone(self.now.applied))
                case Leave():
                    return False
        return False


def _cells(nodes: tuple[Facts, ...], *, walled: bool) -> Iterator[Cell]:
    for one, other in (nodes, nodes[::-1]):
        for cell in fake_peers.cells(one, other):
            yield (
                replace(cell, outcome=Outcome.DROPPED, seconds=None) if walled and cell.outcome is Outcome.OK else cell
            )
