"""Workers for real, over gloo on loopback: what they measure, and that wrong payloads are noticed."""

import math

import pytest

from tests.speedtest.pairs import QUICK, free_port, named, reason, run

# A worker whose wire flips a bit of what it sends, but for the first size.
DAMAGE = """
from ncclcheck.speedtest.worker.payload import Content
whole = Content.fill
def fill(self, payload, number, rank):
    whole(self, payload, number, rank)
    if payload.numel() > 2:
        payload[len(payload) // 2] ^= 1
Content.fill = fill
"""

# A worker that comes late to every transfer.
LATE = """
import time
prompt = wire.Wire._by_clock
def late(self, moves):
    seconds = []
    for move in moves:
        time.sleep(0.1)
        seconds += prompt(self, [move])
    return seconds
wire.Wire._by_clock = late
"""

PATTERNS = ("one way", "both ways", "all gather", "all reduce")


def without_times(event):
    times = ("seconds", "min", "median", "p99", "algbw", "busbw", "rank")
    return {key: value for key, value in event.items() if key not in times}


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_both_sides_measure_the_same(address):
    shown = f"[{address}]" if ":" in address else address
    words = ("2M", *QUICK, "--sizes", "8,2M")
    (status, events), (other, others) = run(words, words, place=f"{shown}:{free_port(address)}")
    assert (status, other) == (0, 0)
    assert {key: value for key, value in events[0].items() if key != "torch"} == {
        "event": "started",
        "rank": 0,
        "backend": "gloo",
        "interface": "lo",
        "ranks": 2,
    }
    results, theirs = named(events, "result"), named(others, "result")
    assert [{**told, "rank": 1} for told in results] == theirs
    assert [without_times(told) for told in results] == [
        {"event": "result", "pattern": pattern, "size": size, "ranks": 2, "verified": True}
        for pattern in PATTERNS
        for size in (8, 2 * 1024**2)
    ]
    assert all(5 <= len(told["seconds"]) <= 1000 for told in results)
    assert all(told["min"] <= told["median"] <= told["p99"] for told in results)
    assert (events[-1], others[-1]) == ({"event": "finished", "rank": 0}, {"event": "finished", "rank": 1})


def test_three_ranks_in_two_of_which_are_a_pair():
    words = ("100K", "--ranks", "3", *QUICK, "--sizes", "7")
    found = run(words, words, words)
    assert [status for status, _ in found] == [0, 0, 0]
    results = named(found[2][1], "result")
    assert [(told["pattern"], told["size"]) for told in results] == [
        ("one way", 7),
        ("one way", 102400),
        ("both ways", 7),
        ("both ways", 102400),
        # Whole words from each rank.
        ("all gather", 12),
        ("all gather", 102396),
        ("all reduce", 4),
        ("all reduce", 102400),
    ]
    assert all(told["ranks"] == 3 and told["verified"] for told in results)
    large = results[-1]
    assert large["busbw"] == pytest.approx(large["algbw"] * 4 / 3)


def test_one_rank_alone_has_its_collectives():
    words = ("64K", "--ranks", "1", "--interface", "lo", "--seconds", "0.2", "--sizes", "64K")
    ((status, events),) = run(words)
    assert status == 0
    assert [(told["pattern"], told["busbw"]) for told in named(events, "result")] == [
        ("all gather", 0.0),
        ("all reduce", 0.0),
    ]


def test_one_rank_alone_has_nobody_to_send_to():
    ((status, events),) = run(("64K", "--ranks", "1", "--interface", "lo", "--patterns", "one-way"))
    assert (status, reason(events)) == (
        3,
        "one rank alone has nobody to send to; of the patterns, all-gather and all-reduce work alone",
    )


def test_a_damaged_payload_is_no_success():
    words = ("1M", *QUICK, "--sizes", "8,1M")
    (status, events), (other, others) = run(words, words, code=("", DAMAGE))
    assert (status, other) == (1, 1)
    verified = {(told["pattern"], told["size"]): told["verified"] for told in named(events, "result")}
    assert verified == {(pattern, size): size == 8 for pattern in PATTERNS for size in (8, 1024**2)}
    assert "not what was sent" in reason(events)
    assert "not what was sent" in reason(others)


def test_lateness_of_the_other_side_is_not_counted():
    words = ("1M", *QUICK, "--sizes", "1M", "--patterns", "one-way,all-reduce")
    (status, events), _ = run(words, words, code=("", LATE))
    assert status == 0
    assert max(told["median"] for told in named(events, "result")) < 0.1


def test_the_baseline_is_told_by_both():
    words = ("8", "--interface", "lo", "--seconds", "0.1", "--sizes", "8", "--patterns", "one-way", "--limit", "30")
    (status, events), (_, others) = run(words, words)
    assert status == 0
    (ours,), (theirs,) = named(events, "baseline"), named(others, "baseline")
    assert ours == {**theirs, "rank": 0}
    assert (ours["flows"], ours["interface"], ours["failure"]) == (1, "lo", "")
    assert ours["bytes"] > 10**7
    assert ours["seconds"] > 0.4


def test_what_cannot_be_done_in_time_is_left_out():
    # A link of 2 MB/s.
    slow = """
import time
whole = wire.Wire._by_clock
def slowly(self, moves):
    seconds = []
    for move in moves:
        time.sleep(self.size / 2e6)
        seconds.append(whole(self, [move])[0] + self.size / 2e6)
    return seconds
kept = wire.Wire._move
def remembered(self, pattern, size, place):
    self.size = size
    return kept(self, pattern, size, place)
wire.Wire._by_clock, wire.Wire._move = slowly, remembered
"""
    words = ("64M", *QUICK, "--sizes", "64K", "--patterns", "one-way", "--limit", "10")
    (status, events), (other, _) = run(words, words, code=(slow, slow))
    assert (status, other) == (0, 0)
    assert [told["size"] for told in named(events, "result")] == [65536]
    (left_out,) = named(events, "skipped")
    assert (left_out["pattern"], left_out["size"]) == ("one way", 64 * 1024**2)
    assert left_out["reason"].startswith("a round would take about 3")
    assert left_out["reason"].endswith("raise --limit")


def test_training_over_ddp_ends_with_the_same_parameters_everywhere():
    words = ("100K", "--interface", "lo", "--workload", "ddp", "--no-baseline")
    (status, events), (other, others) = run(words, words)
    assert (status, other) == (0, 0)
    (proof,), (theirs,) = named(events, "ddp"), named(others, "ddp")
    assert proof == {**theirs, "rank": 0}
    assert (proof["ranks"], proof["steps"], proof["same"]) == (2, 20, True)
    assert proof["last_loss"] < 0.9 * proof["first_loss"]
    assert 0 <= proof["share"] <= 1
    assert math.isfinite(proof["step_seconds"])


def test_gradients_that_are_not_exchanged_are_noticed():
    # Each rank steps on its own: what DDP would do if its exchange did nothing.
    alone = """
kept = ddp.Training._backward
def lonely(self):
    with self._model.no_sync():
        kept(self)
ddp.Training._backward = lonely
"""
    words = ("100K", "--interface", "lo", "--workload", "ddp", "--no-baseline")
    (status, events), (other, _) = run(words, words, code=(alone, alone))
    assert (status, other) == (1, 1)
    assert named(events, "ddp")[0]["same"] is False
    assert (
        reason(events) == "after training the ranks do not have the same parameters: gradients were damaged on the way"
    )
