"""Runs workers that are shell scripts: how they are followed, and that they are always ended."""

import os
import time

import pytest

from ncclcheck.errors import SpeedError
from ncclcheck.model import Node, SpeedTest
from ncclcheck.speedtest import run as running
from ncclcheck.speedtest.plan import Side
from ncclcheck.speedtest.reports import Progress, Rate
from ncclcheck.speedtest.run import live, run
from tests.lab.traces import wait_for

HERE = Node("here")
_WAIT = "while true; do sleep 0.05; done"
STARTED = '{"event": "started", "backend": "gloo", "interface": "lo"}'


@pytest.fixture
def interpreter(tmp_path):
    """Makes an interpreter that does whatever these shell lines say."""

    def make(*lines):
        path = tmp_path / "python"
        path.write_text("\n".join(["#!/bin/sh", *lines]) + "\n")
        path.chmod(0o755)
        return str(path)

    return make


def side(rank=0, limit=20.0):
    return Side(("127.0.0.1", 5000), 1000, rank, limit=limit)


def result(*words, **more):
    return list(run(*words, **more))[-1]


def test_two_sides_end_in_one_result(interpreter):
    python = interpreter(
        f"echo '{STARTED}'",
        "echo noise >&2",
        'echo "{\\"event\\": \\"failure\\", \\"reason\\": \\"no $3\\", \\"stage\\": \\"early\\"}"',
        "exit 1",
    )
    values = list(run((HERE, HERE), (side(0), side(1)), python))
    assert values[-1] == SpeedTest(
        "gloo", "lo", failure="no 1000", log=("rank 0: noise", "rank 1: noise"), stage="early"
    )
    assert {value.text for value in values[:-1]} == {"rank 0 is ready: gloo on lo", "rank 1 is ready: gloo on lo"}


def test_a_nodes_prefix_and_variables_are_used(interpreter):
    python = interpreter('echo "$NODE" >&2', "exit 1")
    node = Node("n", ("env", "NODE=b"), (("NODE", "a"),))
    assert result((node,), (side(),), python).log == ("rank 0: b",)


def test_each_second_of_silence_is_told(interpreter):
    values = run((HERE,), (side(),), interpreter("exec sleep 1000"))
    assert next(values) == Progress("starting", pytest.approx(1.0, abs=0.9))
    values.close()


def processes_with(mark):
    """Processes that carry this variable."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                found += [pid] if mark.encode() in file.read() else []
        except OSError:
            continue
    return found


def test_closing_ends_the_workers(interpreter):
    mark = f"MARK={time.time_ns()}"
    node = Node("n", ("env", mark))
    values = run((node, node), (side(0), side(1)), interpreter(f"echo '{STARTED}'", "exec sleep 1000"))
    next(values)
    assert len(processes_with(mark)) == 2
    values.close()
    assert processes_with(mark) == []


def test_the_workers_are_asked_to_end_before_they_are_made_to(interpreter, tmp_path):
    told = tmp_path / "told"
    values = run((HERE,), (side(),), interpreter(f"trap 'echo bye > {told}; exit 1' TERM", f"echo '{STARTED}'", _WAIT))
    next(values)
    values.close()
    assert told.read_text() == "bye\n"


def test_a_worker_that_does_not_listen_is_killed(interpreter, monkeypatch):
    monkeypatch.setattr(running, "_FAREWELL", 0.2)
    mark = f"MARK={time.time_ns()}"
    values = run((Node("n", ("env", mark)),), (side(),), interpreter("trap '' TERM", f"echo '{STARTED}'", _WAIT))
    next(values)
    values.close()
    assert wait_for(lambda: list(map(int, processes_with(mark))), []) == []


def test_nccls_lines_come_as_they_are_printed(interpreter):
    line = '{"event": "log", "lines": ["NCCL INFO a", "NCCL INFO b"]}'
    values = list(live((HERE,), (side(),), interpreter(f"echo '{line}'", "echo c >&2", "exit 1")))
    assert sorted(value.lines for value in values[:-1]) == [("NCCL INFO a", "NCCL INFO b"), ("c",)]
    assert sorted(values[-1].log) == ["rank 0: NCCL INFO a", "rank 0: NCCL INFO b", "rank 0: c"]


def test_both_sides_tell_of_the_same_rounds_once(interpreter):
    rounds = [
        f'{{"event": "round", "pattern": "one way", "size": 8, "number": {number}, "median": 1, "algbw": 1, "left": 1}}'
        for number in (1, 2)
    ]
    python = interpreter(*(f"echo '{told}'; sleep 0.3" for told in rounds), "exit 1")
    rates = [value for value in run((HERE, HERE), (side(0), side(1)), python) if isinstance(value, Rate)]
    assert [rate.rounds for rate in rates] == [1, 2]


def test_a_worker_that_overstays_is_ended(interpreter, monkeypatch):
    monkeypatch.setattr(running, "_GRACE", 0.1)
    done = result((HERE,), (side(limit=0.5),), interpreter(f"echo '{STARTED}'", "exec sleep 1000"))
    assert done == SpeedTest("gloo", "lo", failure="rank 0 did not end within its 0.5 s")


def test_a_worker_that_dies(interpreter):
    done = result((HERE,), (side(),), interpreter("echo 'Segmentation fault' >&2", "kill -9 $$"))
    assert done.failure == "the worker of rank 0 ended with status -9; its last words: Segmentation fault"


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (('echo \'{"event": "failure", "reason": "no torch"}\'', "exit 4"), "no torch"),
        (("echo 'python: No such file or directory' >&2", "exit 126"), "python: No such file or directory"),
    ],
)
def test_an_interpreter_that_cannot(interpreter, lines, problem):
    python = interpreter(*lines)
    with pytest.raises(SpeedError) as caught:
        result((HERE,), (side(),), python)
    assert (caught.value.problem, caught.value.place) == (f"the speed test cannot run: {problem}", python)
    assert "--python" in caught.value.next_step


def test_an_interpreter_that_is_not_there():
    with pytest.raises(SpeedError, match="No such file or directory"):
        result((HERE,), (side(),), "/no/such/python")
