"""The use case "two fresh shells, and a verified bandwidth": a guide whose every step is really checked.

The node that invites and the one that joins go the same way; between them it is one pairing, told in the guide's steps.
What was seen is never kept: taken up again, everything is looked at again.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Generator, Iterator
from contextlib import closing

from ncclcheck.doctor.join import Patience, join
from ncclcheck.doctor.meet import Options
from ncclcheck.doctor.pair import pair
from ncclcheck.doctor.setup.begin import SetupOptions, begun, by_hand, place_of, questions, skippable
from ncclcheck.doctor.setup.growth import advanced
from ncclcheck.doctor.setup.kept import Keeper, path_in, read, restored
from ncclcheck.doctor.setup.look import look, repairs
from ncclcheck.doctor.setup.person import Leave, Person, Repeat, Skip, TakeBack
from ncclcheck.doctor.setup.state import SCRIPT, Setup, State
from ncclcheck.doctor.setup.steps import (
    Again,
    Answered,
    Broke,
    Closed,
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
from ncclcheck.doctor.steps import MadeFix, Step
from ncclcheck.errors import ApplyError, PeerError
from ncclcheck.model import Applied, Fix, Risk, Scope
from ncclcheck.rulebook.guide_schema import Guide, Question
from ncclcheck.rulebook.guides import load_guides

_MOST_BREAKS = 5
"""Conversations that may break off, one after the other, before it is told that this leads nowhere."""
_SCRIPT = Question("How is your training script called?", r"\S.*", SCRIPT)
_REPAIR = Fix("Put right the lines of nccl.conf that NCCL misreads", Scope.THIS_NODE, Risk.SAFE)

Steps = Iterator[SetupStep | Step]


def setup(asked: SetupOptions, person: Person) -> Steps:
    """The whole way; the last step is Closed.

    Raises NcclcheckError where a guide, a step or a kept setup is not there, and PeerError where nobody can join.
    """
    way = _Way(asked, person)
    yield from way.open()
    yield from way.prepare()
    while True:
        yield from way.meet()
        if way.now.proved or not (yield from way.turn()):
            break
    yield from way.close()


class _Way:
    """A setup while it is gone through."""

    def __init__(self, asked: SetupOptions, person: Person) -> None:
        self.now: Setup
        self._asked, self._person = asked, person
        self._file = path_in(os.environ, socket.gethostname(), asked.folder)
        self._keeper = Keeper(self._file)

    def _take(self, step: SetupStep | Step) -> SetupStep | Step:
        """The setup after this step, kept."""
        self.now = advanced(self.now, step)
        self._keeper.keep(self.now)
        return step

    # Before the nodes meet -------------------------------------------------------------------------------------------

    def open(self) -> Steps:
        """Where it begins, or where it was left; and this node as it is now."""
        asked = self._asked
        if asked.resume:
            kept = read(self._file)
            self.now = restored(kept, load_guides(lang=kept.choices.lang))
            looked = self._look()
        else:
            looked = look(asked.python, gpus=False)
            self.now = begun(asked, load_guides(lang=asked.lang), looked.facts)
            looked = self._look(looked)
        yield self._take(Opened(self.now, asked.resume))
        yield self._take(looked)
        for name, reason in asked.skips:
            yield self._take(Skipped(skippable(self.now, name).id, reason))
        if asked.again:
            yield self._take(Again(asked.again))

    def _look(self, looked: Looked | None = None) -> Looked:
        gpus = any(check.kind == "gpu" for one in self.now.plan for check in one.step.check)
        return looked if looked and not gpus else look(self.now.choices.python, gpus=gpus)

    def prepare(self) -> Steps:
        """What only the person knows, and what NCCL misreads here, before anybody is asked to join."""
        choices = self.now.choices
        if not choices.script:
            # The first node's line for the others names it, unless it is the usual one.
            said = "" if choices.role else self._person.answer("script", _SCRIPT)
            yield self._take(Answered("script", said or SCRIPT))
        for planned in questions(self.now):
            for name, question in planned.step.ask.items():
                if answer := self._person.answer(name, question):
                    yield self._take(Answered(name, answer))
        yield from self._by_hand(before=True)
        yield from self._repair()

    def _by_hand(self, *, before: bool) -> Steps:
        if stages := by_hand(self.now, before=before):
            left_out = self._person.prepared(stages)
            reasons = dict(left_out)
            yield self._take(Prepared(tuple(one.id for one in stages if one.id not in reasons), left_out))

    def _repair(self) -> Steps:
        from ncclcheck.doctor.fix import apply
        from ncclcheck.doctor.measure import HERE

        facts, left_out = self.now.evidence.facts, self.now.state("settings") is State.SKIPPED
        edits = repairs(facts) if facts and not left_out else ()
        if edits and self._person.agree(edits, _REPAIR):
            try:
                yield self._take(Repaired(apply(edits, HERE)))
            except ApplyError as error:
                yield self._take(Repaired((), str(error)))
            yield self._take(self._look())

    # Between the nodes -----------------------------------------------------------------------------------------------

    def meet(self) -> Steps:
        """A pairing; one that breaks off in the middle is begun again, and waits for the other node to come back."""
        for _ in range(_MOST_BREAKS):
            try:
                yield from self._together()
                return
            except PeerError as error:
                if self._person.gone():
                    raise
                if not self.now.evidence.guests:
                    yield self._take(Missed(f"{error.problem}. {error.next_step}".strip()))
                    return
                yield self._take(Broke(error.problem))
        yield self._take(Missed(f"the conversation broke off {_MOST_BREAKS} times"))

    def _together(self) -> Steps:
        steps = self._join() if self.now.choices.role else pair(self._pairing(), self._person.agree)
        with closing(steps):
            for step in steps:
                yield self._take(step)
                if isinstance(step, MadeFix) and step.changes:
                    yield self._take(self._look())

    def _pairing(self) -> Options:
        """What this node asks for as the host."""
        now, evidence = self.now, self.now.evidence
        invited = now.invitation
        return Options(
            nodes=now.choices.nodes,
            limit=self._asked.limit,
            port=invited.port if invited else 0,
            token=invited.token if invited else "",
            python=now.choices.python,
            mend=self._wanted("settings"),
            speed=now.choices.size if self._wanted("speed") else 0,
            measured=evidence.before,
            earlier=evidence.earlier,
            train=self._wanted("ddp"),
            rendezvous=True,
            unverified=not self._wanted("handshake"),
            stopped=self._person.gone,
        )

    def _wanted(self, name: str) -> bool:
        return self.now.state(name) is not State.SKIPPED

    def _join(self) -> Generator[Step, None, None]:
        invitation = self.now.invitation
        if invitation is None:
            raise PeerError(
                "the invitation is too old",
                place="join",
                next_step="Run the line that ncclcheck setup shows on the first node.",
            )
        patience = Patience(self._asked.limit, self._person.gone)
        return join(invitation, self._person.agree, self.now.choices.python, patience)

    # After a step that failed ----------------------------------------------------------------------------------------

    def turn(self) -> Generator[SetupStep | Step, None, bool]:
        """What the person wishes; whether everything is to be looked at again."""
        while not self._person.gone():
            match self._person.wish(self.now):
                case Repeat(stage):
                    yield self._take(Again(stage))
                    yield self._take(self._look())
                    yield from self._repair()
                    return True
                case Skip(stage, reason):
                    yield self._take(Skipped(skippable(self.now, stage).id, reason))
                    if self.now.proved:
                        return False
                case TakeBack():
                    yield from self._take_back()
                case Leave():
                    return False
        return False

    def _take_back(self) -> Steps:
        try:
            yield self._take(take_back(self.now))
        except ApplyError as error:
            yield self._take(Undone((), str(error)))
        yield self._take(self._look())

    def close(self) -> Steps:
        """The command lines for the person's own script, where all is proved."""
        if self.now.proved:
            yield from self._by_hand(before=False)
            yield self._take(Ready())
        yield self._take(Closed(self.now, self._keeper.warning))


def take_back(now: Setup) -> Undone:
    """What was written on this node put back as it was; ApplyError where a file has been changed since."""
    from ncclcheck.doctor.fix import undo
    from ncclcheck.doctor.measure import HERE

    undo(now.applied, HERE)
    return Undone(now.applied)


def undo_kept(asked: SetupOptions) -> tuple[Applied, ...]:
    """Take back what the last setup of this machine has written; NcclcheckError where there is none."""
    file = path_in(os.environ, socket.gethostname(), asked.folder)
    kept = read(file)
    now = restored(kept, load_guides(lang=kept.choices.lang))
    undone = take_back(now)
    Keeper(file).keep(advanced(now, undone))
    return undone.applied


def guides_here(asked: SetupOptions) -> tuple[Guide, Guide, Guide]:
    """The three guides that would be gone through: place, common, launcher."""
    guides = load_guides(lang=asked.lang)
    launcher = guides.launcher(asked.launcher)
    if asked.place:
        return guides.place(asked.place), guides.common, launcher
    facts = look(asked.python, gpus=False).facts
    return place_of(asked, guides, facts)[0], guides.common, launcher
