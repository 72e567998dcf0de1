"""How far each step is, by its checks: asked anew after everything that happens, so that nothing stays true by itself.
Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ncclcheck.doctor.setup.checks import Answer, answer
from ncclcheck.doctor.setup.remedy import remedy
from ncclcheck.doctor.setup.state import Remedy, Setup, Stage, State
from ncclcheck.doctor.setup.values import values
from ncclcheck.rulebook.guide_schema import COMMON, Check

Answers = tuple[tuple[Check, Answer | None], ...]


def judged(setup: Setup) -> Setup:
    """The setup with each step as far as its checks say; the first one that waits is the one at hand."""
    steps = {one.id: one.step for one in setup.plan}
    names = values(setup)
    stages = [_judged(stage, setup, steps[stage.id].check, names) for stage in setup.stages]
    if setup.evidence.running:
        at_hand = next((number for number, one in enumerate(stages) if _may_run(one)), None)
        if at_hand is not None:
            stages[at_hand] = replace(stages[at_hand], state=State.RUNNING)
    return replace(setup, stages=tuple(stages), hits=_hits(setup.hits, stages))


def _hits(before: tuple[Remedy, ...], stages: list[Stage]) -> tuple[Remedy, ...]:
    """What was found wrong, each once: ports and times in what was seen make no other fault of it."""
    known = {(one.rule, one.title, one.problem): one for one in before}
    for one in (stage.remedy for stage in stages if stage.remedy):
        known.setdefault((one.rule, one.title, one.problem), one)
    return tuple(known.values())


def _may_run(stage: Stage) -> bool:
    return stage.state is State.WAITING and stage.id.startswith(f"{COMMON}/")


def _judged(stage: Stage, setup: Setup, checks: tuple[Check, ...], names: Mapping[str, str]) -> Stage:
    """A step by its checks; one without any is done when the person says so."""
    if stage.state is State.SKIPPED:
        return stage
    if not checks:
        return replace(stage, state=State.DONE if stage.told else State.WAITING)
    answers = tuple((check, answer(check, setup.evidence)) for check in checks)
    said = tuple(found.said for _, found in answers if found)
    return replace(stage, state=_state(answers), said=said, remedy=_remedy(answers, setup, names))


def _state(answers: Answers) -> State:
    if any(found and found.passed is not True for _, found in answers):
        return State.FAILED
    return State.DONE if all(found for _, found in answers) else State.WAITING


def _remedy(answers: Answers, setup: Setup, names: Mapping[str, str]) -> Remedy | None:
    wrong = ((check, found) for check, found in answers if found and found.passed is not True)
    return next((remedy(check, found, setup.evidence, names) for check, found in wrong), None)
