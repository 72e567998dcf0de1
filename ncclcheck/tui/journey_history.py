"""The ways through what is kept: look at it, and take a change back. Runs on a worker thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ncclcheck.tui import journey
from ncclcheck.tui.journey import Outcomes
from ncclcheck.tui.outcomes import Activity, Doing, Listed, NodeApplied, Undone
from ncclcheck.tui.seam import Stopped as IsStopped
from ncclcheck.tui.seam import UseCases
from ncclcheck.tui.state import Snapshot

if TYPE_CHECKING:
    from ncclcheck.doctor.history import Made


def look(cases: UseCases, now: Snapshot) -> Outcomes:
    """The runs of the speed test, and the changes that were made."""
    yield _listed(cases, now.changes)
    yield from journey.remember(cases)


def take_back(cases: UseCases, made: Made, now: Snapshot, stopped: IsStopped) -> Outcomes:
    """Take one change back, and look at the nodes again; at NCCL's answer too where it was asked before."""
    yield Doing(Activity.FIX, f"taking back the change on {made.node.name}")
    cases.undo(made.applied, made.node)
    undone = NodeApplied(made.node, made.applied)
    yield Undone(undone)
    yield _listed(cases, tuple(one for one in now.changes if one != undone))
    facts = yield from journey.scan(cases, now.nodes, Activity.FIX)
    if now.probes and not stopped():
        yield from journey.probe(cases, now.nodes, facts, Activity.FIX)


def _listed(cases: UseCases, session: Sequence[NodeApplied]) -> Listed:
    return Listed(cases.changes(tuple((one.node, one.applied) for one in session)))
