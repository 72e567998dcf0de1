"""The words of the guides that come with the program, for tests that look at them."""

from __future__ import annotations

from collections.abc import Iterator

from ncclcheck.rulebook.guide_check import SAMPLES as KNOWN
from ncclcheck.rulebook.guide_fill import fill_block, fill_command
from ncclcheck.rulebook.guide_schema import Guide, Step
from ncclcheck.rulebook.guides import load_guides
from ncclcheck.rulebook.library import builtin_folder

_LOADED = load_guides(builtin_folder())
GUIDES: dict[str, Guide] = {guide.name: guide for guide in (*_LOADED.places, *_LOADED.launchers, _LOADED.common)}
"""All guides by name."""


def samples(guide: Guide) -> dict[str, str]:
    """A value for everything that may stand in braces in this guide."""
    return {**KNOWN, **{name: asked.example for step in guide.step for name, asked in step.ask.items()}}


STEPS: dict[str, Step] = {f"{guide.name}/{step.id}": step for guide in GUIDES.values() for step in guide.step}
"""All steps by their names."""


def values(where: str, **others: str) -> dict[str, str]:
    """What stands in a step's braces."""
    return {**samples(GUIDES[where.partition("/")[0]]), **others}


def commands(where: str, **others: str) -> list[str]:
    """A step's commands, filled."""
    return [fill_command(command, values(where, **others)) for command in STEPS[where].commands]


def content(where: str, **others: str) -> str:
    """A step's file, or its manifest, filled."""
    step = STEPS[where]
    return fill_block(step.file.content if step.file else step.manifest, values(where, **others))


def prose(guide: Guide) -> Iterator[tuple[str, str]]:
    """What people read of a guide: where, and the text on one line."""
    yield guide.name, flat(guide.title)
    yield guide.name, flat(guide.text)
    for step in guide.step:
        for text in _prose(step):
            yield f"{guide.name}/{step.id}", flat(text)


def _prose(step: Step) -> Iterator[str]:
    yield from (step.title, step.text, step.proves, step.skip, step.undo)
    yield from (asked.question for asked in step.ask.values())
    yield from (check.fails for check in step.check)


def copied(step: Step) -> Iterator[str]:
    """What people copy of a step: commands, manifest, file."""
    yield from step.commands
    yield step.manifest
    if step.file:
        yield step.file.path
        yield step.file.content


def everything() -> Iterator[tuple[str, str]]:
    """All texts of all guides, with where they stand."""
    for guide in GUIDES.values():
        yield from prose(guide)
        yield from ((f"{guide.name}, terms", text) for text in guide.terms.values())
        for step in guide.step:
            yield from ((f"{guide.name}/{step.id}", text) for text in copied(step))


def said(where: str) -> str:
    """All that a guide says before its steps (``vast``), or one of its steps (``vast/overlay``), on one line."""
    name, _, wanted = where.partition("/")
    guide = GUIDES[name]
    if not wanted:
        return flat(" ".join((guide.title, guide.text, *guide.terms.values())))
    step = next(step for step in guide.step if step.id == wanted)
    return flat(" ".join((*_prose(step), *copied(step))))


def flat(text: str) -> str:
    """The text on one line."""
    return " ".join(text.split())
