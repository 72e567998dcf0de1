"""Over links of a known speed the test says that speed, and says the same as iperf3 or plain sockets beside it."""

import os
import subprocess
import sys
from contextlib import contextmanager

import pytest

from ncclcheck.lab import DOCKER_FIRST, built
from ncclcheck.model import SpeedTest
from ncclcheck.model.speed import Pattern
from ncclcheck.speedtest.plan import Side
from ncclcheck.speedtest.run import run

SHARED = "eth1"


@pytest.fixture(scope="module")
def nodes():
    with built(DOCKER_FIRST) as made:
        yield made


def on(node, *command):
    env = {**os.environ, **dict(node.env)}
    subprocess.run([*node.prefix, *command], env=env, check=True, timeout=10)


def measured(nodes, size, limit=120.0):
    """Large messages one way, in both nodes' words, with the baseline of the same run."""
    sides = [
        Side(
            ("10.0.0.11", 29500),
            size,
            rank,
            interface=SHARED,
            limit=limit,
            patterns=("one way",),
            sizes=(size,),
            seconds=1.5,
        )
        for rank in (0, 1)
    ]
    test = list(run(nodes, sides, sys.executable))[-1]
    assert isinstance(test, SpeedTest)
    assert (test.failure, test.passed, test.baseline.failure) == ("", True, "")
    assert test.baseline.interface == SHARED
    return test


@contextmanager
def shaped(nodes, rate):
    """Both directions of the shared link held to a rate."""
    for node in nodes:
        on(node, "tc", "qdisc", "add", "dev", SHARED, "root", "tbf", "rate", rate, "burst", "64kb", "latency", "50ms")
    try:
        yield
    finally:
        for node in nodes:
            on(node, "tc", "qdisc", "del", "dev", SHARED, "root")


@pytest.mark.parametrize(("rate", "megabits", "size"), [("100mbit", 100, 4 << 20), ("1gbit", 1000, 32 << 20)])
def test_a_link_of_a_known_speed(nodes, rate, megabits, size):
    """A run that something else on this machine disturbed may be repeated; agreement is of one run."""
    ratios = []
    with shaped(nodes, rate):
        while len(ratios) < 5 and not (ratios and abs(ratios[-1] - 1) <= 0.03):
            test = measured(nodes, size)
            rate_of_gloo = test.best(Pattern.ONE_WAY).algbw
            ratios.append(rate_of_gloo / test.baseline.rate)
            # Ethernet, IP and TCP headers take their part of it.
            assert 0.85 * megabits / 8000 < rate_of_gloo < megabits / 8000
    assert ratios[-1] == pytest.approx(1, abs=0.03), ratios


def test_a_link_without_a_limit(nodes, record_property):
    test = measured(nodes, 32 << 20)
    ratio = test.best(Pattern.ONE_WAY).algbw / test.baseline.rate
    record_property("gloo against plain TCP", ratio)
    # What two processors do at once differs from run to run; only an error of a whole factor can be told from that.
    assert 0.1 < ratio < 10
