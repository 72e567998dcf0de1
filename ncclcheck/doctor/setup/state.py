"""Where a setup stands: what was chosen, how far each step of the guide is, and what it rests on. Pure values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ncclcheck.doctor.setup.evidence import Evidence
from ncclcheck.errors import NcclcheckError
from ncclcheck.model import Applied, Fix
from ncclcheck.peer.invitation import Invitation
from ncclcheck.printable import shell_word
from ncclcheck.rulebook.guide_schema import COMMON, Ground, Guide
from ncclcheck.rulebook.guides import Planned
from ncclcheck.speedtest.worker.words import size_words

SCRIPT = "train.py"
"""Taken for the person's own training script where nobody says how it is called."""
SIZE = 256 * 1024**2
"""Bytes of the largest message of the speed test."""
LAUNCHER = "torchrun"


class State(Enum):
    """How far a step is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Remedy:
    """What to do about a check that failed; what was found out here comes before what is said in general."""

    problem: str
    """What is wrong, in the guide's words."""
    seen: str = ""
    """What the check saw."""
    rule: str = ""
    """Whose page tells more: ``ncclcheck explain RULE``."""
    stage: str = ""
    """The step to go back to."""
    title: str = ""
    """The finding's own words."""
    explanation: str = ""
    fixes: tuple[Fix, ...] = ()


@dataclass(frozen=True, slots=True)
class Stage:
    """A step of the guide on this node."""

    id: str
    """With its guide in front: ``nodes/join``."""
    title: str
    state: State = State.WAITING
    said: tuple[str, ...] = ()
    """What was seen by its checks."""
    reason: str = ""
    """Why it is left out."""
    remedy: Remedy | None = None
    told: bool = False
    """Done by what the person says, for no check can tell."""
    optional: str = ""
    """When it may be left out, by the guide; empty where it may not."""

    @property
    def name(self) -> str:
        """Without the guide: ``join``."""
        return self.id.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Choices:
    """What was said or found out before anything was done."""

    place: str
    why: tuple[str, ...] = ()
    """The signs by which the place was guessed; none where it was named."""
    launcher: str = LAUNCHER
    role: int = 0
    nodes: int = 2
    script: str = ""
    """Empty until it was asked for."""
    python: str | None = None
    size: int = SIZE
    lang: str = ""
    answers: tuple[tuple[str, str], ...] = ()
    skips: tuple[tuple[str, str], ...] = ()
    """Steps to be left out, each with its reason."""


@dataclass(frozen=True, slots=True)
class NodeCommand:
    """A command line for one node, with that node's names filled in."""

    host: str
    rank: int
    title: str
    where: Ground
    command: str


@dataclass(frozen=True, slots=True)
class Setup:
    """One setup as this node knows it."""

    choices: Choices
    place: Guide
    launcher: Guide
    plan: tuple[Planned, ...]
    """The steps of place, common guide and launcher, in order."""
    stages: tuple[Stage, ...]
    """Those of place and common guide that are this node's."""
    evidence: Evidence
    invitation: Invitation | None = None
    applied: tuple[Applied, ...] = ()
    """What was written on this node, which undo takes back."""
    hits: tuple[Remedy, ...] = ()
    """Everything that was found wrong on the way, also what is mended by now."""
    commands: tuple[NodeCommand, ...] = ()
    """For the person's own script, for each node; none before all is proved."""

    def stage(self, name: str) -> Stage:
        """The step of that name, with its guide in front or without; NcclcheckError with the names that exist."""
        for one in self.stages:
            if name in (one.id, one.name):
                return one
        known = ", ".join(one.id for one in self.stages)
        raise NcclcheckError("this guide has no such step", place=name, next_step=f"Its steps are {known}.")

    def state(self, name: str) -> State:
        """How far a step of the common guide is."""
        return self.stage(f"{COMMON}/{name}").state

    @property
    def proved(self) -> bool:
        """Whether all between the nodes is done, or left out."""
        return all(
            one.state in (State.DONE, State.SKIPPED)
            for one in self.stages
            if one.id.startswith(f"{COMMON}/") and one.name != "command"
        )

    @property
    def done(self) -> bool:
        """Whether all is proved, and nothing is wrong that may not be left out."""
        waiting = any(one.state in (State.WAITING, State.RUNNING) for one in self.stages)
        return self.proved and not waiting and not self.failed

    @property
    def failed(self) -> tuple[Stage, ...]:
        """The steps that something is wrong with, the first one first: later ones are often its consequence.

        Once all between the nodes is proved, what the place's guide would leave out is no matter any more.
        """
        proved = self.proved
        return tuple(one for one in self.stages if one.state is State.FAILED and not (proved and one.optional))

    @property
    def invite(self) -> str:
        """The whole line to run on the other node; empty before anybody waits."""
        if self.invitation is None:
            return ""
        asked = self.choices
        size = size_words(asked.size)
        told = (
            ("--nodes", str(asked.nodes), str(2)),
            ("--launcher", asked.launcher, LAUNCHER),
            ("--script", asked.script, SCRIPT),
            ("--size", size, size_words(SIZE)),
        )
        options = [word for flag, value, usual in told if value not in ("", usual) for word in (flag, value)]
        head = f"{self.invitation.port}-{self.invitation.token}"
        words = ["ncclcheck", "setup", *options, "--join", head, *self.invitation.addresses]
        return " ".join(map(shell_word, words))
