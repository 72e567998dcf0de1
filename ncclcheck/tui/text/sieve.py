"""What a person looks for in a text: a pattern that was typed, or the lines of some ranks. Pure.

A sieve asks twice: a cheap question of a whole block of lines, and an exact one of each line that may be meant. The
module ``regex`` lets other threads run meanwhile, and stops a pattern that takes too long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import regex

    Compiled: TypeAlias = "regex.Pattern[str]"

LIMIT = 0.25
"""Seconds that a pattern may take for one block or one line."""


@dataclass(frozen=True, slots=True)
class Sieve:
    """Which lines are meant."""

    find: Callable[[str, int], int]
    """From some offset on, where in a text of several lines the next may be; -1 where there is none."""
    accepts: Callable[[str], bool] | None = None
    """Whether a line is meant; None where the first question was exact."""

    def hits(self, text: str) -> Iterator[int]:
        """The lines that are meant, counted from 0. Raises TimeoutError for a pattern that takes too long."""
        line = at = 0
        while at < len(text) and (found := self.find(text, at)) >= 0:
            begin = max(at, text.rfind("\n", at, found) + 1)
            if begin >= len(text):
                return
            line += text.count("\n", at, begin)
            end = text.find("\n", begin)
            end = len(text) if end < 0 else end
            if self.accepts is None or self.accepts(text[begin:end]):
                yield line
            line, at = line + 1, end + 1


EVERY = Sieve(lambda text, at: at)


class Search:
    """What somebody typed. A worker finds out what it means, since a pattern may take long to compile."""

    def __init__(self, text: str, *, because: str = "") -> None:
        self.text = text
        self.because = because
        """Why it is taken letter by letter though it may not have been meant so."""
        self.plain: bool | None = None
        """Whether it is taken letter by letter; None until that is known."""

    def sieve_for(self, source: str) -> Sieve:
        """Finds it, as a regular expression where it is one, else by its letters; small ones mean capital ones too."""
        import regex

        case = regex.MULTILINE | (regex.IGNORECASE if self.text == self.text.lower() else 0)
        literally = regex.escape(self.text, special_only=True)
        pattern = None
        if literally != self.text and not self.because:
            try:
                pattern = regex.compile(self.text, case)
            except regex.error:
                self.because = "no regular expression"
        self.plain = pattern is None
        if pattern is None:
            return gated(regex.compile(literally, case))
        expression = pattern
        return gated(expression, lambda line: bool(expression.search(line, timeout=LIMIT)))


def gated(gate: Compiled, accepts: Callable[[str], bool] | None = None) -> Sieve:
    """Lines that a pattern may be in, and another question."""

    def find(text: str, at: int) -> int:
        found = gate.search(text, at, timeout=LIMIT)
        return -1 if found is None else found.start()

    return Sieve(find, accepts)
