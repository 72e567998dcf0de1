"""A whole guide as text, to read and to copy from. Pure; the writer escapes.

Values may come from other machines: ``guide_fill`` keeps them inert in what is copied.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ncclcheck.rulebook.guide_fill import fill, fill_block, fill_command, placeholders
from ncclcheck.rulebook.guide_schema import LOOKED_AT, PLACEHOLDERS, Check, Ground, Guide, Step
from ncclcheck.rulebook.guides import Planned, first_uses, plan

WHERE: Mapping[Ground, str] = {
    "console": "on the provider's site, or with its tool on your own computer",
    "each": "on every node",
    "first": "on the first node, the one of rank 0",
    "others": "on every node but the first",
}
"""Where a step is done, in words."""
_WIDTH = 80
_INDENT = " " * 3
_CODE = " " * 7


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of the page."""

    kind: Literal["guide", "step", "prose", "note", "sources", "code"]
    text: str
    label: str = ""
    """A step's number; what stands before a note, or before sources."""


def guide_text(place: Guide, common: Guide, launcher: Guide, values: Mapping[str, str]) -> str:
    """The guide as text for a terminal; commands stand alone on their lines, for copying."""
    return "".join(_laid_out(blocks(place, common, launcher, values)))


def _laid_out(page: Iterable[Block]) -> Iterator[str]:
    """The pieces with an empty line between them, but for a step and where it is done, and a note and the next."""
    last = ""
    for block in page:
        close = (last, block.kind) in (("step", "prose"), ("note", "note"))
        yield ("\n" if close else "\n\n") if last else ""
        yield _as_text(block)
        last = block.kind
    yield "\n"


def blocks(place: Guide, common: Guide, launcher: Guide, values: Mapping[str, str]) -> Iterator[Block]:
    """The page piece by piece: each guide's own words before its first step, and its steps in their row.

    ``values`` are the placeholders' by name; one that is missing is shown as ``<NAME>``, and the top says what it is.
    """
    guides = {guide.name: guide for guide in (place, common, launcher)}
    row = plan(place, common, launcher)
    numbers = {planned.id: number for number, planned in enumerate(row, 1)}
    begun = {planned.guide: planned.id for planned in reversed(row)}
    explained = _explained(row, begun, guides)
    for planned in row:
        guide, step = guides[planned.guide], planned.step
        if begun[guide.name] == planned.id:
            yield from _guide(guide, next(explained), values)
            yield from _legend(row, guides, values) if planned is row[0] else ()
        yield Block("step", fill(step.title, values), f"{numbers[planned.id]}.")
        yield Block("prose", f"({WHERE[step.where]})")
        yield from _prose(step.text, values)
        yield from _terms(next(explained), values)
        yield from _doing(step, values)
        for check in step.check:
            yield from _check(check, _target(check, guide, common, numbers, guides), values)
        yield from _notes((("What a passed check proves", step.proves), ("To take it back", step.undo)), values)


Terms = tuple[tuple[str, str], ...]


def _explained(row: Sequence[Planned], begun: Mapping[str, str], guides: Mapping[str, Guide]) -> Iterator[Terms]:
    """The terms that are explained after each text of the page: a guide's own, a step's."""
    terms = {term: meaning for guide in reversed(list(guides.values())) for term, meaning in guide.terms.items()}
    texts = []
    for planned in row:
        guide, step = guides[planned.guide], planned.step
        if begun[guide.name] == planned.id:
            texts.append(f"{guide.title} {guide.text}")
        checks = " ".join(check.fails for check in step.check)
        texts.append(" ".join((step.title, step.text, step.proves, step.skip, step.undo, checks)))
    return first_uses(texts, terms)


