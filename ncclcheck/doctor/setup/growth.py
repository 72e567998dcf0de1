"""How a setup grows with each step, be it its own or one of the pairing in it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ncclcheck.doctor.setup.evidence import Evidence
from ncclcheck.doctor.setup.judge import judged
from ncclcheck.doctor.setup.state import Setup, Stage, State
from ncclcheck.doctor.setup.steps import (
    Again,
    Answered,
    Broke,
    Looked,
    Missed,
    Opened,
    Prepared,
    Ready,
    Repaired,
    SetupStep,
    Skipped,
    Undone,
)
from ncclcheck.doctor.setup.values import commands
from ncclcheck.doctor.steps import (
    Concluded,
    Ended,
    FoundPort,
    Joined,
    Knocking,
    MadeFix,
    NoWay,
    Shook,
    Step,
    Trained,
    Waiting,
    WentFast,
)
from ncclcheck.rulebook.guide_schema import COMMON


def advanced(setup: Setup, step: SetupStep | Step) -> Setup:
    """The setup after a step."""
    if isinstance(step, Opened):
        return judged(step.setup)
    changed = _changed(setup, step)
    return judged(replace(changed, evidence=grown(changed.evidence, step)))


def _changed(setup: Setup, step: SetupStep | Step) -> Setup:
    """What a step changes besides what is known."""
    match step:
        case Answered("script", value):
            return replace(setup, choices=replace(setup.choices, script=value))
        case Answered(name, value):
            answers = (*setup.choices.answers, (name, value))
            return replace(setup, choices=replace(setup.choices, answers=answers))
        case Waiting(invitation):
            return replace(setup, invitation=invitation)
        case MadeFix(changes=applied) | Repaired(applied=applied):
            return replace(setup, applied=(*setup.applied, *applied))
        case Undone(applied=applied):
            return replace(setup, applied=tuple(one for one in setup.applied if one not in applied))
        case _:
            return _moved(setup, step)


def _moved(setup: Setup, step: SetupStep | Step) -> Setup:
    """What a step says of the guide's own steps."""
    match step:
        case Prepared(done, left_out):
            reasons = dict(left_out)
            return replace(setup, stages=tuple(_prepared(stage, done, reasons) for stage in setup.stages))
        case Skipped(name, reason):
            skipped = setup.stage(name)
            return _with(setup, replace(skipped, state=State.SKIPPED, reason=reason, remedy=None))
        case Again(name):
            return _afresh(setup, name) if name else setup
        case Ready():
            ready = replace(setup, commands=commands(setup))
            return _with(ready, replace(ready.stage(f"{COMMON}/command"), told=True))
        case _:
            return setup


def _prepared(stage: Stage, done: tuple[str, ...], reasons: Mapping[str, str]) -> Stage:
    if stage.id in reasons:
        return replace(stage, state=State.SKIPPED, reason=reasons[stage.id])
    return replace(stage, told=True) if stage.id in done else stage


def _with(setup: Setup, stage: Stage) -> Setup:
    return replace(setup, stages=tuple(stage if one.id == stage.id else one for one in setup.stages))


def _afresh(setup: Setup, name: str) -> Setup:
    """Nothing from this step on counts any more, be it measured, told or left out."""
    first = setup.stages.index(setup.stage(name))
    undone = tuple(replace(one, state=State.WAITING, told=False, reason="") for one in setup.stages[first:])
    gone = {one.name for one in undone}
    forgotten = replace(setup.evidence, test=None, earlier=None) if "speed" in gone else setup.evidence
    return replace(setup, stages=(*setup.stages[:first], *undone), evidence=forgotten)


# What is known -------------------------------------------------------------------------------------------------------


def anew(evidence: Evidence) -> Evidence:
    """What is still true before the nodes are looked at again: the measurements, and this node itself."""
    kept = (evidence.facts, evidence.cuda, evidence.conf_path)
    fresh = Evidence(evidence.role, evidence.nodes, *kept)
    if evidence.test and evidence.test.passed:
        return replace(fresh, earlier=evidence.test, before=evidence.use)
    return replace(fresh, earlier=evidence.earlier, before=evidence.before)


def grown(evidence: Evidence, step: SetupStep | Step) -> Evidence:
    """What is known after a step."""
    match step:
        case Looked(facts, cuda, conf_path):
            return replace(evidence, facts=facts, cuda=cuda, conf_path=conf_path)
        case Again() | Undone():
            return anew(evidence)
        case Broke():
            return replace(anew(evidence), running=True)
        case Missed(problem):
            return replace(evidence, missed=problem, running=False)
        case _:
            return _proved(_learnt(_met(evidence, step), step), step)


def _met(evidence: Evidence, step: SetupStep | Step) -> Evidence:
    match step:
        case Waiting() | Knocking():
            return replace(evidence, running=True)
        case Joined(facts):
            return replace(evidence, guests=(*evidence.guests, facts), running=True)
        case NoWay():
            return replace(evidence, no_way=step, running=False)
        case _:
            return evidence


def _learnt(evidence: Evidence, step: SetupStep | Step) -> Evidence:
    match step:
        case Concluded(known):
            return replace(evidence, known=known)
        case Shook(handshake, False):
            return replace(evidence, shook=handshake)
        case MadeFix():
            # What was shaken before says nothing of how things are set now.
            return replace(evidence, made=(*evidence.made, step), shook=None)
        case _:
            return evidence


def _proved(evidence: Evidence, step: SetupStep | Step) -> Evidence:
    match step:
        case FoundPort():
            return replace(evidence, port=step)
        case WentFast(test):
            return replace(evidence, test=test)
        case Trained(test):
            return replace(evidence, ddp=test)
        case Ended():
            return replace(evidence, ended=step, running=False)
        case _:
            return evidence
