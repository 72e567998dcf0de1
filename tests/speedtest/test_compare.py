"""Better or worse by the spread of the rounds."""

from __future__ import annotations

import random
from dataclasses import replace
from statistics import median

import pytest

from ncclcheck.model import Pattern, Speed, SpeedTest, Trend
from ncclcheck.speedtest.compare import Change, interval, overall, trend

STEADY = (1.00, 1.01, 0.99, 1.02, 0.98)


def run_of(*rounds: float, size: int = 1000, pattern: Pattern = Pattern.ONE_WAY, **more: object) -> SpeedTest:
    """A run with one figure."""
    speed = replace(Speed(pattern, size, rounds, True), **more)  # type: ignore[arg-type]
    return SpeedTest("gloo", "eth1", (speed,))


def times(factor: float) -> SpeedTest:
    return run_of(*(factor * second for second in STEADY))


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        (times(1), times(0.5), Trend.BETTER),
        (times(1), times(2), Trend.WORSE),
        (times(1), times(1), Trend.SAME),
        # Apart, and not worth a word.
        (run_of(*[1.0] * 6), run_of(*[0.98] * 6), Trend.SAME),
        (run_of(*[1.0] * 6), run_of(*[0.96] * 6), Trend.BETTER),
        # Medians far apart, and rounds that scatter as far.
        (run_of(0.5, 0.8, 1.0, 1.5, 3.0), run_of(0.4, 0.6, 0.7, 1.2, 2.0), Trend.SAME),
        # One slow round in many is no change.
        (run_of(*[1.0] * 20), run_of(*[1.0] * 19, 9.0), Trend.SAME),
        (run_of(*STEADY[:4]), times(0.5), Trend.UNKNOWN),
        (times(1), run_of(0.1), Trend.UNKNOWN),
        (times(1), run_of(*STEADY, verified=False), Trend.UNKNOWN),
        (times(1), run_of(*STEADY, ranks=4), Trend.UNKNOWN),
    ],
)
def test_one_figure(before, after, wanted):
    (change,) = trend(before, after)
    assert change.trend is wanted
    assert change.before == pytest.approx(before.speeds[0].busbw)
    assert change.after == pytest.approx(after.speeds[0].busbw)


def test_what_only_one_run_has():
    before, after = run_of(*STEADY, size=8), run_of(*STEADY, size=16)
    assert trend(before, after) == (
        Change(Pattern.ONE_WAY, 16, None, after.speeds[0].busbw, Trend.UNKNOWN),
        Change(Pattern.ONE_WAY, 8, before.speeds[0].busbw, None, Trend.UNKNOWN),
    )
    assert overall(before, after) is Trend.UNKNOWN
    assert trend(SpeedTest("gloo", None), SpeedTest("gloo", None)) == ()
    assert trend(run_of(), run_of(0.0)) == ()


def both(first: float, second: float) -> SpeedTest:
    """Two patterns, with a small size that says otherwise."""
    small = times(1 / first).speeds[0]
    way = times(first).speeds[0]
    reduce = times(second).speeds[0]
    speeds = (replace(small, size=8), way, replace(reduce, pattern=Pattern.ALL_REDUCE))
    return SpeedTest("gloo", "eth1", speeds)


@pytest.mark.parametrize(
    ("after", "wanted"),
    [
        (both(0.5, 0.5), Trend.BETTER),
        (both(0.5, 1), Trend.BETTER),
        (both(2, 1), Trend.WORSE),
        (both(1, 1), Trend.SAME),
        (both(2, 0.5), Trend.UNKNOWN),
        (SpeedTest("gloo", "eth1", failure="refused"), Trend.WORSE),
        (replace(both(0.5, 0.5), failure="it died"), Trend.WORSE),
    ],
)
def test_the_one_answer(after, wanted):
    assert overall(both(1, 1), after) is wanted


def test_a_fix_that_made_it_pass():
    failed = SpeedTest("gloo", "eth0", failure="refused")
    assert overall(failed, times(1)) is Trend.BETTER
    assert overall(failed, failed) is Trend.UNKNOWN


@pytest.mark.parametrize(
    ("count", "places"),
    [(1, (0, 0)), (2, (0, 1)), (5, (0, 4)), (6, (0, 5)), (9, (1, 7)), (20, (5, 14)), (100, (39, 60))],
)
def test_the_interval_by_the_tables(count, places):
    """Ranks of the usual tables (Conover, Practical Nonparametric Statistics, 3.2)."""
    assert interval(tuple(float(number) for number in reversed(range(count)))) == places


def test_the_interval_holds_the_median_as_often_as_it_says():
    source = random.Random(6)
    for count in (6, 11, 20):
        held = 0
        for _ in range(2000):
            low, high = interval(tuple(source.lognormvariate(0, 1) for _ in range(count)))
            held += low <= 1.0 <= high
        assert held / 2000 > 0.94


def test_equal_sources_are_rarely_called_different():
    source = random.Random(7)
    wrong = 0
    for _ in range(1000):
        before, after = (run_of(*(source.gauss(1, 0.1) for _ in range(10))) for _ in range(2))
        wrong += trend(before, after)[0].trend is not Trend.SAME
    assert wrong < 30
    assert median(before.speeds[0].seconds) == before.speeds[0].median
