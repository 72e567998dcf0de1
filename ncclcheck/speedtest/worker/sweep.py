"""All patterns at all sizes, within their time."""

from __future__ import annotations

import time
from dataclasses import dataclass

from .rounds import enough, figures, next_count, quantile
from .watch import Watch
from .wire import Wire, counted
from .words import BOTH_WAYS, ONE_WAY, Asked, bytes_words

NEWS = 0.25
"""Seconds between two events about rounds."""
_TELLING = 65536
"""Bytes from which on a round's time is bandwidth rather than latency, so that larger ones can be foretold."""
_ENDING = 0.05
"""Share of the limit that is kept for the end."""


@dataclass(frozen=True)
class Cell:
    """One pattern at one size, and until when it may be measured."""

    pattern: str
    size: int
    soft: float
    """Of the clock: when it is time for the next one."""
    hard: float
    """When even the fewest rounds are not waited for."""


def patterns_of(asked: Asked) -> tuple[str, ...]:
    """Those that this many ranks can do."""
    return tuple(one for one in asked.patterns if asked.ranks > 1 or one not in (ONE_WAY, BOTH_WAYS))


class Sweep:
    """Goes through them, with the same decisions on every rank, and tells what it finds."""

    def __init__(self, wire: Wire, watch: Watch) -> None:
        self._wire, self._watch, self._asked = wire, watch, watch.asked
        now = time.monotonic()
        self._last = watch.deadline - max(1.0, _ENDING * watch.asked.limit)
        self._until = min(now + watch.asked.seconds, self._last)
        self._said = 0.0
        self._verified = True

    def run(self) -> bool:
        """Measure all; whether every payload was right."""
        patterns, sizes = patterns_of(self._asked), self._asked.sizes
        for number, pattern in enumerate(patterns):
            rate: float | None = None
            for position, size in enumerate(sizes):
                cells = len(sizes) * (len(patterns) - number) - position
                cell = self._cell(pattern, size, cells, len(patterns) - number)
                if rate is None or not self._skip(cell, rate):
                    rate = self._measure(cell)
        return self._verified

    def _cell(self, pattern: str, size: int, cells: int, patterns: int) -> Cell:
        """With its share of the time; what a size leaves over is for those that follow."""
        now = time.monotonic()
        soft = now + max(0.0, self._until - now) / cells
        return Cell(pattern, counted(pattern, size, self._asked.ranks), soft, now + (self._last - now) / patterns)

    def _skip(self, cell: Cell, rate: float) -> bool:
        """Leave out what cannot be done in time, going by the size before."""
        needed, left = cell.size / rate, cell.hard - time.monotonic()
        late = self._wire.agree([float(needed > left)])[0]
        if not late:
            return False
        why = f"a round would take about {needed:.0f} s of {max(0.0, left):.0f} s that are left for it; raise --limit"
        self._watch.voice.say("skipped", pattern=cell.pattern, size=cell.size, reason=why)
        return True

    def _measure(self, cell: Cell) -> float | None:
        """Measure one; bytes a second of its best round, or ``None`` where that says nothing of larger ones."""
        self._watch.stage = f"measuring {cell.pattern}, {bytes_words(cell.size)}"
        self._wire.warm(cell.pattern, cell.size)
        seconds: list[float] = []
        right, over = True, False
        while not over:
            count = next_count(seconds, self._wire.fits(cell.size))
            own, good = self._wire.rounds(cell.pattern, cell.size, count)
            now = time.monotonic()
            # Agreed upon once for all these rounds; then every rank decides the same.
            *slowest, wrong, soft, hard = self._wire.agree([*own, not good, now > cell.soft, now > cell.hard])
            seconds += slowest
            right = right and not wrong
            over = enough(seconds, bool(soft), bool(hard))
            self._news(cell, seconds)
        self._result(cell, seconds, right)
        return cell.size / min(seconds) if cell.size >= _TELLING else None

    def _news(self, cell: Cell, seconds: list[float]) -> None:
        now = time.monotonic()
        if now - self._said < NEWS:
            return
        self._said = now
        median = quantile(seconds, 0.5)
        self._watch.voice.say(
            "round", pattern=cell.pattern, size=cell.size, number=len(seconds), median=median,
            algbw=cell.size / median / 1e9, left=max(0.0, self._until - now),
        )  # fmt: skip

    def _result(self, cell: Cell, seconds: list[float], right: bool) -> None:
        self._verified = self._verified and right
        worked_out = figures(cell.pattern, cell.size, self._asked.ranks, seconds)
        self._watch.voice.say(
            "result", pattern=cell.pattern, size=cell.size, ranks=self._asked.ranks,
            seconds=[round(second, 9) for second in seconds], verified=right, **worked_out,
        )  # fmt: skip
