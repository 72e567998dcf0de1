"""Every place as text, for screen readers, terminals that cannot move their cursor, and scripts: made by the functions
that make the screens, so that the two cannot say different things. [effects: ``look``]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from textual.content import Content

from ncclcheck.errors import NcclcheckError
from ncclcheck.model import Node
from ncclcheck.tui import (
    advice,
    content,
    history_content,
    journey,
    journey_history,
    journey_ranks,
    peers,
    peers_content,
    ranks_content,
    ranks_details,
    speeds,
    speeds_content,
    wording,
)
from ncclcheck.tui.content import piece, said
from ncclcheck.tui.journey import Journey
from ncclcheck.tui.offers import Offer, offers
from ncclcheck.tui.outcomes import Activity, Ended, Failed
from ncclcheck.tui.places import DESTINATIONS
from ncclcheck.tui.seam import UseCases
from ncclcheck.tui.setup import journey as journey_setup
from ncclcheck.tui.setup import words as setup_words
from ncclcheck.tui.state import Snapshot, advance
from ncclcheck.tui.text import reading
from ncclcheck.tui.verdict import verdict
from ncclcheck.tui.wording import Said

_MOST_LINKS = 64
"""Interfaces of a node in the table of who reaches whom."""
_COMMANDS = {
    "probe": "ncclcheck probe",
    "what_if": "ncclcheck node --what-if NAME=VALUE",
    "fix": "ncclcheck fix --set NAME=VALUE",
    "speed": "ncclcheck speedtest HOST:PORT SIZE RANK",
    "peers": "ncclcheck pair",
    "open": "ncclcheck --plain FILE",
    "log": "ncclcheck --plain log FILE",
    "setup": "ncclcheck setup",
}
"""What to run instead of a key."""
_SETUP = "It begins with: ncclcheck setup. All of the guide, to read: ncclcheck setup --print"
_NO_LOG = "No log is given. Name one: ncclcheck --plain log FILE, or - for standard input."


def text(mode: str, now: Snapshot) -> str:
    """One place as text, under its name."""
    label = next(place.label for place in DESTINATIONS if place.mode == mode)
    answer, told = _PLACES[mode]
    blocks = [f"# {label}", said(answer(now)).plain]
    if now.failure:
        blocks.append(f"✗ {wording.failure(now.failure)}")
    blocks += [block.plain.rstrip() for block in told(now)]
    return "\n\n".join(filter(None, blocks)) + "\n"


def look(cases: UseCases, nodes: tuple[Node, ...], paths: Sequence[str] = ()) -> Snapshot:
    """What the assistant would know a moment after its start.

    Raises SourceError for a log that can't be read; what else goes wrong stands in the snapshot.
    """
    now = _after(Snapshot(nodes=nodes), Activity.SCAN, journey.scan(cases, nodes))
    if paths:
        for outcome in reading.read_files(cases, paths):
            now = advance(now, outcome)
            if outcome == Ended(Activity.DIAGNOSE):
                break  # From here on it would wait for more of the log.
        now = _after(now, Activity.RANKS, journey_ranks.call_roll(now))
    now = _after(now, Activity.GUIDES, journey_setup.offer(cases))
    return _after(now, Activity.HISTORY, journey_history.look(cases, now))


def _after(now: Snapshot, activity: Activity, outcomes: Journey) -> Snapshot:
    try:
        for outcome in outcomes:
            now = advance(now, outcome)
    except NcclcheckError as error:
        now = advance(now, Failed(activity, str(error)))
    return now


# The places ----------------------------------------------------------------------------------------------------------


def _overview(now: Snapshot) -> Iterator[Content]:
    if now.speed is not None or (now.earlier is not None and now.earlier.speed is not None):
        yield content.speeds(now)
    for node in now.nodes:
        yield content.lines([piece(node.name), *_indented(content.node(node, now))])
    rows = [_way(offer) for offer in offers(now) if offer.action in _COMMANDS]
    yield content.lines(map(piece, ("Ways on:", *content.table(rows))))


def _way(offer: Offer) -> tuple[str, str, str]:
    return f"  {offer.label}", _COMMANDS[offer.action], offer.purpose


def _indented(what: Content) -> Iterator[Content]:
    return (Content(f"  {line}") for line in what.plain.split("\n"))


def _log(now: Snapshot) -> Iterator[Content]:
    if now.diagnosis is None:
        yield piece(_NO_LOG)
    elif not now.diagnosis.findings:
        yield content.unknowns(now.diagnosis)
    else:
        found = now.diagnosis.findings
        yield from (piece(advice.report(one, now.document, now.launcher)) for one in found)


def _ranks(now: Snapshot) -> Iterator[Content]:
    yield piece(ranks_details.text(now)) if now.roll and now.roll.groups else ranks_content.counts(now)


def _peers(now: Snapshot) -> Iterator[Content]:
    yield peers_content.answer(now)
    yield from peers_content.beside(now)
    yield peers_content.reach(now, _MOST_LINKS)
    yield peers_content.details(now)


def _speeds(now: Snapshot) -> Iterator[Content]:
    """Without the curve: its figures are in the table, and nobody wants it read aloud."""
    yield speeds_content.answer(now)
    if now.comparison:
        yield speeds_content.comparison(now.comparison)
    yield speeds_content.beside(now)
    yield speeds_content.table(now)
    yield speeds_content.runs(now, wide=True)


def _setup(now: Snapshot) -> Iterator[Content]:
    if setup_words.begun(now) and now.guided.led is not None:
        for step in now.guided.led.steps:
            yield content.lines(piece(text) for text in (f"{step.sign} {step.title}", *(text for text, _ in step.told)))
    elif now.guided.beginning is not None:
        kept, places = now.guided.beginning.kept, now.guided.beginning.places
        for place in places[:1]:
            yield content.lines(piece(text) for text in (f"Where: {place.title}", *(text for text, _ in place.told)))
        if places[1:]:
            yield piece(f"Or with --provider: {', '.join(place.name for place in places[1:])}")
        if kept is not None:
            yield piece(f"{kept.told}: ncclcheck setup --resume")
    yield piece(_SETUP)


def _history(now: Snapshot) -> Iterator[Content]:
    yield piece(history_content.text(now))


_PLACES: dict[str, tuple[Callable[[Snapshot], Said], Callable[[Snapshot], Iterator[Content]]]] = {
    "overview": (verdict, _overview),
    "log": (verdict, _log),
    "ranks": (verdict, _ranks),
    "peers": (peers.verdict, _peers),
    "speeds": (speeds.verdict, _speeds),
    "setup": (setup_words.verdict, _setup),
    "history": (verdict, _history),
}
"""The verdict of each place, and what stands below."""
