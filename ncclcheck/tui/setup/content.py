"""What the place of the setup shows, made from the doctor's own values on a worker's thread: texts, filled in. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ncclcheck.doctor.finding_text import Part, Room, fix_rows
from ncclcheck.doctor.setup.begin import skippable
from ncclcheck.doctor.setup.checks import rates
from ncclcheck.doctor.setup.state import NodeCommand, Remedy, Setup, Stage, State
from ncclcheck.doctor.setup.values import setting, values
from ncclcheck.errors import NcclcheckError
from ncclcheck.model import Pattern, SpeedTest
from ncclcheck.rulebook.guide_fill import fill, fill_block, fill_command
from ncclcheck.rulebook.guide_schema import COMMON, Step
from ncclcheck.rulebook.guides import first_uses
from ncclcheck.tui.setup.values import Led, StepView, Told
from ncclcheck.tui.wording import Said, Tone

_SIGNS = {
    State.WAITING: ("·", Tone.MUTED),
    State.RUNNING: ("…", Tone.STRONG),
    State.DONE: ("✓", Tone.GOOD),
    State.FAILED: ("✗", Tone.BAD),
    State.SKIPPED: ("–", Tone.MUTED),
}
_WHOLE = Room(width=100_000, quote=100_000)
"""Lines as long as they are: the screen breaks them."""
_CODE = " " * 4
_MEETING = (
    "The two tell each other their interfaces, addresses and NCCL settings. No command and no file passes between them."
)

Line = tuple[str, Tone]
Terms = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Books:
    """What is looked up besides the setup itself."""

    page: Callable[[str], str]
    """A rule as a page."""
    terms: Mapping[str, str]
    """What the common guide explains."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """What the texts of all steps are made from."""

    setup: Setup
    steps: Mapping[str, Step]
    terms: Mapping[str, Terms]
    known: Mapping[str, str]
    """The values of placeholders."""
    books: Books


def led(setup: Setup, books: Books, *, path: str = "", note: str = "", ended: bool = False) -> Led:
    """The setup with all of its texts."""
    steps = {one.id: one.step for one in setup.plan}
    shown = _Shown(setup, steps, explained(setup, books.terms), values(setup), books)
    views = tuple(_view(one, shown) for one in setup.stages)
    ready = bool(setup.commands)
    return Led(
        steps=views,
        at=_at(setup),
        said=_said(setup),
        role=setup.choices.role,
        inviting=setup.invite if _waits(setup) else "",
        ready=ready,
        summary=_summary(setup) if ended and ready else "",
        path=path,
        changed=bool(setup.applied),
        note=note,
    )


def _summary(setup: Setup) -> str:
    from ncclcheck.doctor.setup.summary import summary

    return summary(setup)


def _waits(setup: Setup) -> bool:
    """Whether this node waits for another one that somebody has to send here."""
    evidence = setup.evidence
    return not setup.choices.role and evidence.running and len(evidence.guests) < setup.choices.nodes - 1


def _at(setup: Setup) -> str:
    """The step at hand: the one that goes on, else what is wrong, else the end, else what comes next."""
    states = {one.id: one.state for one in setup.stages}
    running = [name for name, state in states.items() if state is State.RUNNING]
    wrong = [one.id for one in setup.failed]
    end = [f"{COMMON}/command"] if setup.commands else []
    open_ones = [name for name, state in states.items() if state is State.WAITING]
    return next(iter([*running, *wrong, *end, *open_ones]), setup.stages[-1].id)


def _said(setup: Setup) -> Said:
    nodes = setup.choices.nodes
    if setup.commands:
        speed = f": {_best(setup.evidence.test)}" if setup.evidence.test else ""
        wrong = f"; still wrong: {', '.join(one.title for one in setup.failed)}" if setup.failed else ""
        tone = Tone.WARNING if wrong else Tone.GOOD
        return Said("!" if wrong else "✓", f"{nodes} nodes, ready to train{speed}{wrong}", tone)
    if _waits(setup):
        return Said("…", f"Waiting for {'the other node' if nodes == 2 else 'the others'}", Tone.WARNING)
    if setup.failed and not setup.evidence.running:
        first = setup.failed[0]
        why = first.remedy.title or first.remedy.problem if first.remedy else ""
        return Said("✗", f"{first.title}: {why}" if why else first.title, Tone.BAD)
    at = setup.stage(_at(setup))
    return Said("…", at.title, Tone.WARNING)


def _best(test: SpeedTest) -> str:
    """What a link is sold by."""
    one_way = test.best(Pattern.ONE_WAY)
    return f"{one_way.busbw:.3g} GB/s ({8 * one_way.busbw:.3g} Gbit/s) one way" if one_way else rates(test)


def explained(setup: Setup, common: Mapping[str, str]) -> Mapping[str, Terms]:
    """The terms that are explained at each step: where they first stand on this node."""
    terms = {**common, **setup.launcher.terms, **setup.place.terms}
    steps = {one.id: one.step for one in setup.plan}
    texts = [_words(steps[one.id]) for one in setup.stages]
    return dict(zip([one.id for one in setup.stages], first_uses(texts, terms), strict=True))


def _words(step: Step) -> str:
    return " ".join((step.title, step.text, step.proves, *(check.fails for check in step.check)))


def _view(stage: Stage, shown: _Shown) -> StepView:
    sign, tone = _SIGNS[stage.state]
    step = shown.steps[stage.id]
    told = tuple(_told(stage, step, shown))
    page = shown.books.page(stage.remedy.rule) if stage.remedy and stage.remedy.rule else ""
    copied, title = _copied(stage, step, shown.known, told), fill(stage.title, shown.known)
    return StepView(stage.id, title, sign, tone, told, copied, page, _may(shown.setup, stage))


def _may(setup: Setup, stage: Stage) -> bool:
    """Whether it may be left out now."""
    if stage.state not in (State.FAILED, State.WAITING):
        return False
    try:
        return skippable(setup, stage.id) is not None
    except NcclcheckError:
        return False


def _copied(stage: Stage, step: Step, known: Mapping[str, str], told: Told) -> str:
    """What mends a step that failed, the command lines of another one, or what is said of it."""
    if stage.state is not State.FAILED and step.commands:
        return "\n".join(fill_command(one.strip(), known) for one in step.commands) + "\n"
    return "\n".join(text for text, _ in told).strip() + "\n"


# A step in full ------------------------------------------------------------------------------------------------------


def _told(stage: Stage, step: Step, shown: _Shown) -> Iterator[Line]:
    """What is wrong and what to do, then what was seen, then what the step is about."""
    own, setup, known = f"{COMMON}/", shown.setup, shown.known
    blocks: list[Iterable[Line]] = [_remedy(stage.remedy, stage)] if stage.remedy else []
    blocks += [_seen(stage)]
    if stage.id == f"{own}command" and setup.commands:
        blocks += [_ready(setup)]
    elif stage.id == f"{own}join":
        blocks += [_joining(setup, step, known)]
    else:
        blocks += [_about(step, known), _doing(step, known, by_hand=stage.id.startswith(own))]
    blocks += [meanings(shown.terms[stage.id]), _notes(stage, step, known)]
    filled = [tuple(block) for block in blocks]
    for number, block in enumerate(block for block in filled if block):
        yield from [("", Tone.PLAIN)] if number else []
        yield from block


def _remedy(remedy: Remedy, stage: Stage) -> Iterator[Line]:
    """The finding's own words first, then the guide's, then what was seen; what to do; and why."""
    if remedy.title:
        yield f"✗ {remedy.title}", Tone.BAD
    yield (remedy.problem, Tone.PLAIN) if remedy.title else (f"✗ {remedy.problem}", Tone.BAD)
    for number, fix in enumerate(remedy.fixes):
        for row in fix_rows(fix, _WHOLE, "what to do" if number == 0 else "or"):
            yield str(row), Tone.STRONG if row.part is Part.TYPED else Tone.PLAIN
    rest = (
        (f"seen: {remedy.seen}", remedy.seen, Tone.MUTED),
        (f"Go back to the step {remedy.stage}.", remedy.stage, Tone.PLAIN),
        (f"It may be left out: {joined(stage.optional)}", stage.optional, Tone.PLAIN),
        (f"why: {remedy.explanation}", remedy.explanation, Tone.MUTED),
        (f"{remedy.rule} is the rule: Tab, then Enter shows its page.", remedy.rule, Tone.MUTED),
    )
    yield from ((text, tone) for text, there, tone in rest if there)


def _seen(stage: Stage) -> Iterator[Line]:
    if stage.state is State.SKIPPED:
        yield f"– left out: {stage.reason}", Tone.MUTED
    elif stage.remedy is None:
        yield from ((f"✓ {said}", Tone.GOOD) for said in stage.said)


def _joining(setup: Setup, step: Step, known: Mapping[str, str]) -> Iterator[Line]:
    """The line for the other nodes, or whom this one calls."""
    if setup.choices.role:
        asked = setup.invitation
        yield f"This node calls the first one, at {', '.join(asked.addresses) if asked else 'no address'}.", Tone.PLAIN
        yield _MEETING, Tone.MUTED
        return
    if setup.invite and _waits(setup):
        yield f"On {'the other node' if setup.choices.nodes == 2 else 'every other node'}; c copies it:", Tone.PLAIN
        yield "", Tone.PLAIN
        yield setup.invite, Tone.STRONG
        yield "", Tone.PLAIN
        yield "Or start ncclcheck there, and paste the line anywhere in it.", Tone.PLAIN
    yield joined(fill(step.text, known)), Tone.MUTED


def _ready(setup: Setup) -> Iterator[Line]:
    """The bandwidth, and the command lines of each node."""
    test = setup.evidence.test
    if test and test.passed:
        yield f"✓ {rates(test)}", Tone.GOOD
    for host, commands in _by_host(setup.commands):
        yield "", Tone.PLAIN
        yield f"On {host} (node {commands[0].rank}):", Tone.PLAIN
        yield from _code("\n".join(one.command for one in commands))
        if needed := setting(setup, host):
            yield f"It needs in the environment of every worker: {needed}", Tone.WARNING


def _by_host(commands: Sequence[NodeCommand]) -> Iterator[tuple[str, list[NodeCommand]]]:
    for host in dict.fromkeys(one.host for one in commands):
        yield host, [one for one in commands if one.host == host]


def _about(step: Step, known: Mapping[str, str]) -> Iterator[Line]:
    yield joined(fill(step.text, known)), Tone.PLAIN


def _doing(step: Step, known: Mapping[str, str], *, by_hand: bool) -> Iterator[Line]:
    """What is copied; ncclcheck does by itself what the common guide says."""
    if step.commands:
        yield "ncclcheck does it by itself; by hand it would be:" if by_hand else "Run:", Tone.MUTED
    for command in step.commands:
        yield from _code(fill_command(command.strip(), known), Tone.PLAIN if by_hand else Tone.STRONG)
    if step.manifest.strip():
        yield from _code(fill_block(step.manifest.strip("\n"), known))
    if step.file and not by_hand:
        yield f"The file {fill_block(step.file.path, known)}, as it should be:", Tone.MUTED
        yield from _code(fill_block(step.file.content.strip("\n"), known))


def _code(text: str, tone: Tone = Tone.STRONG) -> Iterator[Line]:
    yield from ((f"{_CODE}{line}", tone) for line in text.splitlines())


def meanings(terms: Terms) -> Iterator[Line]:
    """Terms, each explained."""
    yield from ((f"{term}: {joined(meaning)}", Tone.MUTED) for term, meaning in terms)


def _notes(stage: Stage, step: Step, known: Mapping[str, str]) -> Iterator[Line]:
    if stage.state is State.DONE and step.proves:
        yield f"What this proves: {joined(fill(step.proves, known))}", Tone.MUTED
    if stage.state is State.WAITING and stage.optional:
        yield f"It may be left out: {joined(fill(stage.optional, known))}", Tone.MUTED
    if stage.state is State.DONE and step.undo:
        yield f"To take it back: {joined(fill(step.undo, known))}", Tone.MUTED


def joined(text: str) -> str:
    """The sentences of a guide as one paragraph."""
    return " ".join(text.split())
