import json

import pytest

from ncclcheck.model import Baseline, DdpProof, Pattern, Speed, SpeedTest
from ncclcheck.speedtest import reports
from ncclcheck.speedtest.reports import Half, Measured, Progress, Rate, Report

ONE = Speed(Pattern.ONE_WAY, 8, (1.0, 2.0), True)
BOTH = Speed(Pattern.BOTH_WAYS, 8, (1.0,), True)

SPEED = Speed(Pattern.ONE_WAY, 8, (1.0, 2.0), True, 4)
BASELINE = {"tool": "iperf3", "flows": 4, "bytes": 4 * 10**9, "seconds": 2, "retransmits": 7, "interface": "eth1"}
PROOF = {"ranks": 2, "steps": 20, "step_seconds": 0.05, "share": 0.4, "same": True, "first_loss": 1.0, "last_loss": 0.1}

LINES = [
    (
        {"event": "started", "rank": 0, "backend": "gloo", "interface": "eth1", "torch": "2", "ranks": 4},
        Progress("rank 0 is ready: gloo on eth1", 3.0),
    ),
    (
        {"event": "waiting", "peer": 1, "at": "10.0.0.1:5000", "reason": "not there yet"},
        Progress("rank 0 waits for rank 1 at 10.0.0.1:5000 (not there yet)", 3.0),
    ),
    ({"event": "connected", "ranks": 4}, Progress("rank 0 is connected", 3.0)),
    ({"event": "baseline", **BASELINE}, Progress("plain TCP (iperf3): 2 GB/s", 3.0)),
    (
        {
            "event": "round",
            "pattern": "one way",
            "size": 1024**2,
            "number": 3,
            "median": 0.001,
            "algbw": 1.048576,
            "left": 7.4,
        },
        Rate("one way, 1M: 1.05 GB/s, about 7 s left", 3.0, Pattern.ONE_WAY, 1024**2, 3, 1.048576, 7.4),
    ),
    (
        {"event": "round", "pattern": "one way", "size": 8, "number": 3, "median": 0.000113, "algbw": 1e-5, "left": 9},
        Rate("one way, 8 bytes: 113 µs, about 9 s left", 3.0, Pattern.ONE_WAY, 8, 3, 1e-5, 9.0),
    ),
    (
        {"event": "result", "pattern": "one way", "size": 8, "ranks": 4, "seconds": [1.0, 2.0], "verified": True},
        Measured("one way, 8 bytes: 1500000 µs, median of 2 rounds", 3.0, speed=SPEED),
    ),
    (
        {"event": "skipped", "pattern": "one way", "size": 2**30, "reason": "too slow"},
        Progress("one way, 1G: left out, too slow", 3.0),
    ),
    (
        {"event": "step", "number": 3, "steps": 20, "loss": 0.123456},
        Progress("training over DDP, step 3 of 20: loss 0.123", 3.0),
    ),
    ({"event": "ddp", **PROOF}, None),
    ({"event": "log", "lines": ["NCCL INFO a", "NCCL INFO b"]}, None),
    ({"event": "note", "text": "something to know"}, Progress("something to know", 3.0)),
    ({"event": "finished"}, None),
    ({"event": "something of a later worker"}, None),
]


def test_the_story_of_one_side():
    half, told = Half(0), []
    for line, _ in LINES:
        report = reports.decode(json.dumps(line))
        half = reports.reported(half, report)
        told.append(reports.progress(half, report, 3.0))
    assert told == [news for _, news in LINES]
    assert half == Half(
        0,
        "gloo",
        "eth1",
        (SPEED,),
        finished=True,
        log=("one way, 1G: left out, too slow", "NCCL INFO a", "NCCL INFO b", "something to know"),
        ranks=4,
        baseline=Baseline("iperf3", 4, 4 * 10**9, 2.0, "eth1", 7),
        ddp=DdpProof(2, 20, 0.05, 0.4, True, 1.0, 0.1),
    )


def test_a_baseline_that_failed():
    report = reports.decode(
        '{"event": "baseline", "tool": "sockets", "flows": 1, "seconds": 0.0, "failure": "refused"}'
    )
    half = reports.reported(Half(0), report)
    assert half.baseline == Baseline("sockets", 1, failure="refused")
    assert half.baseline.rate is None
    assert reports.words(half, report) == "plain TCP was not measured: refused"


@pytest.mark.parametrize("line", ["", "hello", "[1]", '{"event": 1}', '{"event": "round"', '{"size": 1}'])
def test_what_is_no_report(line):
    assert reports.decode(line) is None


def test_the_first_failure_counts():
    half = reports.reported(Half(0), Report("failure", reason="first", stage="early"))
    half = reports.reported(half, Report("failure", reason="second", stage="late"))
    assert half == Half(0, failure="first", stage="early")


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


def test_the_log_is_kept_at_both_ends():
    half = Half(0)
    for number in range(3000):
        half = reports.heard(half, str(number))
    assert [int(line) for line in half.log] == [*range(1500), *range(2500, 3000)]


def test_two_good_sides():
    zero, one = (Half(rank, "gloo", "eth1", (ONE, BOTH), finished=True) for rank in (0, 1))
    joined = reports.joined((zero, one))
    assert joined == SpeedTest("gloo", "eth1", (ONE, BOTH))
    assert joined.passed


def test_a_failure_is_told_by_the_side_that_saw_it():
    zero = Half(0, "gloo", "eth0", failure="rank 1 failed: refused", log=("x",), stage="rank 0's")
    one = Half(1, "gloo", "ens3", failure="refused", log=("y",), stage="rank 1's")
    assert reports.joined((zero, one)) == SpeedTest(
        "gloo", "eth0 and ens3", failure="refused", log=("rank 0: x", "rank 1: y"), stage="rank 1's"
    )


def test_all_that_was_measured_is_in_the_result():
    baseline, proof = Baseline("sockets", 1, 8, 1.0), DdpProof(3, 20, 1.0, 0.0, True, 1.0, 0.5)
    zero = Half(0, "gloo", ranks=3, speeds=(ONE,), baseline=baseline, ddp=proof, finished=True)
    assert reports.joined((zero,)) == SpeedTest("gloo", None, (ONE,), ranks=3, baseline=baseline, ddp=proof)


@pytest.mark.parametrize(
    ("same", "failure", "passed"), [(True, "", True), (False, "", False), (True, "it stopped", False)]
)
def test_a_proof_by_training_passes_without_any_speed(same, failure, passed):
    proof = DdpProof(2, 20, 1.0, 0.0, same, 1.0, 0.5)
    test = SpeedTest("gloo", None, failure=failure, ddp=proof)
    assert (test.passed, test.damaged) == (passed, not same)


def test_nothing_at_all_is_no_success():
    assert not reports.joined((Half(0),)).passed
