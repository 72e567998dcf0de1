"""Paths under another root folder, such as that of a container seen from outside."""

from __future__ import annotations

import os
from pathlib import Path

_MOST_LINKS = 40
"""As the kernel allows (path_resolution(7))."""


def inside(root: Path, path: str) -> Path:
    """Where a path of that root lies for us: links in it lead to places of that root, never of ours."""
    waiting = [part for part in reversed(path.split("/")) if part not in ("", ".")]
    reached: list[str] = []
    links = 0
    while waiting:
        part = waiting.pop()
        if part == "..":
            reached = reached[:-1]
            continue
        target = _target(root.joinpath(*reached, part)) if links < _MOST_LINKS else None
        if target is None:
            reached.append(part)
            continue
        links += 1
        reached = [] if target.startswith("/") else reached
        waiting += [step for step in reversed(target.split("/")) if step not in ("", ".")]
    return root.joinpath(*reached)


def _target(path: Path) -> str | None:
    try:
        return os.readlink(path)
    except OSError:
        return None
