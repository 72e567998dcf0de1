"""NCCL versions as numbers, and what changed with which."""

from __future__ import annotations

import re

Version = tuple[int, ...]

_DIGITS = re.compile(r"\d+")

INIT_START_BEFORE_BOOTSTRAP: Version = (2, 23)
"""From here on ``Init START`` is printed before the bootstrap, until then after it (init.cc)."""


def version_of(text: str | None) -> Version | None:
    """``2.18.6+cuda12.4`` → (2, 18, 6); None where there is no number."""
    numbers = _DIGITS.findall(text.partition("+")[0]) if text else []
    return tuple(map(int, numbers[:3])) if numbers else None


def at_least(text: str | None, floor: Version) -> bool | None:
    """Whether the version is the floor or newer; None while it is unknown."""
    version = version_of(text)
    return None if version is None else version >= floor
