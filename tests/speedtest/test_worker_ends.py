"""How a worker ends when something goes wrong: in one clear sentence on every side, and with nothing left behind."""

import importlib.util
import os
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from ncclcheck.speedtest.plan import WORKER
from tests.speedtest.pairs import QUICK, free_port, named, reason, run, worker_of, workers

LONG = ("8M", "--interface", "lo", "--no-baseline", "--seconds", "60", "--sizes", "8M")

# Another side that has an older torch.
OLDER = """
told = session._hello
session._hello = lambda *words: {**told(*words), "torch": "1.13"}
"""
IMPATIENT = "watch.QUIET = 1.0"


# The worker itself, whose ear hears without a pause and so is in the store's C++ when all is done.
LISTENING = """
import importlib, runpy, sys

load = importlib.import_module

def loaded(name):
    session = load(name)
    session.Watch._hear = lambda self, company: [company.failure() for _ in iter(int, 1)]
    return session

importlib.import_module = loaded
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def free(port):
    """Whether nobody is left at this port."""
    with socket.socket() as trial:
        return trial.connect_ex(("127.0.0.1", port)) != 0


@pytest.mark.parametrize(
    ("words", "other", "code", "said"),
    [
        (("1M", *QUICK), ("2M", *QUICK), "", "differ in SIZE: rank 0 has 1048576, rank 1 has 2097152"),
        (("1M", *QUICK), ("1M", *QUICK, "--ranks", "3"), "", "differ in --ranks: rank 0 has 2, rank 1 has 3"),
        (("1M", *QUICK), ("1M", *QUICK), OLDER, "rank 1 has 1.13; use the same environment on both"),
    ],
)
def test_sides_that_mean_different_tests(words, other, code, said):
    (status, events), (status_of_other, others) = run(words, other, code=("", code))
    assert (status, status_of_other) == (3, 3)
    assert said in reason(events)
    assert reason(others) == f"rank 0 failed: {reason(events)}"


def test_a_rank_that_is_taken_is_turned_away_and_nobody_else_minds():
    port, words = free_port(), (*QUICK, "--sizes", "64K", "--patterns", "all-reduce", "--ranks", 3)
    with ExitStack() as stack:
        place = f"127.0.0.1:{port}"
        three = [stack.enter_context(worker_of(place, "64K", rank, *words)) for rank in (0, 1)]
        three[0].until("waiting", lambda told: told["peer"] == 2)
        twin = stack.enter_context(worker_of(place, "64K", 1, *words))
        assert twin.finish()[0] == 3
        assert reason(twin.events) == f"there already is a rank 1 at {place}"
        three.append(stack.enter_context(worker_of(place, "64K", 2, *words)))
        assert [worker.finish()[0] for worker in three] == [0, 0, 0]


def test_strangers_at_the_door_do_no_harm():
    port, words = free_port(), (*QUICK, "--sizes", "64K", "--patterns", "all-reduce")
    with worker_of(f"127.0.0.1:{port}", "64K", 0, *words) as zero:
        zero.until("waiting")
        for rudeness in (b"", b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 100_000, b'[1]\n{"rank": "1"}\n', b'{"hello": 1}\n'):
            with socket.create_connection(("127.0.0.1", port)) as stranger:
                stranger.sendall(rudeness)
        lasting = socket.create_connection(("127.0.0.1", port))
        with lasting, worker_of(f"127.0.0.1:{port}", "64K", 1, *words) as one:
            assert [zero.finish()[0], one.finish()[0]] == [0, 0]


def test_a_port_of_another_program():
    answers = "meeting._ANSWER = 0.5"
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = f"127.0.0.1:{server.getsockname()[1]}"
        with worker_of(place, "1M", 1, code=answers) as one:
            status, events = one.finish()
    assert (status, reason(events)) == (
        3,
        f"whoever listens at {place} does not answer as this test does; is that port another program's?",
    )


def test_rank_0_may_wait_for_as_long_as_it_likes():
    port, words = free_port(), (*QUICK, "--sizes", "64K", "--patterns", "all-reduce")
    with worker_of(f"127.0.0.1:{port}", "64K", 0, *words, code="watch.QUIET = 1.5") as zero:
        zero.until("waiting")
        zero.process.join(2.5)
        with worker_of(f"127.0.0.1:{port}", "64K", 1, *words) as one:
            assert [zero.finish()[0], one.finish()[0]] == [0, 0]


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "killed"])
def test_stopped_while_a_third_has_not_come(number, rank):
    port, words = free_port(), ("64K", *QUICK, "--ranks", "3")
    place = f"127.0.0.1:{port}"
    with worker_of(place, words[0], 0, *words[1:]) as zero, worker_of(place, words[0], 1, *words[1:]) as one:
        zero.until("waiting", lambda told: told["peer"] == 2)
        os.kill((zero, one)[rank].pid, number)
        status, events = (one, zero)[rank].finish()
    assert status == 3
    said = f"rank {rank} failed: it was stopped by Ctrl-C while waiting"
    gone = f"rank {rank} went away while waiting"
    assert reason(events).startswith(said if number == signal.SIGINT else gone)
    assert free(port)


def test_nobody_comes():
    port = free_port()
    with worker_of(f"127.0.0.1:{port}", "1M", 0, "--limit", 1) as zero:
        status, events = zero.finish()
    assert status == 3
    waiting = {"event": "waiting", "rank": 0, "peer": 1, "at": f"127.0.0.1:{port}", "reason": "not there yet"}
    assert named(events, "waiting") == [waiting]
    assert reason(events).startswith(f"rank 1 did not come to 127.0.0.1:{port} within 1 s; start it on its machine")
    assert events[-1]["stage"] == f"waiting for rank 1 at 127.0.0.1:{port}"
    assert free(port)


def test_nobody_is_there():
    port = free_port()
    with worker_of(f"127.0.0.1:{port}", "1M", 1, "--limit", 1) as one:
        status, events = one.finish()
    assert status == 3
    waiting = {"event": "waiting", "rank": 1, "peer": 0, "at": f"127.0.0.1:{port}", "reason": "connection refused"}
    assert named(events, "waiting") == [waiting]
    assert f"did not answer at 127.0.0.1:{port} within 1 s (connection refused)" in reason(events)
    assert events[-1]["stage"] == f"waiting for rank 0 at 127.0.0.1:{port}"


def refusal(*words):
    with worker_of(*words) as alone:
        status, events = alone.finish()
    assert (status, events[-1]["stage"] != "") == (3, True)
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
    with workers(LONG, LONG, code=(IMPATIENT, IMPATIENT)) as both:
        both[victim].until("round")
        both[victim].process.kill()
        status, events = both[1 - victim].finish()
    assert (status, events[-1]["stage"]) == (3, "measuring one way, 8M")
    # gloo may wait for ever for a sender that has gone; then it is the signs of life that are missing.
    assert reason(events).startswith(
        ("rank 0 went away while", "measuring one way, 8M: the connection to 127.0.0.1", "rank 1 gave no sign of life")
    )


@pytest.mark.parametrize("stopped", [0, 1])
def test_the_other_side_hangs(stopped):
    """Rank 0 takes the store along into its sleep, rank 1 only its own signs of life."""
    with workers(LONG, LONG, code=(IMPATIENT, IMPATIENT)) as both:
        both[stopped].until("round")
        os.kill(both[stopped].pid, signal.SIGSTOP)
        status, events = both[1 - stopped].finish()
    assert status == 3
    assert reason(events).startswith(("rank 1 gave no sign of life", "rank 0's machine gave no sign of life"))
    assert "while measuring one way, 8M" in reason(events)


@pytest.mark.parametrize(
    ("number", "name"), [(signal.SIGINT, "Ctrl-C"), (signal.SIGTERM, "SIGTERM")], ids=["Ctrl-C", "SIGTERM"]
)
@pytest.mark.parametrize("rank", [0, 1])
def test_stopped_by_a_person(number, name, rank):
    with workers(LONG, LONG) as both:
        both[rank].until("round")
        os.kill(both[rank].pid, number)
        (status, events), (other, others) = (both[which].finish() for which in (rank, 1 - rank))
    assert (status, other) == (3, 3)
    assert reason(events).startswith("it was stopped by ")
    assert name in reason(events)
    assert reason(others) == f"rank {rank} failed: {reason(events)}"


def test_stopped_while_torch_waits_for_somebody():
    with worker_of(f"127.0.0.1:{free_port()}", "1M", 0) as zero:
        zero.until("waiting")
        os.kill(zero.pid, signal.SIGINT)
        status, events = zero.finish()
    assert status == 3
    assert "stopped by Ctrl-C while waiting for rank 1" in reason(events)


def test_the_time_limit_is_kept_whatever_hangs():
    stuck = "import time; wire.Wire.rounds = lambda *words: time.sleep(1000)"
    with workers((*LONG, "--limit", "2"), (*LONG, "--limit", "2"), code=("", stuck)) as both:
        found = [worker.finish() for worker in both]
    assert [status for status, _ in found] == [3, 3]
    assert any("the time limit of 2 s passed while measuring one way, 8M" in reason(events) for _, events in found)


def test_a_full_disk_is_said_once_and_the_test_goes_on():
    words = ("64K", *QUICK, "--sizes", "64K", "--patterns", "one-way")
    place = f"127.0.0.1:{free_port()}"
    with (
        worker_of(place, words[0], 0, *words[1:], code="import os; os.dup2(os.open('/dev/full', os.O_WRONLY), 1)") as z,
        worker_of(place, words[0], 1, *words[1:]) as one,
    ):
        assert one.finish()[0] == 0
        assert z.finish() == (0, ())
        said = "speed test: results cannot be written (No space left on device); going on without\n"
        assert z.errors == said


def test_without_torch():
    done = subprocess.run(
        [sys.executable, "-I", "-S", WORKER, "127.0.0.1:5000", "1M", "0"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 4
    assert '"reason": "this Python (' in done.stdout


@pytest.mark.parametrize(
    "words", [(), ("127.0.0.1", "1M", "0"), ("127.0.0.1:5", "1X", "0"), ("127.0.0.1:5", "1M", "2")]
)
def test_wrong_usage(words):
    done = subprocess.run([sys.executable, WORKER, *words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage: speedtest [HOST:PORT] [SIZE[K|M|G]")


def test_an_attached_worker_ends_with_its_parent_and_tells_the_other_side():
    port = free_port()
    words = [sys.executable, WORKER, f"127.0.0.1:{port}", "8M", "0", *LONG[1:], "--attached"]
    code = f"import subprocess; subprocess.Popen({words!r}); import time; time.sleep(1000)"
    with worker_of(f"127.0.0.1:{port}", "8M", 1, *LONG[1:]) as one:
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
            one.until("round")
            parent.kill()
            # The worker holds the pipe: its end is read only when both have ended.
            assert parent.stdout.read() != ""
        assert one.finish()[0] == 3
        assert reason(one.events) == "rank 0 failed: whoever started this side is gone"
    assert free(port)


def test_nccls_own_lines_come_while_it_hangs():
    """The real NCCL chooses its interface with no GPU, and writes to where we can read."""
    library = Path(next(iter(importlib.util.find_spec("nvidia.nccl").submodule_search_locations))) / "lib/libnccl.so.2"
    begin = f"""
import ctypes
told = session._hello
def hello(*words):
    ctypes.CDLL({str(library)!r}).ncclGetUniqueId(ctypes.create_string_buffer(128))
    return told(*words)
session._hello = hello
"""
    env = {"NCCL_SOCKET_IFNAME": "lo"}
    with worker_of(f"127.0.0.1:{free_port()}", "1M", 0, code=begin, env=env) as zero:
        zero.until("log", lambda told: any("Bootstrap: Using lo:127.0.0.1<0>" in line for line in told["lines"]))
        assert zero.process.is_alive()


def test_an_ear_that_is_in_the_store_at_the_end_does_not_spoil_it():
    words = (f"127.0.0.1:{free_port()}", "64K", "0", *QUICK, "--ranks", "1", "--patterns", "all-reduce")
    program = [sys.executable, "-c", LISTENING, WORKER, *words]
    ran = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines()[-1] == '{"event": "finished", "rank": 0}'
