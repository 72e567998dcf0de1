"""Text from strangers, made safe for Markdown as issue trackers read it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ncclcheck.printable import printable

_MARKUP = re.compile(r"[\\`*\[\]<>|~&]|(?<!\w)_|_(?!\w)")
_CALLS = re.compile(r"(?<=[@#])(?=\w)|(?<=://)")
_TICKS = re.compile(r"`+")


def text_of(text: str) -> str:
    """Text of strangers within a paragraph: no markup, no HTML, no mention, no link, no line end."""
    plain = " ".join(printable(text).split())
    # A zero-width space breaks what an issue tracker would turn into a mention or a link.
    return _CALLS.sub("\u200b", _MARKUP.sub(lambda match: f"\\{match[0]}", plain))


def fence(lines: Iterable[str], language: str = "text") -> str:
    """Lines of strangers as a block, fenced by more backticks than any of them holds."""
    body = "\n".join(printable(line).replace("\n", " ") for line in lines)
    longest = max(map(len, _TICKS.findall(body)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{body}\n{ticks}"
