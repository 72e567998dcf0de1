"""The settings that NCCL knows, from ``settings.toml`` beside this file."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

import tomli

from ncclcheck.node.version import numbers


@dataclass(frozen=True, slots=True)
class Known:
    """A setting: its type, and the versions that read it."""

    name: str
    type: str
    """int, bool, string, enum, bitset or unknown."""
    first: str
    last: str | None
    range: tuple[int, int] | None

    def read_by(self, nccl: str) -> bool:
        """Whether that version reads it."""
        return numbers(self.first) <= numbers(nccl) and not self.gone(nccl)

    def gone(self, nccl: str) -> bool:
        """Whether it was dropped before that version."""
        return self.last is not None and numbers(self.last) < numbers(nccl)


@lru_cache(maxsize=1)
def catalogue() -> Mapping[str, Known]:
    """All settings by name."""
    tree = _tree()
    return {name: _known(name, text, tree["ranges"].get(name)) for name, text in tree["settings"].items()}


def _known(name: str, text: str, bounds: list[int] | None) -> Known:
    type_, first, *last = text.split()
    # The oldest release in the source history stands for all before it.
    return Known(
        name=name,
        type=type_,
        first="2.0" if first == "2.3.5" else first,
        last=last[0] if last else None,
        range=(bounds[0], bounds[1]) if bounds else None,
    )


@lru_cache(maxsize=1)
def _tree() -> dict[str, Any]:
    text = (resources.files("ncclcheck.node") / "settings.toml").read_text(encoding="utf-8")
    tree: dict[str, Any] = tomli.loads(text)
    return tree


def nearest(name: str) -> str | None:
    """The setting that somebody who wrote this name will have meant; ``None`` where it is right, or like none."""
    elsewhere = _tree()["elsewhere"]["names"]
    if name in catalogue() or name in elsewhere:
        return None
    upper = name.upper()
    if upper in catalogue():
        return upper
    found = difflib.get_close_matches(upper, [known for known in catalogue() if _alike(upper, known)], n=1, cutoff=0.8)
    return found[0] if found else None


def _alike(name: str, known: str) -> bool:
    """Whether one is the other misspelt: letter for letter but for the underscores, or word for word nearly the same.

    Names that share most letters may mean quite different things: NCCL_TIMEOUT is not NCCL_IB_TIMEOUT.
    """
    if name.replace("_", "") == known.replace("_", ""):
        return True
    words, others = name.strip("_").split("_"), known.split("_")
    return len(words) == len(others) and all(map(_near, words, others))


def _near(word: str, other: str) -> bool:
    return difflib.SequenceMatcher(None, word, other).ratio() >= 0.75
