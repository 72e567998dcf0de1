"""The way through a setup, as outcomes that the snapshot takes up. Runs on a worker thread; knows nothing of screens.

All texts of the place are made here, so that the thread that handles keys has nothing to work out.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from ncclcheck.errors import NcclcheckError
from ncclcheck.speedtest.reports import Progress
from ncclcheck.tui import journey
from ncclcheck.tui.journey import Outcomes
from ncclcheck.tui.outcomes import Activity, Doing, Measured, Noted, Outcome, Ticked
from ncclcheck.tui.person import attended
from ncclcheck.tui.setup.newcomer import Newcomer
from ncclcheck.tui.setup.values import Asks, Invites, Leads, Led, Offers, Wanted
from ncclcheck.tui.state import Snapshot

if TYPE_CHECKING:
    from ncclcheck.doctor.setup.begin import SetupOptions
    from ncclcheck.doctor.setup.state import Setup
    from ncclcheck.doctor.setup.steps import Closed, SetupStep
    from ncclcheck.doctor.steps import Step
    from ncclcheck.tui.seam import UseCases
    from ncclcheck.tui.setup.content import Books

LOOKING = "looking where this node is, and what was begun here before"


def offer(cases: UseCases, line: str = "") -> Outcomes:
    """What can be chosen; first whom to join, where another node's line was pasted."""
    from ncclcheck.tui.setup import offers as setup_offers

    yield Doing(Activity.GUIDES, LOOKING)
    if line:
        yield Invites(setup_offers.invited(line))
    yield Offers(setup_offers.beginning(cases.setup.offered()))


def options_of(wanted: Wanted) -> SetupOptions:
    """What was chosen, as the use case takes it; another node's line counts where it says something."""
    from dataclasses import replace

    from ncclcheck.doctor.setup.begin import SetupOptions
    from ncclcheck.doctor.setup.state import LAUNCHER

    if wanted.resume:
        return SetupOptions(resume=True, again=wanted.again)
    place, script, answers = wanted.place, wanted.script, tuple(wanted.answers.items())
    told = wanted.invited.options if wanted.invited else None
    if told:
        return replace(told, place=place, script=told.script or script, answers=answers)
    return SetupOptions(place, wanted.launcher or LAUNCHER, 0, wanted.nodes, script, answers=answers)


def lead(cases: UseCases, wanted: Wanted, newcomer: Newcomer, now: Snapshot) -> Outcomes:
    """The whole way, as far as somebody is there to go it."""
    from ncclcheck.tui.setup.content import Books

    yield Offers(None)
    yield Leads(Led())
    yield Doing(Activity.SETUP, "looking at this node")
    books = Books(cases.setup.page, cases.setup.terms())
    steps = attended(cases.setup.go(options_of(wanted), newcomer), newcomer.gone, newcomer.arrivals)
    with closing(steps):
        setup = yield from _gone_through(cases, steps, books, now)
    if setup is not None and setup.applied:
        # What NCCL takes here is another one now.
        yield from journey.scan(cases, now.nodes, Activity.SETUP)


def _gone_through(
    cases: UseCases, steps: Iterator[SetupStep | Step | Asks], books: Books, now: Snapshot
) -> Generator[Outcome, None, Setup | None]:
    """Every step; the result is the setup at its end, None where nobody was there to see it."""
    from ncclcheck.doctor.setup.growth import advanced
    from ncclcheck.doctor.setup.steps import Closed, Opened
    from ncclcheck.tui.setup.content import led

    setup, shown = None, Led()
    for step in steps:
        if isinstance(step, Asks):
            yield from _asks(step)
            continue
        if isinstance(step, Closed):
            yield Leads(_ended(cases, step, books))
            return step.setup
        if isinstance(step, Opened):
            setup = step.setup
        assert setup is not None
        yield from _progress(cases, step, setup, now)
        if isinstance(step, Progress):
            continue
        before, shown = shown, led(setup := advanced(setup, step), books)
        if shown.at != before.at:
            yield Doing(Activity.SETUP, setup.stage(shown.at).title)
        if shown != before:
            yield Leads(shown)
    return None


def _asks(step: Asks) -> Iterator[Outcome]:
    yield step
    if step.asking is not None:
        yield Noted(Activity.SETUP, "waits for you; 6 shows what it asks")


def _ended(cases: UseCases, step: Closed, books: Books) -> Led:
    """The end of it; that its summary cannot be kept is no failure of the nodes."""
    from ncclcheck.tui.setup.content import led

    path, notes = "", [step.warning]
    try:
        path = cases.setup.keep(step.setup) if step.setup.commands else ""
    except NcclcheckError as error:
        notes.append(str(error))
    return led(step.setup, books, path=path, note="; ".join(filter(None, notes)), ended=True)


def _progress(cases: UseCases, step: SetupStep | Step, setup: Setup, now: Snapshot) -> Iterator[Outcome]:
    """How the step at hand is going, and what was measured."""
    from ncclcheck.doctor.steps import WentFast

    if isinstance(step, Progress):
        text = f"{step.text} ({step.seconds:.0f} s)"
        yield Ticked(Activity.SETUP, step) if setup.evidence.test is None else Noted(Activity.SETUP, text)
    elif isinstance(step, WentFast) and now.facts:
        yield Measured(*cases.judge(step.test, now.facts[0]))
    elif note := _note(step):
        yield Noted(Activity.SETUP, note)


def _note(step: SetupStep | Step) -> str:
    """What is worth a word while it happens."""
    from ncclcheck.doctor.setup.steps import Broke, Undone
    from ncclcheck.doctor.steps import Joined, Trying

    match step:
        case Trying(cell):
            return f"{cell.caller} calls {cell.address}"
        case Joined(facts):
            return f"{facts.host} takes part"
        case Broke(problem):
            return f"{problem}; waiting for it to come back"
        case Undone(_, problem):
            return f"nothing was taken back: {problem}" if problem else ""
        case _:
            return _note_at_the_door(step)


def _note_at_the_door(step: SetupStep | Step) -> str:
    from ncclcheck.doctor.steps import Knocking, Turned

    match step:
        case Knocking(address, problem):
            return f"{address}: {problem}"
        case Turned(address, problem):
            return f"{address} {problem}; it was turned away"
        case _:
            return ""


def take_back(cases: UseCases, now: Snapshot) -> Outcomes:
    """Put back what the setup has written on this node, after it has ended."""
    yield Doing(Activity.SETUP, "putting back what was there before")
    undone = cases.setup.undo()
    yield Noted(Activity.SETUP, ", ".join(one.path for one in undone) or "nothing had been written")
    yield from journey.scan(cases, now.nodes, Activity.SETUP)
