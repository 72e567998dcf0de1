"""Two workers for real, over gloo on loopback: what they measure, and what they say when it goes wrong."""

import json
import os
import signal
import socket
import subprocess
import sys

import pytest

from ncclcheck.speedtest import worker
from tests.speedtest.pairs import finish, free_port, reason, until, worker_of

# A worker whose wire flips a bit of what it sends.
DAMAGE = """
whole = worker.fill
def fill(torch, payload, block, tag):
    whole(torch, payload, block, tag)
    payload[len(payload) // 2] ^= 1
worker.fill = fill
"""

# A worker that comes late to every transfer.
LATE = """
import time
prompt = worker.Wire.move
def move(self, *words):
    time.sleep(0.3)
    return prompt(self, *words)
worker.Wire.move = move
"""


def pair(*first, second=None, code="", place=None):
    """Exit codes and events of rank 0 and rank 1."""
    place = place or f"127.0.0.1:{free_port()}"
    with worker_of(place, *first[:1], 0, *first[1:]) as zero:
        other = second or first
        with worker_of(place, *other[:1], 1, *other[1:], code=code) as one:
            return finish(zero), finish(one)


def results(events):
    return [event for event in events if event["event"] == "result"]


@pytest.mark.parametrize("place", ["127.0.0.1", "[::1]"])
def test_both_sides_measure_the_same(place):
    place = f"{place}:{free_port(place.strip('[]'))}"
    (status, events), (other_status, other_events) = pair("3M", "--interface", "lo", place=place)
    assert (status, other_status) == (0, 0)
    started = {key: value for key, value in events[0].items() if key != "torch"}
    assert started == {"event": "started", "rank": 0, "backend": "gloo", "interface": "lo"}
    assert results(events) == results(other_events)
    for result, direction in zip(results(events), ("one way", "both ways"), strict=True):
        assert len(result.pop("seconds")) == 5
        assert result == {"event": "result", "direction": direction, "size": 3 * 1024**2, "verified": True}
    assert [event["number"] for event in events if event["event"] == "round"] == [1, 2, 3, 4, 5] * 2
    assert (events[-1], other_events[-1]) == ({"event": "finished"}, {"event": "finished"})


def test_a_damaged_payload_is_no_success():
    (status, events), (other_status, other_events) = pair("1M", "--interface", "lo", code=DAMAGE)
    assert (status, other_status) == (1, 1)
    assert [result["verified"] for result in results(events)] == [False, False]
    assert "not what was sent" in reason(events)
    assert "not what was sent" in reason(other_events)


def test_lateness_of_the_other_side_is_not_counted():
    (status, events), _ = pair("1M", "--interface", "lo", code=LATE)
    assert status == 0
    assert max(second for result in results(events) for second in result["seconds"]) < 0.3


def test_sides_that_mean_different_tests():
    (status, events), (other_status, other_events) = pair("1M", second=("2M",))
    assert (status, other_status) == (1, 1)
    assert reason(events) == "the two sides differ in SIZE: 1048576 here, 2097152 there"
    assert "differ in SIZE" in reason(other_events)


def test_nobody_comes():
    port = free_port()
    with worker_of(f"127.0.0.1:{port}", "1M", 0, "--limit", 6) as zero:
        status, events = finish(zero)
    assert status == 1
    assert events[1] == {"event": "waiting", "peer": 1, "at": f"127.0.0.1:{port}", "reason": "not there yet"}
    assert reason(events).startswith(f"rank 1 did not come to 127.0.0.1:{port} within 6 s; start it on the other")


def test_nobody_is_there():
    port = free_port()
    with worker_of(f"127.0.0.1:{port}", "1M", 1, "--limit", 6) as one:
        status, events = finish(one)
    assert status == 1
    assert events[1] == {"event": "waiting", "peer": 0, "at": f"127.0.0.1:{port}", "reason": "connection refused"}
    assert f"did not answer at 127.0.0.1:{port} within 6 s (connection refused)" in reason(events)


def refusal(*words):
    with worker_of(*words) as alone:
        status, events = finish(alone)
        assert status == 1
    return reason(events)


def test_a_port_in_use():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        said = refusal(f"127.0.0.1:{port}", "1M", 0)
    assert said == f"port {port} is in use on this machine; take another one, on both sides"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("192.0.2.77:5000", "1M", 0), "192.0.2.77 is no address of this machine"),
        (("host.invalid:5000", "1M", 1), "the host host.invalid is not known here"),
        (("127.0.0.1:5000", "1M", 0, "--interface", "eth99"), "there is no interface eth99 on this machine; it has lo"),
        (("127.0.0.1:5000", "1M", 0, "--backend", "nccl"), "there is no CUDA device 0 for NCCL"),
    ],
)
def test_what_cannot_work_is_said_at_once(words, said):
    assert refusal(*words).startswith(said)


@pytest.mark.parametrize("victim", [0, 1])
def test_the_other_side_dies_midway(victim):
    place = f"127.0.0.1:{free_port()}"
    with worker_of(place, "8M", 0, "--interface", "lo") as zero, worker_of(place, "8M", 1, "--interface", "lo") as one:
        both = (zero, one)
        until(both[victim], "round")
        both[victim].kill()
        status, events = finish(both[1 - victim])
    assert status == 1
    assert "one way" in reason(events) or "both ways" in reason(events)


def test_the_other_side_hangs():
    place = f"127.0.0.1:{free_port()}"
    words = ("--interface", "lo", "--limit", 10)
    with worker_of(place, "8M", 0, *words) as zero, worker_of(place, "8M", 1, *words) as one:
        until(one, "round")
        os.kill(one.pid, signal.SIGSTOP)
        status, events = finish(zero)
    assert status == 1
    assert "sending" in reason(events)


def test_without_torch():
    with worker_of("127.0.0.1:5000", "1M", 0, python=(sys.executable, "-I", "-S")) as bare:
        status, events = finish(bare)
    assert status == 3
    assert reason(events).startswith("this Python (")


@pytest.mark.parametrize(
    "words", [(), ("127.0.0.1", "1M", "0"), ("127.0.0.1:5", "1X", "0"), ("127.0.0.1:5", "1M", "2")]
)
def test_wrong_usage(words):
    done = subprocess.run([sys.executable, worker.__file__, *words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage: worker.py")


def test_an_attached_worker_ends_with_its_parent():
    words = [sys.executable, worker.__file__, f"127.0.0.1:{free_port()}", "1M", "0", "--attached"]
    code = f"import subprocess; subprocess.Popen({words!r}); import time; time.sleep(1000)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        for line in parent.stdout:
            if json.loads(line)["event"] == "waiting":
                parent.kill()
                break
        # The worker holds the pipe: its end is read only when both have ended.
        assert parent.stdout.read() == ""
