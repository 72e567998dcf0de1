"""Better or worse? By the spread of the rounds, not by one number. Pure.

A median's interval is that between two of its own rounds, with at least 95 % by the binomial distribution and without
any assumption about how rounds spread (David and Nagaraja, Order Statistics, 7.1). Two runs differ where the intervals
do not overlap and the medians are at least 3 % apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

from ncclcheck.model import Pattern, Speed, SpeedTest, Trend

FEWEST = 5
"""Rounds; the interval of five is their whole range, which holds the median with 93.75 %."""
NOTABLE = 0.03
_SURE = 0.95


@dataclass(frozen=True, slots=True)
class Change:
    """One pattern at one size, in two runs."""

    pattern: Pattern
    size: int
    before: float | None
    """GB/s of bus bandwidth; ``None`` where that run did not measure it."""
    after: float | None
    trend: Trend


def trend(before: SpeedTest, after: SpeedTest) -> tuple[Change, ...]:
    """How each pattern and size changed, in the order of the second run, and then what only the first one has."""
    earlier, later = _by_place(before), _by_place(after)
    return tuple(_change(place, earlier.get(place), later.get(place)) for place in {**later, **earlier})


def overall(before: SpeedTest, after: SpeedTest) -> Trend:
    """The one answer: whether it passes at all, and then the largest common size of each pattern."""
    if before.passed != after.passed:
        return Trend.BETTER if after.passed else Trend.WORSE
    both = [one for one in trend(before, after) if one.before is not None and one.after is not None]
    largest = {change.pattern: change for change in sorted(both, key=lambda one: one.size)}
    seen = {change.trend for change in largest.values()} - {Trend.UNKNOWN}
    if not seen or {Trend.BETTER, Trend.WORSE} <= seen:
        return Trend.UNKNOWN
    return next((one for one in (Trend.BETTER, Trend.WORSE) if one in seen), Trend.SAME)


def interval(seconds: tuple[float, ...]) -> tuple[float, float]:
    """Where the median lies with 95 %; the whole range where there are too few rounds for that."""
    ordered, count = sorted(seconds), len(seconds)
    outside, cut = 2 * 0.5**count, 0
    while cut + 1 < (count + 1) // 2 and outside + 2 * comb(count, cut + 1) * 0.5**count <= 1 - _SURE:
        cut += 1
        outside += 2 * comb(count, cut) * 0.5**count
    return ordered[cut], ordered[count - 1 - cut]


def _by_place(test: SpeedTest) -> dict[tuple[Pattern, int], Speed]:
    return {(one.pattern, one.size): one for one in test.speeds if one.seconds and one.median > 0}


def _change(place: tuple[Pattern, int], before: Speed | None, after: Speed | None) -> Change:
    rates = (before.busbw if before else None, after.busbw if after else None)
    return Change(*place, *rates, _trend(before, after))


def _trend(before: Speed | None, after: Speed | None) -> Trend:
    if not before or not after or before.ranks != after.ranks or not (before.verified and after.verified):
        return Trend.UNKNOWN
    if min(len(before.seconds), len(after.seconds)) < FEWEST:
        return Trend.UNKNOWN
    (quickest, slowest), (quicker, slower) = interval(before.seconds), interval(after.seconds)
    apart = slower < quickest or quicker > slowest
    if not apart or abs(after.median / before.median - 1) < NOTABLE:
        return Trend.SAME
    return Trend.BETTER if after.median < before.median else Trend.WORSE
