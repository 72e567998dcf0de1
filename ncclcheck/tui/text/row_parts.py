"""Parts of a log line that stand out or stand back: the launcher's prefix, NCCL's warnings, what is sought. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from functools import lru_cache

from rich.cells import cell_len

from ncclcheck.logs.wrappers import peel

_WARN = re.compile(r"NCCL WARN")
_LONGEST = 2048
"""Characters in which anything is looked for."""


class Part(Enum):
    """What a part is."""

    PREFIX = "prefix"
    WARN = "warn"
    HIT = "hit"


Parts = Iterator[tuple[Part, int, int]]


def parts(raw: str, shown: str, word: str = "") -> Parts:
    """Each part with its begin and end in the text as it is shown; the later ones stand out from the earlier ones."""
    # Only in a line that is shown as it is do the places agree.
    if raw.startswith(shown):
        if end := min(_prefix(raw[:_LONGEST]), len(shown)):
            yield Part.PREFIX, 0, end
        yield from ((Part.WARN, *match.span()) for match in _WARN.finditer(shown, 0, _LONGEST))
    if word:
        yield from ((Part.HIT, *match.span()) for match in _pattern(word).finditer(shown))


@lru_cache(maxsize=4)
def _pattern(word: str) -> re.Pattern[str]:
    return re.compile(re.escape(word), re.IGNORECASE if word == word.lower() else 0)


def _prefix(line: str) -> int:
    """Characters of the wrappers in front of what the program printed."""
    text = peel(line).text
    return len(line) - len(text) if line.endswith(text) else 0


def cells(text: str) -> int:
    """How wide a row is, at most: measuring a long one exactly would take too long, and nothing is wider than two."""
    return len(text) if text.isascii() else cell_len(text) if len(text) < _LONGEST else 2 * len(text)
