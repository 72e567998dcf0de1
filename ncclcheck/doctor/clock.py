"""The time of day in a log line, whoever put it there: NCCL, the container's runtime, a logging library. Pure.

NCCL itself has one from 2.26 on, by default only in warnings (NCCL_DEBUG_TIMESTAMP_LEVELS, _FORMAT).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_CLOCK = re.compile(r"(?<![\d:.])([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?![\d:])(?:[.,](\d{1,9}))?")
"""Not within an address or a bus id: those have more parts."""
_HEAD = 200
"""Characters in which it stands; further on it is part of a message."""
_DAY = 86400


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day, without the day: many formats leave it out."""

    text: str
    """To the second."""
    seconds: float

    def after(self, earlier: Clock) -> float:
        """Seconds since then, less than a day."""
        return (self.seconds - earlier.seconds) % _DAY


def clock_of(line: str) -> Clock | None:
    """The time of day in a line; None where it has none."""
    found = _CLOCK.search(line, 0, _HEAD)
    if found is None:
        return None
    hours, minutes, seconds, fraction = found.groups()
    whole = int(hours) * 3600 + int(minutes) * 60 + int(seconds)
    return Clock(f"{hours}:{minutes}:{seconds}", whole + float(f"0.{fraction or 0}"))
