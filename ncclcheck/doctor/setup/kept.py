"""A setup on disk, so that it survives a dropped connection: what was chosen and done, never what was seen. [effects]

One file a host in the XDG state folder (XDG Base Directory Specification), since home folders are often shared between
nodes. It holds the invitation, so that both sides find each other again, and only its owner may read it. Whatever
happens to it never ends a setup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import msgspec

from ncclcheck.doctor.setup.begin import of_choices
from ncclcheck.doctor.setup.state import Choices, Remedy, Setup, Stage, State
from ncclcheck.errors import NcclcheckError
from ncclcheck.fixes.apply import write_whole
from ncclcheck.model import Applied, SpeedTest, Use
from ncclcheck.peer.invitation import Invitation
from ncclcheck.rulebook.guides import Guides
from ncclcheck.state_folder import state_folder

SCHEMA = 1
TOKEN_AGE = timedelta(hours=24)
"""For how long an invitation is offered again."""
_ODD = re.compile(r"[^A-Za-z0-9.-]+")
_BEGIN = "Begin anew: ncclcheck setup"
Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class KeptStage:
    """How far a step was."""

    id: str
    state: State
    reason: str = ""
    told: bool = False


@dataclass(frozen=True, slots=True)
class Kept:
    """What stands in the file."""

    schema: int
    time: str
    """ISO 8601, UTC."""
    choices: Choices
    stages: tuple[KeptStage, ...]
    invitation: Invitation | None = None
    applied: tuple[Applied, ...] = ()
    use: tuple[Use, ...] = ()
    """Between which the speed was measured."""
    test: SpeedTest | None = None
    hits: tuple[Remedy, ...] = ()


def _now() -> datetime:
    return datetime.now(timezone.utc)


def path_in(env: Mapping[str, str], host: str, folder: str = "") -> Path:
    """The file of this host, in the user's own folder unless another one is named."""
    return (Path(folder) if folder else state_folder(env)) / f"setup-{_ODD.sub('_', host)}.json"


class Keeper:
    """Writes a setup down whenever what is kept of it has changed; ``warning`` says why that is not possible."""

    def __init__(self, path: Path, now: Clock = _now) -> None:
        self.warning = ""
        self._path, self._now = path, now
        self._last: Kept | None = None

    def keep(self, setup: Setup) -> None:
        """The file as it should be now."""
        kept = kept_of(setup)
        if kept == self._last or self.warning:
            return
        self._last = kept
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            timed = replace(kept, time=self._now().isoformat(timespec="seconds"))
            write_whole(str(self._path), msgspec.json.encode(timed))
        except OSError as error:
            self.warning = f"this setup is not kept for --resume ({self._path}: {error.strerror or error})"


def kept_of(setup: Setup) -> Kept:
    """What is worth keeping of a setup; once all is done, its invitation is of no more use."""
    evidence = setup.evidence
    test = evidence.test or evidence.earlier
    return Kept(
        SCHEMA,
        "",
        setup.choices,
        tuple(KeptStage(one.id, one.state, one.reason, one.told) for one in setup.stages),
        None if setup.proved else setup.invitation,
        setup.applied,
        evidence.use if evidence.test else evidence.before,
        replace(test, log=()) if test and test.passed else None,
        setup.hits,
    )


def read(path: Path, now: Clock = _now) -> Kept:
    """What was kept; NcclcheckError where there is nothing, or nothing that this version can read."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise NcclcheckError("no setup was begun on this machine", place=str(path), next_step=_BEGIN) from None
    except OSError as error:
        raise NcclcheckError(f"cannot be read: {error.strerror}", place=str(path), next_step=_BEGIN) from error
    try:
        kept = msgspec.json.decode(content, type=Kept)
        age = now() - datetime.fromisoformat(kept.time)
    except (msgspec.DecodeError, ValueError, TypeError) as error:
        raise NcclcheckError(f"is no setup of this version: {error}", place=str(path), next_step=_BEGIN) from error
    if kept.schema != SCHEMA:
        raise NcclcheckError(f"was kept by another ncclcheck (schema {kept.schema})", place=str(path), next_step=_BEGIN)
    return kept if age < TOKEN_AGE else replace(kept, invitation=None)


def restored(kept: Kept, guides: Guides) -> Setup:
    """The setup as far as it was, with everything that can be looked at still to be looked at again."""
    fresh = of_choices(kept.choices, guides)
    then = {one.id: one for one in kept.stages}
    return replace(
        fresh,
        stages=tuple(_restored(stage, then.get(stage.id)) for stage in fresh.stages),
        evidence=replace(fresh.evidence, earlier=kept.test, before=kept.use),
        invitation=kept.invitation,
        applied=kept.applied,
        hits=kept.hits,
    )


def _restored(stage: Stage, then: KeptStage | None) -> Stage:
    if then is None:
        return stage
    left_out = then.state is State.SKIPPED
    # That the command lines were given proves nothing now.
    told = then.told and not stage.id.endswith("/command")
    return replace(stage, told=told, reason=then.reason, state=State.SKIPPED if left_out else State.WAITING)
