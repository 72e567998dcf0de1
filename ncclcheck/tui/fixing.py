"""The way of a fix: what would change → written → looked at and probed again → handshake → speed test; and back.

Each is a generator of outcomes for a worker's thread. It can be ended after every step, and a speed test at any moment;
what was written until then is told, so that it can be taken back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing

from ncclcheck.model import Change, Fix, Node, Scope
from ncclcheck.tui import journey, peers
from ncclcheck.tui.journey import Outcomes
from ncclcheck.tui.outcomes import (
    Activity,
    Changed,
    Doing,
    NodeApplied,
    NodeEdits,
    Previewed,
    Stopped,
    Ticked,
    Undone,
)
from ncclcheck.tui.outcomes_told import Ahead, Foresaw
from ncclcheck.tui.pairing import Way
from ncclcheck.tui.seam import Stopped as IsStopped
from ncclcheck.tui.seam import UseCases
from ncclcheck.tui.state import Snapshot

BEFORE, AFTER = "before the fix", "after the fix"
"""What a run of the speed test is for, in the history too."""


def preview(cases: UseCases, fix: Fix, now: Snapshot) -> Outcomes:
    """Work out what a fix would change; nothing is written. What nodes need together is each one's own."""
    own = peers.own_fixes(now) if peers.is_remedy(fix, now) else dict.fromkeys(_meant(fix, now.nodes), fix)
    yield Previewed(fix, tuple(NodeEdits(node, cases.preview(one, node)) for node, one in own.items()))


def foresee(cases: UseCases, change: Change, nccl: str, now: Snapshot) -> Outcomes:
    """Work out what another setting or version would do; nothing is asked of anybody."""
    from ncclcheck.doctor.foresight import Present

    found = now.diagnosis.findings if now.diagnosis else ()
    known = now.pairing.known if now.pairing and now.pairing.way is Way.BETWEEN else None
    sides = known.sides if known and [one.host for one in known.nodes] == [one.host for one in now.facts] else None
    yield Foresaw(cases.foresee(now.facts, change, nccl, Present(found, sides)))


def prove(cases: UseCases, now: Snapshot, stopped: IsStopped) -> Outcomes:
    """Measure as it is, make the planned changes, and look, ask, shake hands and measure again."""
    yield Ahead(Activity.FIX, tuple(_to_prove(now)))
    yield from _stoppable(_prove(cases, now), stopped)


def undo(cases: UseCases, now: Snapshot, stopped: IsStopped) -> Outcomes:
    """Take every change of the last fix back, newest first, and look again."""
    undoing = (_undoing(change) for change in reversed(now.changes))
    yield Ahead(Activity.FIX, (*undoing, *_to_look(now.nodes)))
    yield from _stoppable(_undo(cases, now), stopped)


def _prove(cases: UseCases, now: Snapshot) -> Outcomes:
    two = len(now.nodes) > 1
    if two and now.speed is None:
        before = journey.between_nodes(cases, now.nodes, now.facts, now.probes, BEFORE)
        yield from journey.measured(cases, Activity.FIX, before, _speed_test(BEFORE))
    for planned in _writing(now):
        yield Doing(Activity.FIX, _written(planned))
        yield Changed(NodeApplied(planned.node, cases.apply(planned.edits, planned.node)))
    facts = yield from journey.scan(cases, now.nodes, Activity.FIX)
    probes = yield from journey.probe(cases, now.nodes, facts, Activity.FIX)
    if two:
        result = yield from journey.shake(cases, now.nodes, Activity.FIX)
        if result.passed or result.failure:
            # Where NCCL does not get through, speed need not be measured; where it was not tried, it has to be.
            after = journey.between_nodes(cases, now.nodes, facts, probes, AFTER)
            yield from journey.measured(cases, Activity.FIX, after, _speed_test(AFTER))


def _undo(cases: UseCases, now: Snapshot) -> Outcomes:
    for change in reversed(now.changes):
        yield Doing(Activity.FIX, _undoing(change))
        cases.undo(change.applied, change.node)
        yield Undone(change)
    facts = yield from journey.scan(cases, now.nodes, Activity.FIX)
    yield from journey.probe(cases, now.nodes, facts, Activity.FIX)


def _stoppable(outcomes: Outcomes, stopped: IsStopped) -> Outcomes:
    """The outcomes until somebody wants it ended: no further step is begun, and a speed test is cut short."""
    with closing(outcomes):
        for outcome in outcomes:
            if isinstance(outcome, Doing) and stopped():
                return
            yield outcome
            if isinstance(outcome, Ticked) and stopped():
                yield Stopped(Activity.FIX)
                return


# What is ahead -------------------------------------------------------------------------------------------------------


def _to_prove(now: Snapshot) -> Iterator[str]:
    two = len(now.nodes) > 1
    if two and now.speed is None:
        yield _speed_test(BEFORE)
    yield from map(_written, _writing(now))
    yield from _to_look(now.nodes)
    if two:
        yield from (journey.HANDSHAKE, _speed_test(AFTER))


def _to_look(nodes: Sequence[Node]) -> tuple[str, ...]:
    return (*map(journey.looking, nodes), *map(journey.asking, nodes))


def _writing(now: Snapshot) -> tuple[NodeEdits, ...]:
    return tuple(planned for planned in now.plan or () if planned.edits)


def _written(planned: NodeEdits) -> str:
    return f"writing {', '.join(edit.path for edit in planned.edits)} on {planned.node.name}"


def _undoing(change: NodeApplied) -> str:
    return f"undoing the change on {change.node.name}"


def _speed_test(which: str) -> str:
    return f"speed test {which}"


def _meant(fix: Fix, nodes: Sequence[Node]) -> tuple[Node, ...]:
    """The nodes that a fix is for; a single node of ours is always meant, whatever a log calls it."""
    if fix.scope is Scope.LAUNCHER or not (fix.files or fix.env):
        return ()
    named = tuple(node for node in nodes if node.name in fix.hosts)
    return named if named and fix.scope is Scope.THIS_NODE else tuple(nodes)
