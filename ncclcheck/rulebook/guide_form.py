"""What a guide must be to be gone through step by step: names, order, questions. Pure.

``guide_check`` looks at all the rest; this much is asked of a stranger's guide before it is used.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from ncclcheck.rulebook.guide_schema import CHECKS, COMMON, COMMON_STEPS, PLACEHOLDERS, Check, Guide, Question
from ncclcheck.rulebook.patterns import Flaw
from ncclcheck.rulebook.schema import nearest

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_ANSWER = re.compile(r"[a-z][a-z0-9_]*")


def form_flaws(path: Path, guide: Guide) -> Iterator[Flaw]:
    """Flaws of a guide's names and order."""
    yield from _name_flaws(path, guide)
    yield from _order_flaws(guide)
    for number, step in enumerate(guide.step):
        key = f"step[{number}]"
        if not _NAME.fullmatch(step.id):
            yield Flaw(f"{key}.id", f"{step.id!r} is no name for a step", "small letters, digits and hyphens")
        for name, question in step.ask.items():
            yield from _question_flaws(f"{key}.ask.{name}", name, question)
        for place, check in enumerate(step.check):
            yield from _check_flaws(f"{key}.check[{place}]", check, guide)


def _name_flaws(path: Path, guide: Guide) -> Iterator[Flaw]:
    if not _NAME.fullmatch(guide.name):
        yield Flaw("name", f"{guide.name!r} is no name for a guide", "small letters, digits and hyphens")
    elif path.stem != guide.name:
        yield Flaw("name", f"{guide.name} is in a file that is not called so", f"name the file {guide.name}.toml")
    ids = tuple(step.id for step in guide.step)
    if guide.kind == "common" and (guide.name != COMMON or ids != COMMON_STEPS):
        instead = f"only {COMMON}.toml is, with the steps {', '.join(COMMON_STEPS)}"
        yield Flaw("kind", "this cannot be the common guide", instead)
    if not ids:
        yield Flaw("step", "there is no step", "at least one [[step]]")
    for name, count in Counter(ids).items():
        if count > 1:
            yield Flaw("step", f"{count} steps are called {name}", "a name of its own for each")


def _order_flaws(guide: Guide) -> Iterator[Flaw]:
    """Steps that nobody reaches: what they need is not there, or waits for them."""
    own = {step.id for step in guide.step}
    common = set() if guide.kind == "common" else set(COMMON_STEPS) - own
    for number, step in enumerate(guide.step):
        for need in step.needs:
            if need not in own | common:
                problem = f"nobody reaches this step: there is no step {need}"
                yield Flaw(f"step[{number}].needs", problem, nearest(need, own | common))
    for number in _circular(guide, own) if len(own) == len(guide.step) else ():
        instead = "only steps that come before it"
        yield Flaw(f"step[{number}].needs", "nobody reaches this step: what it needs waits for it", instead)


def _circular(guide: Guide, own: set[str]) -> Iterator[int]:
    """The numbers of the steps that wait for themselves, or for such a step."""
    needs = {
        step.id: set(step.needs) & own if step.needs else _above(guide, number)
        for number, step in enumerate(guide.step)
    }
    reached: set[str] = set()
    while ready := {name for name, waits in needs.items() if waits <= reached} - reached:
        reached |= ready
    return (number for number, step in enumerate(guide.step) if step.id not in reached)


def _above(guide: Guide, number: int) -> set[str]:
    return {guide.step[number - 1].id} if number else set()


def _question_flaws(key: str, name: str, question: Question) -> Iterator[Flaw]:
    if name in PLACEHOLDERS:
        yield Flaw(key, f"{{{name}}} has a value already: {PLACEHOLDERS[name]}", "another name for the question")
    elif not _ANSWER.fullmatch(name):
        yield Flaw(key, f"{name!r} cannot stand in braces", "small letters, digits and underscores")
    try:
        fits = re.fullmatch(question.pattern, question.example)
    except re.error as error:
        yield Flaw(
            f"{key}.pattern", f"the pattern does not compile: {error}", "a pattern that answers match as a whole"
        )
        return
    if not fits:
        yield Flaw(f"{key}.example", "the example does not match the pattern", "an answer that would be taken")


def _check_flaws(key: str, check: Check, guide: Guide) -> Iterator[Flaw]:
    if not check.fails.strip():
        yield Flaw(f"{key}.fails", "nothing is said where it fails", "what is wrong, in plain words")
    if not check.remedy and not check.step:
        instead = 'remedy = "NC201" for a rule\'s page, or step = "…" to go back to'
        yield Flaw(key, "nothing is said of what to do where it fails", instead)
    steps = {step.id for step in guide.step} | set(COMMON_STEPS)
    if check.step and check.step not in steps:
        yield Flaw(f"{key}.step", f"there is no step {check.step}", nearest(check.step, steps))
    yield from _argument_flaws(f"{key}.with", check)


def _argument_flaws(key: str, check: Check) -> Iterator[Flaw]:
    allowed = CHECKS[check.kind]
    for name in sorted(check.with_.keys() - allowed.keys()):
        instead = nearest(name, allowed) or "nothing"
        yield Flaw(key, f"a check of the kind {check.kind} is told nothing by {name}", instead)
    for name, argument in allowed.items():
        value = check.with_.get(name)
        if value is None and argument.needed:
            yield Flaw(key, f"it is not told {name}: {argument.words}", f"with = {{ {name} = … }}")
        elif value is not None and (type(value) is not argument.kind or (argument.kind is int and value < 1)):
            instead = "true or false" if argument.kind is bool else "a whole number from 1 on"
            yield Flaw(key, f"{name} cannot be {str(value).lower()}: {argument.words}", instead)
