"""The steps of a pairing as plain values and back, nothing lost: how one ncclcheck tells another what happens. Pure."""

from __future__ import annotations

from typing import Any, TypeVar, get_args

import msgspec

from ncclcheck.doctor.conclude import of_sides
from ncclcheck.doctor.steps import Concluded, Step
from ncclcheck.errors import PeerError
from ncclcheck.model import Facts, Sides

T = TypeVar("T")

_KINDS: dict[str, type[Step]] = {kind.__name__.lower(): kind for kind in get_args(Step)}
_NAME = "step"


def encoded(step: Step) -> dict[str, Any]:
    """A step with its name; a conclusion as what it rests on, since everybody draws the same one from that."""
    name = {_NAME: type(step).__name__.lower()}
    if isinstance(step, Concluded):
        known = step.conclusion
        return name | {"nodes": msgspec.to_builtins(known.nodes), "sides": msgspec.to_builtins(known.sides)}
    return name | dict(msgspec.to_builtins(step))


def decoded(values: dict[str, Any]) -> Step:
    """The step; PeerError for what is none, be it of another shape or of a kind that this version does not know."""
    kind = _KINDS.get(str(values.get(_NAME)))
    if kind is None:
        raise _unreadable(f"{values.get(_NAME)!r} is no step that this version knows")
    if kind is Concluded:
        nodes = _converted(values.get("nodes"), tuple[Facts, ...])
        return Concluded(of_sides(nodes, _converted(values.get("sides"), Sides)))
    # Steps are plain frozen values; their converter refuses whatever has another shape.
    return _converted(values, kind)


def _converted(values: Any, kind: type[T]) -> T:
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        raise _unreadable(str(error)) from error


def _unreadable(problem: str) -> PeerError:
    return PeerError(
        f"a step came that this version cannot read ({problem})",
        place="pair",
        next_step="Use the same version of ncclcheck on both nodes.",
    )
