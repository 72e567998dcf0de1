"""The ways through the use cases, each a generator of outcomes that reads like the story it tells.

Runs on a worker thread; knows nothing of screens. Raises NcclcheckError where a use case does.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing

from ncclcheck.errors import SpeedError
from ncclcheck.model import Choice, Diagnosis, Facts, Fix, Handshake, Node, Probe, Scope
from ncclcheck.peer import card
from ncclcheck.speedtest.plan import PORT, Side, meeting_address
from ncclcheck.speedtest.reports import Progress
from ncclcheck.speedtest.worker.words import show, size_words
from ncclcheck.tui import document, peers, wording
from ncclcheck.tui.document import Document
from ncclcheck.tui.outcomes import (
    Activity,
    Changed,
    Copied,
    Diagnosed,
    Doing,
    Measured,
    Measures,
    Meets,
    NodeApplied,
    NodeEdits,
    Noted,
    Outcome,
    Previewed,
    Probed,
    Remembered,
    Scanned,
    Stepped,
    Ticked,
    Undone,
)
from ncclcheck.tui.pairing import Way
from ncclcheck.tui.person import Person, attended
from ncclcheck.tui.seam import Kept, Meeting, Steps, UseCases
from ncclcheck.tui.state import Snapshot

Outcomes = Generator[Outcome, None, None]
Journey = Generator[Outcome, None, object]
"""One of which it matters only what happens on it; whoever stops listening closes it."""

PASTED = "pasted"
BEFORE, AFTER = "before the fix", "after the fix"
"""What a run of the speed test is for, in the history too."""
_MOST_CARDS = 1 << 20
"""Characters of a text in which cards are looked for; a card has one or two thousand."""
SIZE = 64 * 1024 * 1024
"""Bytes a round: enough for a steady figure, short enough to wait for."""
_MOST_RUNS = 20
"""Of the history that are shown at most; ncclcheck history lists all."""


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
    """Diagnose a pasted text, or compare the cards in it; a node's facts count only where a log names that node."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # Terminals send a carriage return for each line end.
    if len(text) <= _MOST_CARDS and card.looks_like(text):
        yield from _compare_cards(cases, text, facts)
        return
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


def preview(cases: UseCases, fix: Fix, now: Snapshot) -> Outcomes:
    """Work out what a fix would change; nothing is written. What nodes need together is each one's own."""
    own = peers.own_fixes(now) if peers.is_remedy(fix, now) else dict.fromkeys(_meant(fix, now.nodes), fix)
    yield Previewed(fix, tuple(NodeEdits(node, cases.preview(one, node)) for node, one in own.items()))


def prove(cases: UseCases, now: Snapshot) -> Outcomes:
    """Measure as it is, make the planned changes, and look, ask, shake hands and measure again."""
    if now.speed is None and len(now.nodes) > 1:
        before = _between(cases, now.nodes, now.facts, now.probes, BEFORE)
        yield from _measured(cases, Activity.FIX, before, f"speed test {BEFORE}")
    for planned in now.plan or ():
        if planned.edits:
            yield Doing(Activity.FIX, f"writing {_paths(planned)} on {planned.node.name}")
            yield Changed(NodeApplied(planned.node, cases.apply(planned.edits, planned.node)))
    facts = yield from scan(cases, now.nodes, Activity.FIX)
    probes = yield from probe(cases, now.nodes, facts, Activity.FIX)
    if now.pairing is not None and now.pairing.way is Way.BETWEEN:
        yield from _shake(cases, now.nodes, Activity.FIX)
    if len(now.nodes) > 1:
        after = _between(cases, now.nodes, facts, probes, AFTER)
        yield from _measured(cases, Activity.FIX, after, f"speed test {AFTER}")


def undo(cases: UseCases, now: Snapshot) -> Outcomes:
    """Take every change of the last fix back, newest first, and look again."""
    for change in reversed(now.changes):
        yield Doing(Activity.FIX, f"undoing the change on {change.node.name}")
        cases.undo(change.applied, change.node)
    yield Undone()
    facts = yield from scan(cases, now.nodes, Activity.FIX)
    yield from probe(cases, now.nodes, facts, Activity.FIX)


# Between nodes -------------------------------------------------------------------------------------------------------


def invite(cases: UseCases, now: Snapshot, person: Person) -> Outcomes:
    """Find out what is wrong between our own nodes, or wait for another one."""
    if len(now.nodes) > 1:
        yield Meets(Way.BETWEEN)
        yield Doing(Activity.PAIR, "bringing the nodes together")
        yield from _pairing(cases, now, cases.between(now.nodes, person.gone))
    else:
        yield Meets(Way.INVITE)
        yield Doing(Activity.PAIR, "opening a port")
        yield from _paired(cases, now, attended(cases.invite(person.agree, person.gone), person.gone))


def join(cases: UseCases, text: str, now: Snapshot, person: Person) -> Outcomes:
    """Take part in what another node began."""
    yield Meets(Way.JOIN)
    yield Doing(Activity.PAIR, "calling the other node")
    yield from _paired(cases, now, attended(cases.join(text, person.agree), person.gone))


