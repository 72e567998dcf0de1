"""What was applied on this machine, so that the last change can be undone later.

Kept in the XDG state folder (XDG Base Directory Specification), newest last.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from ncclcheck.errors import ApplyError
from ncclcheck.fixes.apply import read, replace
from ncclcheck.model import Applied
from ncclcheck.state_folder import state_folder

Batches = tuple[tuple[Applied, ...], ...]

_KEPT = 50


def path_in(env: Mapping[str, str]) -> str:
    """The file that keeps the record."""
    return str(state_folder(env) / "applied.json")


def load(path: str) -> Batches:
    """All batches, oldest first; ApplyError where the record is damaged."""
    content = read(path)
    if content is None:
        return ()
    try:
        return msgspec.json.decode(content, type=Batches)
    except msgspec.DecodeError as error:
        raise ApplyError(
            f"the record is damaged: {error}", place=path, next_step="Move it away and try again"
        ) from error


def push(path: str, applied: tuple[Applied, ...]) -> None:
    """Add a batch."""
    _save(path, (*load(path), applied)[-_KEPT:])


def forget(path: str, applied: tuple[Applied, ...]) -> None:
    """Drop a batch that was undone."""
    batches = load(path)
    if applied in batches:
        _save(path, tuple(batch for batch in batches if batch != applied))


def _save(path: str, batches: Batches) -> None:
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ApplyError(f"the record cannot be kept: {error.strerror}", place=path) from error
    replace(path, msgspec.json.encode(batches))
