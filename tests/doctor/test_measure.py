"""Both sides of the speed test for real, on the two nodes of a lab."""

import sys
import venv

import pytest

from ncclcheck.doctor.measure import has_torch, measure, training_python
from ncclcheck.errors import SpeedError
from ncclcheck.lab import DOCKER_FIRST, built
from ncclcheck.model import Pattern, SpeedTest
from ncclcheck.node.interpreter import named
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
        )
    )


def test_over_the_shared_network_it_passes(nodes):
    *progress, test = measured(nodes, "eth1")
    assert (test.backend, test.interface, test.failure, test.passed) == ("gloo", "eth1", "", True)
    assert [speed.pattern for speed in test.speeds] == [Pattern.ONE_WAY, Pattern.BOTH_WAYS]
    assert all(speed.verified and speed.size == 1024**2 and len(speed.seconds) == 5 for speed in test.speeds)
    assert all(speed.algbw > 0 for speed in test.speeds)
    assert {"rank 0 is connected", "rank 1 is connected"} <= {value.text for value in progress}


def test_over_each_nodes_own_docker_network_it_fails_for_real(nodes):
    test = measured(nodes, "eth0")[-1]
    assert isinstance(test, SpeedTest)
    assert (test.backend, test.interface, test.speeds, test.passed) == ("gloo", "eth0", (), False)
    assert test.failure.startswith("connecting over gloo on eth0: ")
    assert "Connection refused" in test.failure
    assert "172.17.0.2" in test.failure
    assert any("Connection refused" in line for line in test.log)


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
