"""Where this machine runs: signs of containers and providers, looked for as a table of the rules says.

The table is data (``rules/places.toml``); nothing is asked over the network.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import msgspec
import tomli

from ncclcheck.errors import RuleError
from ncclcheck.model import Hint

_LONGEST = 1 << 20


class Mark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One sign: a file, a variable or the host's name, with a pattern for its content."""

    file: str = ""
    env: str = ""
    host: str = ""
    """A pattern for the host's name."""
    pattern: str = ""


class Place(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A runtime or a provider, and the signs of it: one is enough."""

    name: str
    role: Literal["runtime", "provider"]
    mark: tuple[Mark, ...]


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    place: tuple[Place, ...]


def load(path: Path) -> tuple[Place, ...]:
    """The table; RuleError with file and key where it is broken."""
    try:
        places = msgspec.convert(tomli.loads(path.read_text(encoding="utf-8")), _Table).place
        for place in places:
            for mark in place.mark:
                _check(mark)
    except (OSError, ValueError, re.error, msgspec.ValidationError) as error:
        raise RuleError(str(error), place=str(path), next_step="Install ncclcheck again, or mend the file") from error
    return places


def _check(mark: Mark) -> None:
    re.compile(mark.host or mark.pattern)
    if sum(map(bool, (mark.file, mark.env, mark.host))) != 1:
        raise ValueError(f"a mark is one of file, env and host: {mark}")


def hints(places: tuple[Place, ...], root: Path, env: Mapping[str, str], host: str) -> tuple[Hint, ...]:
    """The places whose signs are here, with the evidence."""
    found = ((place, tuple(_evidence(place, root, env, host))) for place in places)
    return tuple(Hint(place.name, place.role, evidence) for place, evidence in found if evidence)


def _evidence(place: Place, root: Path, env: Mapping[str, str], host: str) -> Iterator[str]:
    for mark in place.mark:
        if mark.host and re.fullmatch(mark.host, host):
            yield f"the host is called {host}"
        elif mark.env in env and re.search(mark.pattern, env[mark.env]):
            yield f"{mark.env} is set"
        elif mark.file and _holds(root / mark.file.lstrip("/"), mark.pattern):
            yield f"{mark.file} " + (f"says “{mark.pattern}”" if mark.pattern else "exists")


def _holds(path: Path, pattern: str) -> bool:
    try:
        if not pattern:
            path.stat()
            return True
        with path.open("rb") as file:
            return re.search(pattern, file.read(_LONGEST).decode(errors="replace")) is not None
    except OSError:
        return False