def _legend(row: Sequence[Planned], guides: Mapping[str, Guide], values: Mapping[str, str]) -> Iterator[Block]:
    """What to put where a value is not known yet; the guides' own questions are explained where they are asked."""
    texts = [guide.text for guide in guides.values()]
    for planned in row:
        step = planned.step
        texts += [step.title, step.text, step.proves, step.skip, step.undo, step.manifest, *step.commands]
        texts += [check.fails for check in step.check]
        texts += [step.file.path, step.file.content] if step.file else []
    asked = {name for text in texts for name in placeholders(text)}
    missing = [name for name in PLACEHOLDERS if name in asked and fill(f"{{{name}}}", values) == f"<{name.upper()}>"]
    if missing:
        yield Block("prose", "What stands between < and > is not known yet:")
    yield from (Block("note", PLACEHOLDERS[name], f"<{name.upper()}>") for name in missing)


def _guide(guide: Guide, terms: Terms, values: Mapping[str, str]) -> Iterator[Block]:
    yield Block("guide", fill(guide.title, values))
    yield from _prose(guide.text, values)
    yield from _terms(terms, values)
    if guide.sources and guide.read:
        yield Block("sources", " ".join(guide.sources), f"Read on {guide.read.isoformat()}")


def _prose(text: str, values: Mapping[str, str]) -> Iterator[Block]:
    if text.strip():
        yield Block("prose", fill(text.strip(), values))


def _terms(terms: Terms, values: Mapping[str, str]) -> Iterator[Block]:
    yield from (Block("note", fill(meaning, values), term) for term, meaning in terms)


def _notes(notes: Iterable[tuple[str, str]], values: Mapping[str, str]) -> Iterator[Block]:
    yield from (Block("note", fill(text.strip(), values), label) for label, text in notes if text.strip())


def _doing(step: Step, values: Mapping[str, str]) -> Iterator[Block]:
    """When to leave the step out, what it asks, and what is copied."""
    yield from _notes([("You may leave it out", step.skip)], values)
    for name, asked in step.ask.items():
        answer = f"Your answer: {values[name]}" if name in values else f"Put it where <{name.upper()}> stands"
        yield Block("note", f"{fill(asked.question, values)} For example {asked.example}. {answer}.", "Only you know")
    if step.commands:
        yield Block("code", "\n".join(fill_command(command.strip(), values) for command in step.commands))
    if step.manifest.strip():
        yield Block("code", fill_block(step.manifest.strip("\n"), values))
    if step.file:
        yield Block("prose", f"The file {fill_block(step.file.path, values)}, as it should be:")
        yield Block("code", fill_block(step.file.content.strip("\n"), values))


def _target(check: Check, guide: Guide, common: Guide, numbers: Mapping[str, int], guides: Mapping[str, Guide]) -> str:
    """The step to go back to, with its number and title."""
    if not check.step:
        return ""
    owner = guide if any(step.id == check.step for step in guide.step) else common
    title = next(step.title for step in guides[owner.name].step if step.id == check.step)
    return f"Go back to step {numbers[f'{owner.name}/{check.step}']}, “{title}”."


def _check(check: Check, back: str, values: Mapping[str, str]) -> Iterator[Block]:
    yield Block("note", f"{LOOKED_AT[check.kind].format(**check.with_)}.", "ncclcheck checks that")
    more = f"More: `ncclcheck explain {check.remedy}`" if check.remedy else ""
    yield Block("note", " ".join(filter(None, (fill(check.fails, values), fill(back, values), more))), "If not")


def _as_text(block: Block) -> str:
    if block.kind == "guide":
        return f"{block.text}\n{'=' * len(block.text)}"
    if block.kind == "step":
        return f"{block.label} {block.text}"
    if block.kind == "code":
        return textwrap.indent(block.text, _CODE)
    sentences = block.text.splitlines() if block.kind == "prose" else [f"{block.label}: {' '.join(block.text.split())}"]
    return "\n".join(_wrapped(sentence, "" if block.kind == "prose" else "  ") for sentence in sentences)


def _wrapped(text: str, hanging: str) -> str:
    return "\n".join(
        textwrap.wrap(
            text,
            _WIDTH,
            initial_indent=_INDENT,
            subsequent_indent=_INDENT + hanging,
            break_long_words=False,
            break_on_hyphens=False,
        )
    )
