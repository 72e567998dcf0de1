"""How many rounds are enough, and what they come to. Pure."""

from __future__ import annotations

import math

from .words import ALL_GATHER, ALL_REDUCE

FEWEST, MOST = 5, 1000
PRECISE = 0.02
AT_ONCE = 64
"""Rounds between two agreements at most."""
_BATCH = 0.05
"""Seconds between two agreements, for rounds that are short."""


def quantile(seconds: list[float], share: float) -> float:
    """What this share of the rounds took at most, between rounds by interpolation."""
    ordered = sorted(seconds)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def precise(seconds: list[float]) -> bool:
    """Whether the median's 95 % interval, by order statistics, lies within 2 % on both sides of it."""
    ordered, count = sorted(seconds), len(seconds)
    reach = 0.98 * math.sqrt(count)
    low = ordered[max(0, math.floor(count / 2 - reach))]
    high = ordered[min(count - 1, math.ceil(count / 2 + reach) - 1)]
    median = quantile(ordered, 0.5)
    return median - low <= PRECISE * median >= high - median


def next_count(seconds: list[float], places: int) -> int:
    """Rounds until the next agreement: one at first, then as many as are short, so that agreeing costs little."""
    if not seconds:
        return 1
    wanted = int(_BATCH / max(quantile(seconds, 0.5), 1e-9))
    return max(1, min(wanted, places, AT_ONCE, MOST - len(seconds)))


def enough(seconds: list[float], soft: bool, hard: bool) -> bool:
    """Whether to stop: ``soft`` is past the time that this size should take, ``hard`` past what it may take."""
    if hard or len(seconds) >= MOST:
        return True
    return len(seconds) >= FEWEST and (soft or precise(seconds))


def bus_factor(pattern: str, ranks: int) -> float:
    """Of bus bandwidth to algorithm bandwidth (nccl-tests 2.19.6, PERFORMANCE.md)."""
    share = (ranks - 1) / ranks
    return {ALL_GATHER: share, ALL_REDUCE: 2 * share}.get(pattern, 1.0)


def figures(pattern: str, size: int, ranks: int, seconds: list[float]) -> dict[str, float]:
    """Seconds and GB/s of 1e9 bytes, by nccl-tests' definitions."""
    median = quantile(seconds, 0.5)
    rate = size / median / 1e9
    return {
        "min": min(seconds),
        "median": median,
        "p99": quantile(seconds, 0.99),
        "algbw": rate,
        "busbw": rate * bus_factor(pattern, ranks),
    }
