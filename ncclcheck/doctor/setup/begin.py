"""How a setup begins: the place is guessed and says why, the rest is what was asked for or the usual. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ncclcheck.doctor.setup.evidence import Evidence
from ncclcheck.doctor.setup.state import LAUNCHER, SIZE, Choices, Setup, Stage
from ncclcheck.errors import NcclcheckError
from ncclcheck.model import Facts
from ncclcheck.peer.invitation import Invitation
from ncclcheck.rulebook.guide_schema import COMMON, Ground, Guide
from ncclcheck.rulebook.guides import Guides, Planned, guess, plan

_NEEDED = tuple(f"{COMMON}/{name}" for name in ("join", "network"))
"""Steps without which nothing can be proved."""


@dataclass(frozen=True, slots=True)
class SetupOptions:
    """What may be said beforehand; everything has a usual value or is found out."""

    place: str = ""
    """A place guide's name; guessed where it is empty."""
    launcher: str = LAUNCHER
    role: int | None = None
    """0 invites; else by whether there is an invitation."""
    nodes: int = 2
    script: str = ""
    invitation: Invitation | None = None
    """What the first node shows; this node joins it."""
    python: str | None = None
    size: int = SIZE
    """Bytes of the largest message of the speed test."""
    lang: str = ""
    skips: tuple[tuple[str, str], ...] = ()
    """Steps to leave out, each with its reason."""
    answers: tuple[tuple[str, str], ...] = ()
    """To the guide's own questions."""
    limit: float = 600.0
    """Seconds to wait for the other node."""
    resume: bool = False
    """Go on where the last setup of this machine was left; what was chosen there counts."""
    again: str = ""
    """With ``resume``: the step from which on nothing counts any more."""
    folder: str = ""
    """Where setups are kept; the user's own folder where it is empty."""


def begun(asked: SetupOptions, guides: Guides, facts: Facts) -> Setup:
    """A new setup on this node; NcclcheckError where a guide is not there, or the role does not fit."""
    role = asked.role if asked.role is not None else int(asked.invitation is not None)
    if bool(role) != (asked.invitation is not None):
        raise _no_invitation(role)
    place, why = place_of(asked, guides, facts)
    choices = Choices(
        place=place.name,
        why=why,
        launcher=asked.launcher,
        role=role,
        nodes=asked.nodes,
        script=asked.script,
        python=asked.python,
        size=asked.size,
        lang=asked.lang,
        answers=asked.answers,
    )
    return replace(of_choices(choices, guides), invitation=asked.invitation)


def place_of(asked: SetupOptions, guides: Guides, facts: Facts) -> tuple[Guide, tuple[str, ...]]:
    """The place's guide, and the signs by which it was guessed."""
    if asked.place:
        return guides.place(asked.place), ()
    return guess(guides, facts.machine.hints if facts.machine else ())[0]


def _no_invitation(role: int) -> NcclcheckError:
    if role == 0:
        return NcclcheckError(
            "the first node invites; it joins nobody", place="--role 0", next_step="Leave out --join."
        )
    return NcclcheckError(
        "which node is to be joined?",
        place=f"--role {role}",
        next_step="Run ncclcheck setup on the first node; it shows the whole line for this one.",
    )


def of_choices(choices: Choices, guides: Guides) -> Setup:
    """The setup that these choices make, with nothing done yet."""
    place, launcher = guides.place(choices.place), guides.launcher(choices.launcher)
    row = plan(place, guides.common, launcher)
    stages = tuple(
        Stage(one.id, one.step.title, optional="" if one.guide == COMMON else one.step.skip)
        for one in row
        if one.guide == COMMON or (one.guide == place.name and is_mine(one.step.where, choices.role))
    )
    return Setup(choices, place, launcher, row, stages, Evidence(choices.role, choices.nodes))


def is_mine(where: Ground, role: int) -> bool:
    """Whether a step there is this node's; what is done once, at the provider's, is the first node's."""
    return where == "each" or (where == "others") == (role > 0)


def skippable(setup: Setup, name: str) -> Stage:
    """The step of that name; NcclcheckError where there is none, or where nothing can be proved without it."""
    stage = setup.stage(name)
    if stage.id in _NEEDED:
        raise NcclcheckError(
            "this step cannot be left out: nothing can be proved without it",
            place=stage.id,
            next_step="Do it, or exchange cards instead: ncclcheck card, then ncclcheck match.",
        )
    return stage


def by_hand(setup: Setup, *, before: bool) -> tuple[Stage, ...]:
    """The place's steps that only the person can say are done, those before the nodes meet or those after."""
    ids = [one.id for one in setup.plan]
    meeting = ids.index(f"{COMMON}/join")
    checked = {one.id for one in setup.plan if one.step.check or one.guide == COMMON}
    return tuple(
        stage
        for stage in setup.stages
        if stage.id not in checked and not stage.told and not stage.reason and (ids.index(stage.id) < meeting) == before
    )


def questions(setup: Setup) -> tuple[Planned, ...]:
    """This node's steps that ask something which is not answered yet.

    What is done at the provider's lies behind whoever has a shell here, so nothing is asked about it.
    """
    answered = {name for name, _ in setup.choices.answers}
    mine = (one for one in setup.plan if one.step.where != "console" and is_mine(one.step.where, setup.choices.role))
    return tuple(one for one in mine if set(one.step.ask) - answered)
