import json

import pytest

from ncclcheck.model import Pattern, Speed, SpeedTest
from ncclcheck.speedtest import reports
from ncclcheck.speedtest.reports import Half, Report

ONE = Speed(Pattern.ONE_WAY, 8, (1.0, 2.0), True)
BOTH = Speed(Pattern.BOTH_WAYS, 8, (1.0,), True)

LINES = [
    (
        {"event": "started", "rank": 0, "backend": "gloo", "interface": "eth1", "torch": "2"},
        "rank 0 is ready: gloo on eth1",
    ),
    (
        {"event": "waiting", "peer": 1, "at": "10.0.0.1:5000", "reason": "not there yet"},
        "rank 0 waits for rank 1 at 10.0.0.1:5000 (not there yet)",
    ),
    ({"event": "connected", "peer": 1}, "rank 0 is connected"),
    ({"event": "round", "direction": "one way", "number": 1, "seconds": 0.25}, "one way, round 1: 0.250 s"),
    ({"event": "result", "direction": "one way", "size": 8, "seconds": [1.0, 2.0], "verified": True}, ""),
    ({"event": "finished"}, ""),
    ({"event": "something of a later worker"}, ""),
]


def test_the_story_of_one_side():
    half, told = Half(0), []
    for line, _ in LINES:
        report = reports.decode(json.dumps(line))
        half = reports.reported(half, report)
        told.append(reports.words(half, report))
    assert told == [news for _, news in LINES]
    assert half == Half(0, "gloo", "eth1", (ONE,), finished=True)


@pytest.mark.parametrize("line", ["", "hello", "[1]", '{"event": 1}', '{"event": "round"', '{"size": 1}'])
def test_what_is_no_report(line):
    assert reports.decode(line) is None


def test_the_first_failure_counts():
    half = reports.reported(Half(0, failure="first"), Report("failure", reason="second"))
    assert half == Half(0, failure="first")


@pytest.mark.parametrize(
    ("half", "status", "failure"),
    [
        (Half(0, finished=True), 0, ""),
        (Half(0, failure="refused"), 1, "refused"),
        (Half(0), 0, "the worker of rank 0 ended with status 0"),
        (Half(1, log=("a", "Killed")), -9, "the worker of rank 1 ended with status -9; its last words: Killed"),
        (Half(1, finished=True), -11, "the worker of rank 1 ended with status -11"),
    ],
)
def test_how_a_side_ended(half, status, failure):
    assert reports.ended(half, status).failure == failure


def test_the_log_is_kept_short():
    half = Half(0)
    for number in range(300):
        half = reports.heard(half, str(number))
    assert (len(half.log), half.log[-1]) == (200, "299")


def test_two_good_sides():
    zero, one = (Half(rank, "gloo", "eth1", (ONE, BOTH), finished=True) for rank in (0, 1))
    joined = reports.joined((zero, one))
    assert joined == SpeedTest("gloo", "eth1", (ONE, BOTH))
    assert joined.passed


def test_a_failure_is_told_by_the_side_that_saw_it():
    zero = Half(0, "gloo", "eth0", failure="rank 1 failed: refused", log=("x",))
    one = Half(1, "gloo", "ens3", failure="refused", log=("y",))
    assert reports.joined((zero, one)) == SpeedTest(
        "gloo", "eth0 and ens3", failure="refused", log=("rank 0: x", "rank 1: y")
    )


def test_nothing_at_all_is_no_success():
    assert not reports.joined((Half(0),)).passed
