"""The ways through the use cases, each a generator of outcomes that reads like the story it tells.

Runs on a worker thread; knows nothing of screens. Raises NcclcheckError where a use case does.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence

from ncclcheck.errors import SpeedError
from ncclcheck.model import Choice, Diagnosis, Facts, Fix, Node, Probe, Scope, SpeedTest
from ncclcheck.speedtest.plan import PORT, Side, meeting_address
from ncclcheck.tui import document, wording
from ncclcheck.tui.document import Document
from ncclcheck.tui.outcomes import (
    Activity,
    Changed,
    Copied,
    Diagnosed,
    Doing,
    Measured,
    NodeApplied,
    NodeEdits,
    Noted,
    Outcome,
    Previewed,
    Probed,
    Scanned,
    Undone,
)
from ncclcheck.tui.seam import Meeting, Ticks, UseCases
from ncclcheck.tui.state import Snapshot

Outcomes = Iterator[Outcome]

PASTED = "pasted"
SIZE = 64 * 1024 * 1024
"""Bytes a round: enough for a steady figure, short enough to wait for."""


def scan(
    cases: UseCases, nodes: Sequence[Node], activity: Activity = Activity.SCAN
) -> Generator[Outcome, None, tuple[Facts, ...]]:
    """Look at each node; the result is what was seen."""
    facts = []
    for node in nodes:
        yield Doing(activity, f"looking at {node.name}")
        facts.append(cases.scan(node))
        yield Scanned(node, facts[-1])
    return tuple(facts)


def probe(
    cases: UseCases, nodes: Sequence[Node], facts: tuple[Facts, ...], activity: Activity = Activity.PROBE
) -> Generator[Outcome, None, tuple[Probe, ...]]:
    """Ask the real NCCL on each node, and diagnose what it says; the result is what was said."""
    probes = []
    for node in nodes:
        yield Doing(activity, f"asking the real NCCL on {node.name}")
        probes.append(cases.probe(node))
    yield Probed(tuple(probes))
    yield _diagnosed(cases.diagnose_probes(probes, facts), document.probed(probes), of_nodes=True)
    return tuple(probes)


def read_paste(cases: UseCases, text: str, facts: tuple[Facts, ...]) -> Outcomes:
    """Diagnose a pasted text; a node's facts count only where the text names that node."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # Terminals send a carriage return for each line end.
    yield Doing(Activity.DIAGNOSE, "reading the pasted text")
    named = tuple(known for known in facts if known.host and known.host in text)
    yield _diagnosed(cases.diagnose_text(text, named), document.pasted(text, PASTED))


def read_files(cases: UseCases, paths: Sequence[str]) -> Outcomes:
    """Diagnose files and folders."""
    title = ", ".join(paths)
    yield Doing(Activity.DIAGNOSE, f"reading {title}")
    sources = cases.read(paths)
    yield Doing(Activity.DIAGNOSE, f"diagnosing {title}")
    yield _diagnosed(cases.diagnose(paths, ()), document.document(title, sources))


def preview(cases: UseCases, fix: Fix, nodes: Sequence[Node]) -> Outcomes:
    """Work out what a fix would change; nothing is written."""
    yield Previewed(fix, tuple(NodeEdits(node, cases.preview(fix, node)) for node in _meant(fix, nodes)))


def prove(cases: UseCases, now: Snapshot) -> Outcomes:
    """Measure as it is, make the planned changes, and look, ask and measure again."""
    if now.speed is None and len(now.nodes) > 1:
        yield from _ticks(Activity.FIX, _between(cases, now.nodes, now.facts, now.probes), "speed test before the fix")
    for planned in now.plan or ():
        if planned.edits:
            yield Doing(Activity.FIX, f"writing {_paths(planned)} on {planned.node.name}")
            yield Changed(NodeApplied(planned.node, cases.apply(planned.edits, planned.node)))
    facts = yield from scan(cases, now.nodes, Activity.FIX)
    probes = yield from probe(cases, now.nodes, facts, Activity.FIX)
    if len(now.nodes) > 1:
        yield from _ticks(Activity.FIX, _between(cases, now.nodes, facts, probes), "speed test after the fix")


def undo(cases: UseCases, now: Snapshot) -> Outcomes:
    """Take every change of the last fix back, newest first, and look again."""
    for change in reversed(now.changes):
        yield Doing(Activity.FIX, f"undoing the change on {change.node.name}")
        cases.undo(change.applied, change.node)
    yield Undone()
    facts = yield from scan(cases, now.nodes, Activity.FIX)
    yield from probe(cases, now.nodes, facts, Activity.FIX)


def measure(cases: UseCases, now: Snapshot) -> Outcomes:
    """Run the speed test between the two nodes."""
    yield from _ticks(Activity.SPEED, _between(cases, now.nodes, now.facts, now.probes), "speed test")


def measure_here(cases: UseCases, side: Side) -> Outcomes:
    """Run this machine's half of the speed test."""
    yield from _ticks(Activity.SPEED, cases.measure_here(side), "speed test, this side")


def copy(text: str, save: Callable[[str], str]) -> Outcomes:
    """Save a text, so that it can be copied even where the terminal's clipboard is out of reach."""
    yield Copied(text, save(text))


def _diagnosed(diagnosis: Diagnosis, text: Document, *, of_nodes: bool = False) -> Diagnosed:
    return Diagnosed(diagnosis, document.annotated(text, diagnosis), of_nodes)


def _between(cases: UseCases, nodes: Sequence[Node], facts: Sequence[Facts], probes: Sequence[Probe]) -> Ticks:
    """The speed test of our first two nodes, over the interfaces that NCCL takes there: seen, or else predicted."""
    address = meeting_address(facts[0], facts[1])
    if address is None:
        raise SpeedError(
            f"{nodes[0].name} and {nodes[1].name} share no network", next_step="join both to a common network first"
        )
    seen: list[Choice | None] = [probe.seen for probe in probes]
    choices = seen or [known.choice for known in facts]
    first, second = ((choice.interface if choice else None) or "" for choice in choices[:2])
    return cases.measure(Meeting((nodes[0], nodes[1]), address, PORT, SIZE, (first, second)))


def _ticks(activity: Activity, ticks: Ticks, text: str) -> Outcomes:
    yield Doing(activity, text)
    for tick in ticks:
        if isinstance(tick, SpeedTest):
            yield Measured(tick)
            yield Noted(activity, wording.rates(tick) if tick.passed else f"failed, {wording.rates(tick)}")
        else:
            yield Noted(activity, f"{tick.text} ({tick.seconds:.0f} s)")


def _meant(fix: Fix, nodes: Sequence[Node]) -> tuple[Node, ...]:
    """The nodes that a fix is for; a single node of ours is always meant, whatever a log calls it."""
    if fix.scope is Scope.LAUNCHER or not (fix.files or fix.env):
        return ()
    named = tuple(node for node in nodes if node.name in fix.hosts)
    return named if named and fix.scope is Scope.THIS_NODE else tuple(nodes)


def _paths(planned: NodeEdits) -> str:
    return ", ".join(edit.path for edit in planned.edits)
