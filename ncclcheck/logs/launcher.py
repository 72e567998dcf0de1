"""What started the job, by the traces that a launcher leaves in a log (``rules/launchers.toml``). Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

_SAMPLE = 5000
"""Lines looked at: a launcher shows itself at the beginning, or on every line."""
_LONGEST = 2000


@dataclass(frozen=True)
class Launcher:
    """A launcher, and how it passes a setting on."""

    name: str
    words: tuple[str, ...]
    """Every line that the mark matches holds one of them."""
    mark: str
    commands: tuple[str, ...]
    """Lines to run or write; ``{settings}`` stands for all settings, ``{name}`` and ``{value}`` for each one."""
    source: str
    each: str = "{name}={value}"
    """One setting within ``{settings}``."""
    title: str = ""
    """As people call it, where that is not its name."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The mark, compiled when a log is first read."""
        return re.compile(self.mark)


class LauncherReader:
    """Looks for the first launcher of the list that shows itself."""

    def __init__(self, launchers: Sequence[Launcher]) -> None:
        self._left = list(launchers)
        self._words = self._all_words()
        self._lines = 0
        self.found: Launcher | None = None

    def take(self, line: str) -> None:
        """Look at one line, for what would come before what was found already."""
        self._lines += 1
        if self._lines <= _SAMPLE and self._may_show(line):
            for number, launcher in enumerate(self._left):
                if launcher.pattern.search(line, 0, _LONGEST):
                    self.found, self._left = launcher, self._left[:number]
                    self._words = self._all_words()
                    return

    def _may_show(self, line: str) -> bool:
        for word in self._words:  # noqa: SIM110, a generator costs more than all the searches
            if word in line:
                return True
        return False

    def _all_words(self) -> tuple[str, ...]:
        return tuple(word for launcher in self._left for word in launcher.words)
