"""What another setting would do, with tones: the choice on each node, the findings, and what cannot be told. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from textual.content import Content

from ncclcheck.model import Choice
from ncclcheck.tui import wording
from ncclcheck.tui.content import lines, piece
from ncclcheck.tui.wording import Tone

if TYPE_CHECKING:
    from ncclcheck.doctor.foresight import Foreseen, Foresight, Tried

_FATES = {
    "goes": ("✓", Tone.GOOD),
    "comes": ("✗", Tone.BAD),
    "stays": ("!", Tone.WARNING),
    "open": ("?", Tone.MUTED),
}


def foresight(seen: Foresight) -> Content:
    """The answer: what matters most first, since few lines have room."""
    parts = [[_choice(tried) for tried in seen.nodes], _troubles(seen), [*_findings(seen), *_unknown(seen)]]
    parts += [list(_details(tried)) for tried in seen.nodes]
    return Content("\n\n").join(lines(part) for part in parts if part)


def _choice(tried: Tried) -> Content:
    name = wording.line(tried.host)
    if tried.answer is None:
        return piece(f"{name}: cannot be told here", Tone.WARNING)
    choice = tried.answer.choice
    fails = choice is None or choice.interface is None
    return Content.assemble(
        piece(f"{name}: NCCL {choice.nccl if choice else ''} "),
        piece(wording.choice(choice, seen=False), Tone.BAD if fails else Tone.STRONG),
        piece(_beside(choice, tried.now), Tone.MUTED),
    )


def _beside(choice: Choice | None, now: Choice | None) -> str:
    if choice is None or now is None or now.interface is None:
        return ""
    same = (choice.interface, choice.address) == (now.interface, now.address)
    return " (as it does now)" if same else f" (now: {wording.line(f'{now.interface} {now.address}')})"


def _troubles(seen: Foresight) -> list[Content]:
    """What is wrong with the value, once for all nodes."""
    found = (trouble for tried in seen.nodes if tried.answer for trouble in tried.answer.troubles)
    said: dict[str, None] = {}
    for trouble in found:
        better = f"write {trouble.corrected}" if trouble.corrected else "leave it out"
        said[f"! {wording.line(trouble.meaning)}; {wording.line(better)}"] = None
    return [piece(text, Tone.WARNING) for text in said]


def _findings(seen: Foresight) -> Iterable[Content]:
    if not seen.findings and not seen.unknown:
        yield piece("By these settings alone nothing is wrong, neither now nor then.", Tone.MUTED)
    yield from map(_finding, seen.findings)


def _finding(one: Foreseen) -> Content:
    sign, tone = _FATES[one.fate.value]
    return Content.assemble(piece(f"{sign} ", tone), piece(wording.line(str(one))))


def _unknown(seen: Foresight) -> Iterator[Content]:
    return (piece(f"? {wording.unknown(one)}", Tone.WARNING) for one in seen.unknown)


def _details(tried: Tried) -> Iterator[Content]:
    answer = tried.answer
    if answer is not None and answer.choice is not None:
        yield piece(f"{wording.line(tried.host)}: because {wording.line(answer.choice.reason)}", Tone.MUTED)
        yield from (piece(f"- {wording.line(remark)}") for remark in answer.remarks)
