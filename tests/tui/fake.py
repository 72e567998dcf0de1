"""A small fake of the doctor: a broken lab of two nodes that an applied fix mends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from ncclcheck.doctor.foresight import foresee
from ncclcheck.doctor.history import Made, Review
from ncclcheck.doctor.speed import Judged, judged
from ncclcheck.errors import NcclcheckError, SourceError
from ncclcheck.logs import sources
from ncclcheck.logs.sources import Source
from ncclcheck.model import (
    Address,
    Applied,
    Baseline,
    Choice,
    Confidence,
    Diagnosis,
    Edit,
    Facts,
    FileContent,
    Finding,
    Fix,
    Handshake,
    Interface,
    Job,
    LinkKind,
    Node,
    Pattern,
    Probe,
    Process,
    Rank,
    Risk,
    Scope,
    Setting,
    Severity,
    Speed,
    SpeedTest,
    Stage,
    Unknown,
    Verdict,
    Where,
)
from ncclcheck.speedtest.history import Run
from ncclcheck.speedtest.plan import Side
from ncclcheck.speedtest.reports import Measured, Progress, Rate, Suspected
from ncclcheck.speedtest.worker.words import bytes_words, sweep
from ncclcheck.tui.seam import Kept, Meeting, Ticks, UseCases
from tests.tui import fake_peers, fake_setup
from tests.tui.fake_peers import FAILS, PASSES

LAB = (Node("node-a"), Node("node-b"))
HERE = (Node("gpu-box"),)

FIX = Fix(
    title="Let NCCL use eth1 on every node",
    scope=Scope.ALL_NODES,
    risk=Risk.SAFE,
    env=(("NCCL_SOCKET_IFNAME", "=eth1"),),
    files=(FileContent("/etc/nccl.conf", "NCCL_SOCKET_IFNAME==eth1\n"),),
)
BY_HAND = Fix(
    title="Set it in the start command",
    scope=Scope.LAUNCHER,
    risk=Risk.MANUAL,
    env=(("NCCL_SOCKET_IFNAME", "=eth1"),),
    commands=("export NCCL_SOCKET_IFNAME==eth1",),
)
LOG = (
    "{host}:4711:4711 [0] NCCL INFO Bootstrap: Using eth0:172.17.0.2<0>",
    "{host}:4711:4711 [0] NCCL INFO NCCL version 2.29.7+cuda12.9",
    "{host}:4711:4711 [0] NCCL INFO NET/Socket : Using [0]eth0:172.17.0.2<0> [1]eth1:10.0.0.1<0>",
    "{host}:4711:4720 [0] NCCL INFO Call to connect returned Connection refused, retrying",
)
FINDING = Finding(
    rule="NC101",
    cause="wrong-interface",
    severity=Severity.ERROR,
    confidence=Confidence.LIKELY,
    title="NCCL uses eth0 (172.17.0.2), which the other node cannot reach",
    explanation="NCCL takes the first interface that is up. Here that is eth0, a docker network that exists on each "
    "node for itself. The nodes share 10.0.0.0/24, which is on eth1.",
    not_proof_of="It does not prove that the path over eth1 is fast or free of a firewall; the speed test does.",
    subject=(("interface", "eth0"), ("address", "172.17.0.2")),
    ranks=(),
    evidence=(Where("node-a", 1), Where("node-b", 1)),
    fixes=(FIX, BY_HAND),
    explains=("NC204",),
)
NOTE = Finding(
    rule="NC301",
    cause="slow-transport",
    severity=Severity.INFO,
    confidence=Confidence.CERTAIN,
    title="NCCL goes over plain sockets here",
    explanation="No RDMA device was found.",
    not_proof_of="",
    subject=(),
    ranks=(),
    evidence=(Where("node-a", 3),),
    fixes=(),
)
FAILED = SpeedTest(
    "gloo",
    "eth0",
    failure="node-b could not reach 172.17.0.2 within 20 s",
    stage="waiting for rank 1 at 172.17.0.2:29500",
)
_LARGEST = {Pattern.ONE_WAY: 0.046, Pattern.BOTH_WAYS: 0.071, Pattern.ALL_GATHER: 0.047, Pattern.ALL_REDUCE: 0.085}
"""Seconds of a round of 64M."""


def speed(pattern: Pattern, size: int, slower: float = 1.0) -> Speed:
    """Rounds that take 60 µs and then what their bytes need, a little uneven."""
    whole = (60e-6 + (_LARGEST[pattern] - 60e-6) * size / 67108864) * slower
    return Speed(pattern, size, tuple(whole * share for share in (1.0, 0.98, 1.02, 0.99, 1.01, 1.0, 1.03)), True)


PASSED = SpeedTest(
    "gloo",
    "eth1",
    tuple(speed(pattern, size) for pattern in Pattern for size in sweep(67108864)),
    baseline=Baseline("iperf3", 1, 5_600_000_000, 2.0, "eth1", 12),
)
SLOWER = replace(PASSED, speeds=tuple(speed(one.pattern, one.size, 3.0) for one in PASSED.speeds))
SUSPECTED = Suspected("the log points to this", 4.0, "NCCL goes over plain sockets here", "NC301")


def ran(number: int, test: SpeedTest, facts: Facts, label: str = "") -> Run:
    """A run as the history keeps it."""
    carried, judgement = judged(test, facts)
    return Run(f"20261130-12000{number}", f"2026-11-30T12:0{number}:00+00:00", facts.host, carried, judgement, label)


def told(test: SpeedTest) -> Iterator[Progress]:
    """What a test tells while it runs."""
    yield Progress("rank 0 is ready: gloo on eth1", 1.0)
    for number, one in enumerate(test.speeds):
        seconds, left = 2.0 + number / 4, (len(test.speeds) - number) / 4
        for part in (0.9, 1.05):
            text = f"{one.pattern.value}, {bytes_words(one.size)}: {one.algbw * part:.3g} GB/s, about {left:.0f} s left"
            yield Rate(text, seconds, one.pattern, one.size, 3, one.algbw * part, left)
        yield Measured(f"{one.pattern.value}, {bytes_words(one.size)}: through", seconds, speed=one)


EDIT = Edit(
    "/etc/nccl.conf",
    b"# site settings\nNCCL_DEBUG=WARN\n",
    b"# site settings\nNCCL_DEBUG=WARN\nNCCL_SOCKET_IFNAME==eth1\n",
)


def made(node: Node, applied: tuple[Applied, ...], refusal: str = "") -> Made:
    """A change that is kept, with what taking it back would write."""
    return Made(node, applied, Review((EDIT,), (Edit(EDIT.path, EDIT.after, EDIT.before),), refusal))


T = TypeVar("T")


@dataclass
class Doctor:
    """Answers as the real use cases do, and remembers what it was asked."""

    guest = Node("node-b")
    passed: SpeedTest = PASSED
    failed: SpeedTest = FAILED
    """The speed test of two nodes before the fix."""
    kept: list[Run] = field(default_factory=list)
    made: list[Made] = field(default_factory=list)
    """Changes of earlier sessions, the newest first."""
    no_way = False
    """Whether none of the other node's addresses leads there."""
    shaken: Handshake | None = None
    """What NCCL's handshake gives instead of what follows from the settings."""
    calls: list[str] = field(default_factory=list)
    fixed: bool = False
    finding: Finding = FINDING
    log: tuple[str, ...] = LOG
    commands: list[str] = field(default_factory=list)
    """Of the runs that are kept."""
    rules = Path("/home/me/.config/ncclcheck/rules/causes")
    unkept: str = ""
    """Why they are not."""
    setup: fake_setup.FakeSetup = field(default_factory=fake_setup.FakeSetup)
    errors: dict[str, NcclcheckError] = field(default_factory=dict)
    """What each use case raises instead of answering."""
    held: dict[str, threading.Event] = field(default_factory=dict)
    """What each use case waits for before it answers."""

    def cases(self) -> UseCases:
        """The seam."""
        return UseCases(
            scan=lambda node: self._called(f"scan {node.name}", lambda: self.facts(node)),
            probe=lambda node: self._called(f"probe {node.name}", lambda: self.probe(node)),
            read=self._read,
            examine=lambda _: Examined(self),
            diagnose_probes=lambda probes, _: self._called("diagnose_probes", lambda: self._probed(probes)),
            preview=lambda _, node: self._called(f"preview {node.name}", lambda: (EDIT,)),
            apply=lambda _, node: self._called(f"apply {node.name}", self._apply),
            undo=lambda applied, node: self._called(f"undo {node.name}", lambda: self._undo(applied)),
            measure=self._measure,
            measure_here=self._measure_here,
            keep=self._keep,
            judge=judged,
            history=lambda: tuple(self.kept),
            changes=self._changes,
            invite=lambda agree, stopped: fake_peers.invited(self, self._me, agree, stopped),
            join=lambda text, agree: fake_peers.joined(self, self._me, text, agree),
            between=lambda nodes, stopped: fake_peers.between(self, tuple(map(self.facts, nodes)), stopped),
            match_cards=lambda text, facts: self._called("match_cards", lambda: fake_peers.matched(text, facts)),
            handshake=lambda _: self._called("handshake", self.handshake),
            setup=fake_setup.cases(self),
            keep_rule=lambda rule: self._called(f"keep_rule {rule.name}", lambda: self.rules / rule.name),
            foresee=lambda nodes, change, nccl, present: foresee(nodes, (change,), nccl, present),
        )

    @property
    def _me(self) -> Facts:
        return self.facts(HERE[0])

    def facts(self, node: Node) -> Facts:
        """A node with a docker network first."""
        last = 1 if node.name != "node-b" else 2
        name, address = ("eth1", f"10.0.0.{last}") if self.fixed else ("eth0", "172.17.0.2")
        return Facts(
            host=node.name,
            interfaces=(
                Interface("lo", 1, LinkKind.LOOPBACK, True, True, 65536, None, (Address("127.0.0.1", 8),)),
                Interface("eth0", 2, LinkKind.VETH, True, True, 1500, None, (Address("172.17.0.2", 16),)),
                Interface("eth1", 3, LinkKind.ETHERNET, True, True, 9000, 25000, (Address(f"10.0.0.{last}", 24),)),
            ),
            settings=(Setting("NCCL_SOCKET_IFNAME", "=eth1", "/etc/nccl.conf", 3),) if self.fixed else (),
            choice=Choice(
                "2.29.7",
                name,
                address,
                "NCCL_SOCKET_IFNAME names it"
                if self.fixed
                else "first interface that is up and not loopback or docker",
            ),
        )

    def handshake(self) -> Handshake:
        """NCCL's own, with the settings as they are."""
        return self.shaken or (PASSES if self.fixed else FAILS)

    def probe(self, node: Node) -> Probe:
        """The real choice agrees with the prediction."""
        choice = self.facts(node).choice
        assert choice is not None
        log = tuple(line.replace("{host}", node.name) for line in self.log)
        return Probe(node.name, choice.nccl, 0, choice, choice, log, f"{choice.address}:41234")

    def diagnosis(self, source: str) -> Diagnosis:
        """The finding, with its evidence in this source."""
        found = replace(self.finding, evidence=(Where(source, 1), Where(source, 4)))
        note = replace(NOTE, evidence=(Where(source, 3),))
        return Diagnosis(Verdict.PROBLEM, (found, note), (), _job("node-a"), 4, 400, 0.01)

    def _probed(self, probes: Sequence[Probe]) -> Diagnosis:
        if self.fixed:
            missing = Unknown("do the nodes reach each other?", "a speed test, or a log of the whole job")
            return Diagnosis(Verdict.UNKNOWN, (), (missing,), _job("node-a"), 8, 800, 0.01)
        places = tuple(Where(probe.host, 1) for probe in probes)
        found = replace(self.finding, evidence=places)
        note = replace(NOTE, evidence=(Where(probes[0].host, 3),))
        return Diagnosis(Verdict.PROBLEM, (found, note), (), _job(*(probe.host for probe in probes)), 8, 800, 0.01)

    def _pasted(self, text: str) -> Diagnosis:
        if "NCCL" in text:
            return self.diagnosis("pasted")
        missing = Unknown("what does NCCL do?", "a log with NCCL_DEBUG=INFO")
        return Diagnosis(Verdict.UNKNOWN, (), (missing,), Job(), 1, len(text), 0.01)

    def _read(self, paths: Sequence[str]) -> tuple[Source, ...]:
        def read() -> tuple[Source, ...]:
            if "missing" in paths[0]:
                raise SourceError("no such file", place=paths[0], next_step="check the name")
            return (sources.pasted("\n".join(self.log), paths[0]),)

        return self._called("read", read)

    def examined(self, source: str, text: str) -> Diagnosis:
        """What a text means, by where it comes from."""
        if source == "pasted":
            return self._called("diagnose_text", lambda: self._pasted(text))
        return self._called("diagnose", lambda: self.diagnosis(source))

    def _measure(self, meeting: Meeting) -> Ticks:
        self._called(f"measure {meeting.address} over {meeting.interfaces[0]}", lambda: None)
        yield Progress("waiting for the other side", 1.0)
        yield from self._running(self.passed if self.fixed else self.failed)

    def _measure_here(self, side: Side) -> Ticks:
        self._called(f"measure_here {side.place[0]}:{side.place[1]} {side.size} {side.rank}", lambda: None)
        yield from self._running(self.passed)

    def _running(self, test: SpeedTest) -> Ticks:
        ticks = list(told(test))
        yield from ticks[: len(ticks) // 2]
        if "transfer" in self.held:
            yield SUSPECTED
            self.held["transfer"].wait(30)
        yield from ticks[len(ticks) // 2 :]
        yield test

    def _keep(self, ticks: Ticks, command: Sequence[str], facts: Facts, label: str) -> Kept:
        for tick in ticks:
            if isinstance(tick, Progress):
                yield tick
                continue
            self.commands.append(" ".join(command))
            self.kept.append(ran(len(self.kept), tick, facts, label))
            yield Judged(*judged(tick, facts), self.kept[-1].id, self.unkept)

    def _apply(self) -> tuple[Applied, ...]:
        self.fixed = True
        return (Applied("/etc/nccl.conf", "/etc/nccl.conf.ncclcheck-1", "2026-11-30T12:00:00Z"),)

    def _undo(self, applied: tuple[Applied, ...]) -> None:
        self.fixed = False
        self.made = [made for made in self.made if made.applied != applied]

    def _changes(self, session: Sequence[tuple[Node, tuple[Applied, ...]]]) -> tuple[Made, ...]:
        return (*(made(node, applied) for node, applied in reversed(session)), *self.made)

    def _called(self, name: str, answer: Callable[[], T]) -> T:
        self.calls.append(name)
        case = name.split(" ", maxsplit=1)[0]
        if case in self.held and not self.held[case].wait(30):
            raise AssertionError(f"nobody let {case} go")
        if case in self.errors:
            raise self.errors[case]
        return answer()


class Examined:
    """A text under diagnosis."""

    def __init__(self, doctor: Doctor) -> None:
        self._doctor = doctor
        self._source = ""
        self._lines: list[str] = []

    def read(self, lines: Iterable[tuple[Where, str]]) -> Iterator[int]:
        """All of a source."""
        self.take(lines)
        yield len(self._lines)

    def take(self, lines: Iterable[tuple[Where, str]]) -> None:
        """Some lines."""
        for where, text in lines:
            self._source = where.source
            self._lines.append(text)

    def diagnosis(self, size: int) -> Diagnosis:
        """The finding, in whatever was read."""
        return self._doctor.examined(self._source, "\n".join(self._lines))


def _job(*hosts: str) -> Job:
    return Job(
        ranks=tuple(
            Rank(Process(host), host, (), None, "2.29.7", Stage.BOOTSTRAP, None, (), None, (), None, (), Where(host, 1))
            for host in hosts
        )
    )
