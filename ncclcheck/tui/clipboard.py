"""A copy that survives: terminals may drop what is sent to their clipboard, so the text is also saved in a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ncclcheck.errors import NcclcheckError


def folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Our folder for what is kept between runs (XDG Base Directory, ``XDG_STATE_HOME``)."""
    state = environment.get("XDG_STATE_HOME", "")
    return (Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state") / "ncclcheck"


def save(text: str, into: Path | None = None) -> str:
    """Write the text where it can be found again, readable by its owner only, and give the path."""
    path = (into or folder()) / "copied.txt"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise NcclcheckError(f"cannot be written: {error.strerror}", place=str(path)) from error
    return str(path)
