"""NCCL's own messages, all of them: what a line means for which no shape was written.

Pure. Entries are printf formats as NCCL's source has them, with the versions that print them. The catalogue is asked
only for warnings that nothing else knows, and for single lines that somebody wants explained.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import regex

from ncclcheck.logs.events import PATTERN_LIMIT
from ncclcheck.logs.versions import Version, version_of

_PLACE = re.compile(r"%[-+ #0-9.*]*(?:hh|h|ll|l|z)?([a-zA-Z])|\{[\w,:. ]+\}")
_PATTERNS = {
    **dict.fromkeys("diu", r"-?\d+"),
    **dict.fromkeys("xXp", r"(?:0x)?[0-9a-fA-F]+"),
    **dict.fromkeys("feg", r"-?[\d.]+(?:e[-+]?\d+)?"),
}
_SHORTEST_LITERAL = 5
_LONGEST_TEXT = 1500


@dataclass(frozen=True)
class Message:
    """One message of NCCL, for a range of versions."""

    format: str
    level: str
    category: str
    severity: str
    """ok, info, hint, warning, error or fatal, for the rank that prints it."""
    first: str
    """First release that has it."""
    last: str
    """Last release that has it, of those looked at (2.32.3)."""
    meaning: str = ""
    cause: str = ""
    """What usually leads to it, or what to do."""

    @property
    def literals(self) -> tuple[str, ...]:
        """The fixed parts of the text."""
        pieces = re.split(r"%[-+ #0-9.*]*(?:hh|h|ll|l|z)?[a-zA-Z]|\{[\w,:. ]+\}", self.format)
        return tuple(piece for piece in pieces if piece)

    @cached_property
    def pattern(self) -> regex.Pattern[str]:
        """The format as a pattern over a whole message."""
        parts, end = [], 0
        for place in _PLACE.finditer(self.format):
            parts += [re.escape(self.format[end : place.start()]), _PATTERNS.get(place[1] or "", ".*?")]
            end = place.end()
        return regex.compile("".join((*parts, re.escape(self.format[end:]))) + r"\s*$")

    def printed_by(self, version: Version | None) -> bool:
        """Whether that version has it; an unknown version may."""
        first, last = version_of(self.first), version_of(self.last)
        return version is None or first is None or last is None or first <= version <= last


class Catalogue:
    """All messages by their longest fixed part."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.all = tuple(messages)
        self._by_literal: dict[str, list[Message]] = {}
        for message in self.all:
            longest = max(message.literals, key=len, default="")
            if len(longest.strip()) >= _SHORTEST_LITERAL:
                self._by_literal.setdefault(longest, []).append(message)

    def find(self, text: str, nccl: str | None = None) -> Message | None:
        """The message that the text is, the one with the most fixed text where several fit; None where none does."""
        text, version = text[:_LONGEST_TEXT], version_of(nccl)
        candidates = (message for literal, group in self._by_literal.items() if literal in text for message in group)
        fitting = [message for message in candidates if _fits(message, text)]
        ranked = sorted(fitting, key=lambda m: (m.printed_by(version), sum(map(len, m.literals)), bool(m.meaning)))
        return ranked[-1] if ranked else None


def _fits(message: Message, text: str) -> bool:
    try:
        return message.pattern.search(text, timeout=PATTERN_LIMIT) is not None
    except TimeoutError:
        return False
