"""A setup as lines of JSON: what happens, how far each step is, and the whole of it at the end. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from ncclcheck.cli.sides_json import step_json
from ncclcheck.doctor.setup.state import Setup, Stage
from ncclcheck.doctor.setup.steps import Closed, Opened, SetupStep
from ncclcheck.doctor.steps import Step


def lines(before: Setup | None, step: SetupStep | Step, now: Setup) -> Iterator[dict[str, Any]]:
    """A step, and a line for each of the guide's steps that changed by it."""
    yield {**_step(step), **({"invite": now.invite} if type(step).__name__ == "Waiting" else {})}
    then = {one.id: one for one in before.stages} if before else {}
    yield from ({"step": "stage", **stage_json(one)} for one in now.stages if then.get(one.id) != one)


def _step(step: SetupStep | Step) -> dict[str, Any]:
    if isinstance(step, (Opened, Closed)):
        return {"step": type(step).__name__.lower(), **setup_json(step.setup)}
    if isinstance(step, SetupStep):
        return {"step": type(step).__name__.lower(), **dict(msgspec.to_builtins(step))}
    return step_json(step)


def stage_json(stage: Stage) -> dict[str, Any]:
    """How far one of the guide's steps is."""
    return dict(msgspec.to_builtins(stage))


def setup_json(setup: Setup) -> dict[str, Any]:
    """The whole of it, without what was only seen on the way."""
    evidence = setup.evidence
    return {
        "choices": msgspec.to_builtins(setup.choices),
        "stages": [stage_json(one) for one in setup.stages],
        "use": msgspec.to_builtins(evidence.use),
        "port": msgspec.to_builtins(evidence.port),
        "test": msgspec.to_builtins(evidence.test),
        "ddp": msgspec.to_builtins(evidence.ddp.ddp if evidence.ddp else None),
        "applied": msgspec.to_builtins(setup.applied),
        "commands": msgspec.to_builtins(setup.commands),
        "hits": msgspec.to_builtins(setup.hits),
        "done": setup.done,
    }
