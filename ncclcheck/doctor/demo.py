"""The whole way on two nodes: what is wrong, a test that fails for it, the fix, and the test that passes.

Each step is a frozen value, given as soon as it is known. The story is told by whatever ``Effects`` it gets: the real
one, or a recording (``doctor.replay``).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Protocol

from ncclcheck.doctor.diagnose import diagnose_probes
from ncclcheck.errors import SpeedError
from ncclcheck.fixes.plan import diff
from ncclcheck.model import (
    Applied,
    Comparison,
    Diagnosis,
    Edit,
    Facts,
    Fix,
    Handshake,
    Node,
    Probe,
    Risk,
    SpeedTest,
)
from ncclcheck.speedtest.plan import PORT, meeting_address
from ncclcheck.speedtest.reports import Progress

CONF = "/etc/nccl.conf"
SIZE = 64 * 1024**2
"""Bytes a round: enough for a steady figure over a virtual cable, short enough to wait for."""
_LIMIT = 30.0
"""Seconds for a speed test. One that finds no way says so at once; the time is for loading torch."""


@dataclass(frozen=True, slots=True)
class Chapter:
    """A new part of the story begins; the title is a question or what is done now."""

    title: str


@dataclass(frozen=True, slots=True)
class Probed:
    """What the real NCCL did on a node."""

    node: Node
    probe: Probe


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """What is wrong by what NCCL printed."""

    diagnosis: Diagnosis
    probes: tuple[Probe, ...]


@dataclass(frozen=True, slots=True)
class ShookHands:
    """NCCL's own handshake is over, passed or not."""

    handshake: Handshake


@dataclass(frozen=True, slots=True)
class Measured:
    """A speed test has ended, well or not."""

    test: SpeedTest


@dataclass(frozen=True, slots=True)
class Planned:
    """What would change on a node; nothing has been written."""

    node: Node
    edits: tuple[Edit, ...]

    @property
    def diff(self) -> str:
        """The change as a unified diff."""
        return diff(self.edits)


@dataclass(frozen=True, slots=True)
class Changed:
    """What was changed on a node."""

    node: Node
    applied: tuple[Applied, ...]


@dataclass(frozen=True, slots=True)
class NothingToFix:
    """The end where no finding brings a fix that may be applied."""


Step = Chapter | Probed | Diagnosed | Progress | ShookHands | Measured | Planned | Changed | NothingToFix | Comparison


class Effects(Protocol):
    """What the story does to nodes: the seam between telling and doing."""

    def scan(self, node: Node) -> Facts:
        """Look at it."""

    def probe(self, node: Node) -> Probe:
        """Ask the real NCCL."""

    def handshake(self, nodes: tuple[Node, Node]) -> Handshake:
        """Let the real NCCL's root meet a rank on each."""

    def preview(self, fix: Fix, node: Node) -> tuple[Edit, ...]:
        """What a fix would change in its nccl.conf."""

    def apply(self, edits: tuple[Edit, ...], node: Node) -> tuple[Applied, ...]:
        """Change it."""

    def measure(
        self, nodes: tuple[Node, Node], address: str, interfaces: tuple[str, str]
    ) -> Iterator[Progress | SpeedTest]:
        """Measure between them."""


