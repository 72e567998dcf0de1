"""What started the job, by the traces that a launcher leaves in a log (``rules/launchers.toml``). Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import regex

_SAMPLE = 5000
"""Lines looked at: a launcher shows itself at the beginning, or on every line."""
_LONGEST = 2000


@dataclass(frozen=True)
class Launcher:
    """A launcher, and how it passes a setting on."""

    name: str
    mark: str
    commands: tuple[str, ...]
    source: str

    @cached_property
    def pattern(self) -> regex.Pattern[str]:
        """The mark, compiled when a log is first read."""
        return regex.compile(self.mark)


class LauncherReader:
    """Looks for the first launcher of the list that shows itself."""

    def __init__(self, launchers: Sequence[Launcher]) -> None:
        self._left = list(launchers)
        self._lines = 0
        self.found: Launcher | None = None

    def take(self, line: str) -> None:
        """Look at one line, for what would come before what was found already."""
        self._lines += 1
        if self._lines > _SAMPLE or not self._left:
            return
        for number, launcher in enumerate(self._left):
            if launcher.pattern.search(line, 0, _LONGEST):
                self.found, self._left = launcher, self._left[:number]
                return
