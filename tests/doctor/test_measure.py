"""Both sides of the speed test for real, on the two nodes of a lab."""

import sys
import venv

import pytest

from ncclcheck.doctor.measure import has_torch, measure, suspecting, training_python
from ncclcheck.errors import SpeedError
from ncclcheck.lab import DOCKER_FIRST, built
from ncclcheck.model import Pattern, Speed, SpeedTest
from ncclcheck.node.interpreter import named
from ncclcheck.speedtest.reports import Progress, Rate, Suspected
from ncclcheck.speedtest.run import Heard
from tests.lab.traces import inhabitants, namespaces, pid_of, wait_for


@pytest.fixture(scope="module")
def nodes():
    with built(DOCKER_FIRST) as made:
        yield made


def measured(nodes, interface):
    return list(
        measure(
            nodes,
            address="10.0.0.11",
            port=29500,
            size=1024**2,
            interfaces=(interface, interface),
            python=sys.executable,
            limit=30.0,
            seconds=0.3,
        )
    )


def test_over_the_shared_network_it_passes(nodes):
    *progress, test = measured(nodes, "eth1")
    assert (test.backend, test.interface, test.failure, test.passed) == ("gloo", "eth1", "", True)
    assert {speed.pattern for speed in test.speeds} == set(Pattern)
    assert {speed.size for speed in test.speeds} == {8, 128, 2048, 32768, 524288, 1024**2}
    assert all(speed.verified and len(speed.seconds) >= 5 for speed in test.speeds)
    assert 0 < test.latency < 0.1
    assert (test.baseline.interface, test.baseline.failure) == ("eth1", "")
    assert test.baseline.rate > 0.01
    assert {"rank 0 is connected", "rank 1 is connected"} <= {value.text for value in progress}
    rates = [value for value in progress if isinstance(value, Rate)]
    assert rates
    assert all(rate.algbw > 0 and 0 <= rate.left <= 0.3 for rate in rates)


def test_over_each_nodes_own_docker_network_it_fails_for_real_and_says_why(nodes):
    *progress, test = measured(nodes, "eth0")
    assert isinstance(test, SpeedTest)
    assert (test.backend, test.interface, test.speeds, test.passed) == ("gloo", "eth0", (), False)
    assert (test.stage, test.baseline) == ("connecting over gloo on eth0", None)
    assert test.failure.startswith("connecting over gloo on eth0: ")
    assert "Connection refused" in test.failure
    assert "172.17.0.2" in test.failure
    assert any("Connection refused" in line for line in test.log)
    assert [value.rule for value in progress if isinstance(value, Suspected)] == ["NC101"]


REFUSED = (
    "node-a:7:7 [0] NCCL INFO Bootstrap : Using eth0:172.17.0.4<0>",
    "node-a:7:9 [0] NCCL INFO Call to connect returned Connection refused, retrying",
)


class Scripted:
    """Values that come at their times, and whether anybody still wants them."""

    def __init__(self, *timed):
        self.time, self.closed, self._timed = 0.0, False, timed

    def __call__(self):
        return self.time

    def values(self):
        try:
            for when, value in self._timed:
                self.time = when
                yield value
        finally:
            self.closed = True


def waiting(seconds):
    return Progress("connecting", seconds)


def test_while_it_hangs_the_log_is_looked_at_now_and_then():
    script = Scripted(
        (0.0, Heard(0, REFUSED * 3)),
        (1.0, waiting(1.0)),
        (3.5, waiting(3.5)),
        (4.5, waiting(4.5)),
        # The same again is nothing new, and costs no second look before its time.
        (5.0, Heard(0, REFUSED)),
        (9.0, waiting(9.0)),
    )
    told = list(suspecting(script.values(), script))
    (suspected,) = (value for value in told if isinstance(value, Suspected))
    assert suspected.seconds == 3.5
    assert suspected.rule.startswith("NC")
    assert suspected.title in suspected.text
    assert [value for value in told if not isinstance(value, Suspected)] == [
        waiting(second) for second in (1.0, 3.5, 4.5, 9.0)
    ]


@pytest.mark.parametrize(("failure", "looked"), [("refused", True), ("", False)])
def test_a_failed_test_is_looked_at_before_its_result(failure, looked):
    speed = Speed(Pattern.ONE_WAY, 8, (1.0,), True)
    test = SpeedTest("nccl", None, (speed,), failure)
    script = Scripted((0.0, Heard(1, REFUSED * 3)), (0.5, test))
    *suspected, result = suspecting(script.values(), script)
    assert result == test
    assert [isinstance(value, Suspected) for value in suspected] == [True] * looked


def test_whoever_wants_no_more_ends_the_test():
    script = Scripted((0.0, waiting(0.0)), (1.0, waiting(1.0)))
    values = suspecting(script.values(), script)
    next(values)
    values.close()
    assert script.closed


def test_given_up_it_leaves_no_worker(nodes):
    spaces = frozenset().union(*(namespaces(pid_of(node)) for node in nodes))
    idle = inhabitants(spaces)
    # Nobody owns this address, so it would go on for long.
    values = measure(nodes, address="10.0.0.99", port=29500, size=1024, interfaces=("eth1", "eth1"))
    for value in values:
        if "ready" in value.text:
            break
    assert len(inhabitants(spaces)) > len(idle)
    values.close()
    # Its entrance has gone; the worker gets its death signal a moment later.
    assert wait_for(lambda: inhabitants(spaces), idle) == idle


def test_the_interpreter_asked_for_is_taken():
    assert training_python(sys.executable).why == "as asked for"


def test_the_first_interpreter_with_torch_is_taken(tmp_path):
    venv.create(tmp_path)
    bare = tmp_path / "bin/python"
    found = training_python(None, {"VIRTUAL_ENV": str(tmp_path), "PATH": "/nonexistent"})
    assert (found.why, has_torch(found)) == ("the Python that runs ncclcheck", True)
    assert not has_torch(named(str(bare), {}))


def test_no_interpreter_has_torch(monkeypatch):
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(SpeedError, match="no Python here has torch") as caught:
        training_python(None, {"PATH": "/nonexistent"})
    assert "--python" in caught.value.next_step


def test_no_such_interpreter():
    with pytest.raises(SpeedError, match="there is no such Python"):
        training_python("/no/such/python", {})