@dataclass(frozen=True, slots=True)
class Real:
    """Everything for real, on the nodes."""

    python: str | None = None
    """Interpreter for probe and speed test; by default the first likely one."""

    def scan(self, node: Node) -> Facts:
        """Look at it."""
        from ncclcheck.doctor.scan import scan

        return scan(node, python=self.python)

    def probe(self, node: Node) -> Probe:
        """Ask the real NCCL."""
        from ncclcheck.doctor.probe import probe

        return probe(node, python=self.python)

    def handshake(self, nodes: tuple[Node, Node]) -> Handshake:
        """Let the real NCCL's root meet a rank on each."""
        from ncclcheck.doctor.handshake import handshake

        return handshake(nodes, python=self.python)

    def preview(self, fix: Fix, node: Node) -> tuple[Edit, ...]:
        """What a fix would change in the node's ``/etc/nccl.conf``; lines it does not concern stay."""
        from ncclcheck.doctor.fix import preview

        return preview(fix, node, path=CONF)

    def apply(self, edits: tuple[Edit, ...], node: Node) -> tuple[Applied, ...]:
        """Change it."""
        from ncclcheck.doctor.fix import apply

        return apply(edits, node)

    def measure(
        self, nodes: tuple[Node, Node], address: str, interfaces: tuple[str, str]
    ) -> Iterator[Progress | SpeedTest]:
        """Measure between them."""
        from ncclcheck.doctor.measure import measure

        return measure(
            nodes, address=address, port=PORT, size=SIZE, interfaces=interfaces, limit=_LIMIT, python=self.python
        )


@dataclass(frozen=True, slots=True)
class _Examination:
    """What is known of both nodes at one time."""

    facts: tuple[Facts, ...]
    probes: tuple[Probe, ...]
    diagnosis: Diagnosis


def story(nodes: tuple[Node, ...], effects: Effects | None = None) -> Iterator[Step]:
    """Tell it for the first two nodes; the last step is a Comparison, or NothingToFix."""
    effects, pair = effects or Real(), (nodes[0], nodes[1])
    yield Chapter("Which interface does NCCL take on each node?")
    seen = yield from _examine(pair, effects)
    yield Chapter("Does it matter? NCCL's own handshake, and the speed test over that interface")
    yield ShookHands(effects.handshake(pair))
    before = yield from _measure(pair, seen, effects)
    fix = first_safe_fix(seen.diagnosis)
    if fix is None:
        yield NothingToFix()
        return
    yield Chapter(f"The fix, in each node's own {CONF}")
    yield from _change(pair, fix, effects)
    yield Chapter("What does NCCL take now?")
    seen = yield from _examine(pair, effects)
    yield Chapter("The same handshake and the same speed test again")
    yield ShookHands(effects.handshake(pair))
    after = yield from _measure(pair, seen, effects)
    yield Chapter("Before and after")
    yield Comparison(before, after)


def first_safe_fix(diagnosis: Diagnosis) -> Fix | None:
    """The first fix that only makes settings and may be applied by us."""
    fixes = (fix for finding in diagnosis.findings for fix in finding.fixes)
    return next((fix for fix in fixes if fix.risk is Risk.SAFE and fix.env), None)


def _examine(nodes: tuple[Node, Node], effects: Effects) -> Generator[Step, None, _Examination]:
    facts, probes = [], []
    for node in nodes:
        facts.append(effects.scan(node))
        probes.append(effects.probe(node))
        yield Probed(node, probes[-1])
    seen = _Examination(tuple(facts), tuple(probes), diagnose_probes(probes, tuple(facts)))
    yield Diagnosed(seen.diagnosis, seen.probes)
    return seen


def _measure(nodes: tuple[Node, Node], seen: _Examination, effects: Effects) -> Generator[Step, None, SpeedTest]:
    """Over the interfaces that NCCL took; the nodes meet where they can, so that only the interface is tested."""
    address = meeting_address(*seen.facts)
    if address is None:
        raise SpeedError(f"{nodes[0].name} and {nodes[1].name} share no network", next_step="Join them to one first.")
    taken = [probe.seen.interface or "" for probe in seen.probes]
    test = SpeedTest("", None, failure="the speed test gave no result")
    for value in effects.measure(nodes, address, (taken[0], taken[1])):
        if isinstance(value, SpeedTest):
            test = value
        else:
            yield value
    yield Measured(test)
    return test


def _change(nodes: tuple[Node, Node], fix: Fix, effects: Effects) -> Iterator[Step]:
    plans = [(node, effects.preview(fix, node)) for node in nodes]
    for node, edits in plans:
        yield Planned(node, edits)
    for node, edits in plans:
        yield Changed(node, effects.apply(edits, node))