def prove_between(cases: UseCases, now: Snapshot) -> Outcomes:
    """NCCL's own handshake between our nodes, and where it passes the speed test."""
    result = yield from _shake(cases, now.nodes, Activity.PAIR)
    if result.passed:
        test = _between(cases, now.nodes, now.facts, now.probes)
        yield from _measured(cases, Activity.PAIR, test, "speed test")


def _compare_cards(cases: UseCases, text: str, facts: tuple[Facts, ...]) -> Outcomes:
    from ncclcheck.doctor.steps import Concluded

    yield Doing(Activity.DIAGNOSE, "comparing cards")
    known = cases.match_cards(text, facts)
    yield Meets(Way.CARDS)
    yield Stepped(Concluded(known))


def _paired(cases: UseCases, now: Snapshot, steps: Steps) -> Outcomes:
    """A pairing with a node elsewhere; its fix may have changed what NCCL will take here."""
    yield from _pairing(cases, now, steps)
    yield from scan(cases, now.nodes, Activity.PAIR)


def _pairing(cases: UseCases, now: Snapshot, steps: Steps) -> Outcomes:
    from ncclcheck.doctor.steps import WentFast
    from ncclcheck.tui.growth import doing

    with closing(steps):
        for step in steps:
            yield Stepped(step)
            yield from doing(step)
            if isinstance(step, WentFast) and now.facts:
                yield Measured(*cases.judge(step.test, now.facts[0]))


def _shake(cases: UseCases, nodes: Sequence[Node], activity: Activity) -> Generator[Outcome, None, Handshake]:
    from ncclcheck.doctor.steps import Shook

    yield Doing(activity, "NCCL's own handshake between the nodes")
    result = cases.handshake(nodes)
    yield Stepped(Shook(result, proposed=False))
    yield Noted(activity, peers.handshake(result).text)
    return result


# Speed ---------------------------------------------------------------------------------------------------------------


def measure(cases: UseCases, now: Snapshot) -> Outcomes:
    """Run the speed test between the two nodes."""
    yield from _measured(cases, Activity.SPEED, _between(cases, now.nodes, now.facts, now.probes), "speed test")


def measure_here(cases: UseCases, side: Side, now: Snapshot) -> Outcomes:
    """Run this machine's half of the speed test."""
    test = cases.keep(cases.measure_here(side), _command(side.place, side.size, side.rank), now.facts[0], "")
    yield from _measured(cases, Activity.SPEED, test, "speed test, this side")


def remember(cases: UseCases) -> Outcomes:
    """The latest runs of the speed test."""
    yield Remembered(cases.history()[-_MOST_RUNS:])


def copy(text: str, save: Callable[[str], str]) -> Outcomes:
    """Save a text, so that it can be copied even where the terminal's clipboard is out of reach."""
    yield Copied(text, save(text))


def _diagnosed(diagnosis: Diagnosis, text: Document, *, of_nodes: bool = False) -> Diagnosed:
    return Diagnosed(diagnosis, document.annotated(text, diagnosis), of_nodes)


def _between(
    cases: UseCases, nodes: Sequence[Node], facts: Sequence[Facts], probes: Sequence[Probe], label: str = ""
) -> Kept:
    """The speed test of our first two nodes, over the interfaces that NCCL takes there: seen, or else predicted."""
    address = meeting_address(facts[0], facts[1])
    if address is None:
        raise SpeedError(
            f"{nodes[0].name} and {nodes[1].name} share no network", next_step="join both to a common network first"
        )
    seen: list[Choice | None] = [probe.seen for probe in probes]
    choices = seen or [known.choice for known in facts]
    first, second = ((choice.interface if choice else None) or "" for choice in choices[:2])
    test = cases.measure(Meeting((nodes[0], nodes[1]), address, PORT, SIZE, (first, second)))
    return cases.keep(test, _command((address, PORT), SIZE, 0), facts[0], label)


def _command(place: tuple[str, int], size: int, rank: int) -> tuple[str, ...]:
    """What would run the same side from the command line."""
    return ("ncclcheck", "speedtest", show(place), size_words(size), str(rank))


def _measured(cases: UseCases, activity: Activity, test: Kept, text: str) -> Outcomes:
    yield Doing(activity, text)
    yield Measures()
    for value in test:
        if isinstance(value, Progress):
            yield Ticked(activity, value)
        else:
            yield Measured(value.test, value.judgement, value.warning)
            rates = wording.rates(value.test)
            yield Noted(activity, rates if value.test.passed else f"failed, {rates}")
    yield from remember(cases)


def _meant(fix: Fix, nodes: Sequence[Node]) -> tuple[Node, ...]:
    """The nodes that a fix is for; a single node of ours is always meant, whatever a log calls it."""
    if fix.scope is Scope.LAUNCHER or not (fix.files or fix.env):
        return ()
    named = tuple(node for node in nodes if node.name in fix.hosts)
    return named if named and fix.scope is Scope.THIS_NODE else tuple(nodes)


def _paths(planned: NodeEdits) -> str:
    return ", ".join(edit.path for edit in planned.edits)
