"""A setup as it happens, in words: what is at hand, what was seen, and what to do where a check failed. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from ncclcheck.cli.pair_text import step_text
from ncclcheck.doctor.finding_text import fix_rows
from ncclcheck.doctor.setup.state import Remedy, Setup, Stage, State
from ncclcheck.doctor.setup.steps import Again, Broke, Closed, Opened, Repaired, SetupStep, Undone
from ncclcheck.doctor.steps import Knocking, MadeFix, NoWay, Planned, Step, Turned, Waiting

_MARKS = {State.DONE: "done", State.FAILED: "FAILED", State.SKIPPED: "left out"}
_WIDTH = 96
_SHOWN = (Turned, Knocking, NoWay, Planned, MadeFix)
"""Steps of a pairing that are told in its own words; what the others mean is told by the guide's steps."""


def told(before: Setup | None, step: SetupStep | Step, now: Setup) -> str:
    """What a step and its consequences say; empty where they say nothing new."""
    lines = [*_step(step, now), *_stages(before, now)]
    return "\n".join(line for line in lines if line)


def _step(step: SetupStep | Step, now: Setup) -> Iterator[str]:
    match step:
        case Opened():
            yield from _opened(step)
        case Waiting(_, failed):
            yield f"On {'the other node' if now.choices.nodes == 2 else 'every other node'}, run:\n\n    {now.invite}\n"
            yield from (f"(not waiting at {address}: {why})" for address, why in failed)
            yield "Waiting for it; Ctrl-C ends this, and ncclcheck setup --resume goes on."
        case Broke(problem):
            yield f"{problem}. Waiting for it to come back; it goes on there with: ncclcheck setup --resume"
        case Again():
            yield "\nEverything between the nodes is looked at again."
        case Repaired(applied, problem):
            yield problem or ", ".join(f"{one.path} written" for one in applied)
        case Undone(applied, problem):
            yield from (f"{one.path} is as it was before {one.time}." for one in applied)
            yield problem or ("" if applied else "Nothing was written here.")
        case _ if isinstance(step, _SHOWN):
            yield step_text(step)


def _opened(step: Opened) -> Iterator[str]:
    setup = step.setup
    why = f" (by these signs: {'; '.join(setup.choices.why)})" if setup.choices.why else ""
    yield f"{setup.place.title}{why}"
    yield "Another place: ncclcheck setup --provider NAME. The whole guide: ncclcheck setup --print"
    if step.resumed:
        yield "Taken up again: everything is looked at again, as nothing that was seen before counts."


def _stages(before: Setup | None, now: Setup) -> Iterator[str]:
    """The guide's steps that changed."""
    then = {one.id: one for one in before.stages} if before else {}
    for number, stage in enumerate(now.stages, 1):
        old = then.get(stage.id)
        if stage.state in _MARKS and (old is None or (old.state, old.remedy) != (stage.state, stage.remedy)):
            yield f"[{number}/{len(now.stages)}] {stage.title}: {_MARKS[stage.state]}"
            yield from _details(stage)


def _details(stage: Stage) -> Iterator[str]:
    if stage.state is State.DONE:
        yield from (f"    {said}" for said in stage.said)
    elif stage.state is State.SKIPPED:
        yield f"    {stage.reason}"
    elif stage.remedy:
        yield from remedy_lines(stage.remedy)
        if stage.optional:
            yield from _prose(f"It may be left out: {stage.optional}")


def remedy_lines(remedy: Remedy) -> Iterator[str]:
    """What is wrong, how we know, and what to do."""
    for text in (remedy.problem, f"seen: {remedy.seen}" if remedy.seen else "", remedy.title, remedy.explanation):
        yield from _prose(text)
    for number, fix in enumerate(remedy.fixes):
        yield from (f"    {row}" for row in fix_rows(fix, lead="what to do" if number == 0 else "or"))
    if remedy.rule:
        yield f"    more about it: ncclcheck explain {remedy.rule}"
    if remedy.stage:
        yield f"    go back to the step {remedy.stage}"


def _prose(text: str) -> list[str]:
    return textwrap.wrap(" ".join(text.split()), _WIDTH, initial_indent="    ", subsequent_indent="    ")


def closed_text(step: Closed) -> str:
    """The end: how to start the own training, or how to go on."""
    setup = step.setup
    return "\n".join(_ready(setup) if setup.commands else _left(setup))


def _ready(setup: Setup) -> Iterator[str]:
    yield f"\nReady: start {setup.choices.script} with these, on each node its own."
    for number, one in enumerate(setup.commands):
        if number == 0 or one.host != setup.commands[number - 1].host:
            yield f"\nOn {one.host} (node {one.rank}):"
        yield f"\n    {one.command}".replace("\n    \n", "\n\n")
    if setup.failed:
        yield f"\nStill wrong: {', '.join(one.title for one in setup.failed)}"


def _left(setup: Setup) -> Iterator[str]:
    failed = setup.failed
    yield f"\nNot ready yet{f': {failed[0].title}' if failed else ''}."
    yield "Do what is said above, then run on every node: ncclcheck setup --resume"
