"""The ways through the use cases, each a generator of outcomes that reads like the story it tells.

Runs on a worker thread; knows nothing of screens. Raises NcclcheckError where a use case does.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing

from ncclcheck.errors import SpeedError
from ncclcheck.model import Choice, Facts, Handshake, Node, Probe
from ncclcheck.speedtest.plan import PORT, Side, meeting_address
from ncclcheck.speedtest.reports import Progress
from ncclcheck.speedtest.worker.words import show, size_words
from ncclcheck.tui import peers, wording
from ncclcheck.tui.outcomes import (
    Activity,
    Copied,
    Diagnosed,
    Doing,
    Measured,
    Measures,
    Meets,
    Noted,
    Opened,
    Outcome,
    Probed,
    Remembered,
    Scanned,
    Stepped,
    Ticked,
)
from ncclcheck.tui.pairing import Way
from ncclcheck.tui.person import Person, attended
from ncclcheck.tui.seam import Kept, Meeting, Steps, UseCases
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.text import document, reading
from ncclcheck.tui.text.known import known_of

Outcomes = Generator[Outcome, None, None]
Journey = Generator[Outcome, None, object]
"""One of which it matters only what happens on it; whoever stops listening closes it."""

PASTED = "pasted"
HANDSHAKE = "NCCL's own handshake between the nodes"
SIZE = 64 * 1024 * 1024
"""Bytes a round: enough for a steady figure, short enough to wait for."""


def looking(node: Node) -> str:
    """What is done first on a node, in words."""
    return f"looking at {node.name}"


def asking(node: Node) -> str:
    """What a probe does, in words."""
    return f"asking the real NCCL on {node.name}"


def scan(
    cases: UseCases, nodes: Sequence[Node], activity: Activity = Activity.SCAN
) -> Generator[Outcome, None, tuple[Facts, ...]]:
    """Look at each node; the result is what was seen."""
    facts = []
    for node in nodes:
        yield Doing(activity, looking(node))
        facts.append(cases.scan(node))
        yield Scanned(node, facts[-1])
    return tuple(facts)


def probe(
    cases: UseCases, nodes: Sequence[Node], facts: tuple[Facts, ...], activity: Activity = Activity.PROBE
) -> Generator[Outcome, None, tuple[Probe, ...]]:
    """Ask the real NCCL on each node, and diagnose what it says; the result is what was said."""
    probes = []
    for node in nodes:
        yield Doing(activity, asking(node))
        probes.append(cases.probe(node))
    yield Probed(tuple(probes))
    yield Diagnosed(cases.diagnose_probes(probes, facts), document.probed(probes), of_nodes=True)
    return tuple(probes)


def read_paste(cases: UseCases, text: str, facts: tuple[Facts, ...]) -> Outcomes:
    """Read a pasted text for what it is, or compare the cards in it."""
    from ncclcheck.doctor.recognise import Kind, recognise

    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    what = recognise(text)
    if what.kind is Kind.CARDS:
        yield from _compare_cards(cases, text, facts)
        return
    yield Doing(Activity.DIAGNOSE, f"reading {what.words}")
    shown = document.pasted(text, PASTED, f"pasted: {what.words}")
    del text  # From here on it is read from the document; twice it would be too much of a large one.
    yield Opened(shown)
    yield from reading.diagnose(cases, shown, known_of(shown, facts))


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
    result = yield from shake(cases, now.nodes, Activity.PAIR)
    if result.passed:
        test = between_nodes(cases, now.nodes, now.facts, now.probes)
        yield from measured(cases, Activity.PAIR, test, "speed test")


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


def shake(cases: UseCases, nodes: Sequence[Node], activity: Activity) -> Generator[Outcome, None, Handshake]:
    """NCCL's own handshake between nodes of ours; the result is how it went."""
    from ncclcheck.doctor.steps import Shook

    yield Doing(activity, HANDSHAKE)
    result = cases.handshake(nodes)
    yield Stepped(Shook(result, proposed=False))
    yield Noted(activity, peers.handshake(result).text)
    return result


# Speed ---------------------------------------------------------------------------------------------------------------


def measure(cases: UseCases, now: Snapshot) -> Outcomes:
    """Run the speed test between the two nodes."""
    yield from measured(cases, Activity.SPEED, between_nodes(cases, now.nodes, now.facts, now.probes), "speed test")


def measure_here(cases: UseCases, side: Side, now: Snapshot) -> Outcomes:
    """Run this machine's half of the speed test."""
    test = cases.keep(cases.measure_here(side), _command(side.place, side.size, side.rank), now.facts[0], "")
    yield from measured(cases, Activity.SPEED, test, "speed test, this side")


def remember(cases: UseCases) -> Outcomes:
    """The runs of the speed test that are kept."""
    yield Remembered(cases.history())


def copy(text: str, save: Callable[[str], str]) -> Outcomes:
    """Save a text, so that it can be copied even where the terminal's clipboard is out of reach."""
    yield Copied(text, save(text))


def between_nodes(
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


def measured(cases: UseCases, activity: Activity, test: Kept, text: str) -> Outcomes:
    """A speed test as a step of an activity, kept in the history."""
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
