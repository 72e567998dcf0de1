"""NCCL's version numbers: reading them, comparing them (pure)."""

from __future__ import annotations

import re

NEWEST = "2.32.3"
"""The newest release whose behaviour was measured; taken where the version is unknown."""

_NUMBERS = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")


def numbers(version: str) -> tuple[int, int, int]:
    """``2.29.7+cuda12.9`` as (2, 29, 7); text without numbers counts as the newest release."""
    found = _NUMBERS.search(version) or _NUMBERS.search(NEWEST)
    assert found is not None
    major, minor, patch = found.groups(default="0")
    return int(major), int(minor), int(patch)


def since(version: str, *first: int) -> bool:
    """Whether the version is the given one or newer: ``since("2.28.9", 2, 28, 3)``."""
    return numbers(version) >= (*first, *(0,) * (3 - len(first)))


def from_code(code: int) -> str:
    """What ncclGetVersion returns, as text: 22907 is 2.29.7, and 2804 is 2.8.4 (nccl.h, NCCL_VERSION)."""
    if code < 10000:
        return f"{code // 1000}.{code // 100 % 10}.{code % 100}"
    return f"{code // 10000}.{code // 100 % 100}.{code % 100}"
