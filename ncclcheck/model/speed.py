"""What was measured, and what it proves."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Direction(Enum):
    """Which way the bytes go."""

    ONE_WAY = "one way"
    BOTH_WAYS = "both ways"


@dataclass(frozen=True, slots=True)
class Speed:
    """One measured direction."""

    direction: Direction
    size: int
    """Bytes that each sender sends in a round."""
    seconds: tuple[float, ...]
    """Time of each round."""
    verified: bool
    """Whether every received payload had the right checksum."""

    @property
    def gigabytes_per_second(self) -> float:
        """Algorithm bandwidth of the median round, in GB/s (1e9 bytes a second; sendrecv of nccl-tests)."""
        ordered = sorted(self.seconds)
        middle = len(ordered) // 2
        median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
        return self.size / median / 1e9


@dataclass(frozen=True, slots=True)
class SpeedTest:
    """A run of the speed test, finished or not."""

    backend: str
    """``nccl`` or ``gloo``."""
    interface: str | None
    speeds: tuple[Speed, ...] = ()
    failure: str = ""
    """Why it did not finish; empty when it did."""
    log: tuple[str, ...] = ()
    """What the workers printed beside their figures."""

    @property
    def passed(self) -> bool:
        """Both directions measured, every payload right."""
        return not self.failure and len(self.speeds) == len(Direction) and all(speed.verified for speed in self.speeds)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The same test before and after a fix."""

    before: SpeedTest
    after: SpeedTest

    @property
    def proved(self) -> bool:
        """It failed before and passes now."""
        return not self.before.passed and self.after.passed
