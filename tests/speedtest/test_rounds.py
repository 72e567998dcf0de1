"""How many rounds, and what they come to."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncclcheck.model import Pattern, Speed
from ncclcheck.speedtest.worker import rounds
from ncclcheck.speedtest.worker.rounds import MOST, bus_factor, enough, figures, next_count, precise

TIMES = st.lists(st.floats(1e-6, 100.0), min_size=1, max_size=50)


@given(TIMES, st.floats(0, 1), st.sampled_from(Pattern), st.integers(1, 64))
def test_worker_and_model_count_alike(seconds, share, pattern, ranks):
    speed = Speed(pattern, 1000, tuple(seconds), True, ranks)
    assert rounds.quantile(seconds, share) == speed.quantile(share)
    found = figures(pattern.value, 1000, ranks, seconds)
    assert found == {
        "min": min(seconds),
        "median": speed.median,
        "p99": speed.quantile(0.99),
        "algbw": speed.algbw,
        "busbw": speed.busbw,
    }


@pytest.mark.parametrize(
    ("pattern", "ranks", "factor"),
    [
        ("one way", 8, 1.0),
        ("both ways", 8, 1.0),
        ("all gather", 8, 7 / 8),
        ("all reduce", 8, 7 / 4),
        ("all reduce", 2, 1),
    ],
)
def test_bus_bandwidth_as_nccl_tests_define_it(pattern, ranks, factor):
    assert bus_factor(pattern, ranks) == factor


def test_even_rounds_are_soon_enough():
    assert not enough([1.0] * 4, soft=True, hard=False)
    assert enough([1.0] * 5, soft=False, hard=False)


def test_uneven_rounds_go_on_until_their_time_is_used():
    uneven = [1.0, 1.2, 0.9, 1.1, 1.3, 0.8]
    assert not enough(uneven, soft=False, hard=False)
    assert enough(uneven, soft=True, hard=False)


def test_a_slow_link_gets_fewer_rounds_and_any_link_at_most_a_thousand():
    assert enough([80.0], soft=True, hard=True)
    assert enough([1.0, 2.0] * (MOST // 2), soft=False, hard=False)


def test_the_interval_of_the_median_holds_what_it_promises():
    dice, hits = random.Random(7), 0
    for _ in range(200):
        found = []
        while not precise(found := [*found, *(dice.gauss(1.0, 0.1) for _ in range(20))]):
            pass
        hits += abs(rounds.quantile(found, 0.5) - 1.0) <= rounds.PRECISE
    assert hits >= 180


@pytest.mark.parametrize(
    ("seconds", "places", "count"),
    [
        ([], 100, 1),
        ([1e-4], 1000, 64),
        ([1e-4], 7, 7),
        ([0.02], 100, 2),
        ([3.0], 100, 1),
        ([1e-4] * 990, 1000, 10),
    ],
)
def test_short_rounds_are_agreed_upon_together(seconds, places, count):
    assert next_count(seconds, places) == count
