"""``ncclcheck speedtest`` for real, over loopback."""

import io
import json
import signal
import socket
import subprocess
import sys
import venv
from dataclasses import replace

import pytest

from ncclcheck.cli.progress import Line
from ncclcheck.cli.speed_text import comparison_text, judgement_text, size_text, suspicion_text, time_text
from ncclcheck.cli.speed_text import test_text as result_text
from ncclcheck.cli.speedtest import exit_code
from ncclcheck.doctor.speed import Judged
from ncclcheck.model import Baseline, Comparison, DdpProof, Judgement, Pattern, Rating, Speed, SpeedTest
from ncclcheck.speedtest.judge import judge
from ncclcheck.speedtest.reports import Suspected
from tests.speedtest.pairs import free_port

COMMAND = (sys.executable, "-m", "ncclcheck", "speedtest")
HISTORY = (sys.executable, "-m", "ncclcheck", "history")


@pytest.fixture(autouse=True)
def _state_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def start(*words):
    return subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


PYTHON = ("--python", sys.executable)
QUICK = (*PYTHON, "--interface", "lo", "--seconds", "0.3", "--limit", "30")


def test_two_sides_measure():
    place, words = (
        f"127.0.0.1:{free_port()}",
        (*QUICK, "--sizes", "8,1M", "--patterns", "one-way,all-gather", "--label", "here"),
    )
    with start(place, "1M", "0", *words, "--json") as zero, start(place, "1M", "1", *words) as one:
        output, progress = zero.communicate(timeout=60)
        text, _ = one.communicate(timeout=60)
    assert (zero.returncode, one.returncode) == (0, 0)
    result = json.loads(output)
    assert (result["passed"], result["backend"], result["interface"], result["failure"]) == (True, "gloo", "lo", "")
    assert (result["python"], result["ranks"], result["suspected"]) == (sys.executable, 2, [])
    assert [(speed["pattern"], speed["size"], speed["verified"]) for speed in result["speeds"]] == [
        ("one way", 8, True),
        ("one way", 1024**2, True),
        ("all gather", 8, True),
        ("all gather", 1024**2, True),
    ]
    for speed in result["speeds"]:
        assert speed["algbw"] == pytest.approx(speed["size"] / speed["median"] / 1e9)
        assert speed["gigabits"] == 8 * speed["algbw"]
        assert speed["min"] <= speed["median"] <= speed["p99"]
        assert speed["busbw"] == speed["algbw"] / (2 if speed["pattern"] == "all gather" else 1)
    assert result["latency"] == result["speeds"][0]["median"]
    assert result["baseline"]["rate"] == pytest.approx(
        result["baseline"]["bytes"] / result["baseline"]["seconds"] / 1e9
    )
    assert "rank 0 is ready: gloo on lo" in progress
    lines = text.splitlines()
    assert lines[0] == "speed test with gloo over lo: passed"
    assert " ".join(lines[1].split()) == "pattern size min median p99 algbw GB/s busbw GB/s Gbit/s"
    assert [line.split()[:3] for line in lines[2:6]] == [
        ["one", "way", "8"],
        ["one", "way", "1M"],
        ["all", "gather", "8"],
        ["all", "gather", "1M"],
    ]
    assert lines[6].startswith("  latency ")
    assert lines[7].startswith("  plain TCP (")
    assert lines[8] == "  every byte arrived right"
    assert lines[9].startswith(("HEALTHY", "UNKNOWN"))
    assert result["judgement"]["rating"] in ("healthy", "unknown")
    kept = json.loads(subprocess.run([*HISTORY, "--json"], capture_output=True, check=True).stdout)
    assert [(run["host"], run["label"], run["test"]["backend"]) for run in kept] == [
        (socket.gethostname(), label, "gloo") for label in ("here", "here")
    ]
    assert result["run"] in {run["id"] for run in kept}
    assert f"kept as {result['run']}: ncclcheck compare" in progress


def test_columns_and_a_picture(tmp_path):
    place = f"127.0.0.1:{free_port()}"
    words = (*QUICK, "--sizes", "1M", "--patterns", "one-way", "--no-baseline")
    picture = tmp_path / "speed.svg"
    with (
        start(place, "1M", "0", *words, "--csv", "--plot", str(picture)) as zero,
        start(place, "1M", "1", *words) as one,
    ):
        output, _ = zero.communicate(timeout=60)
        one.communicate(timeout=60)
    assert [line.split(",")[:2] for line in output.splitlines()] == [["pattern", "size"], ["one way", "1048576"]]
    assert b"<svg" in picture.read_bytes()


def test_a_side_alone_fails_with_the_reason():
    place = f"127.0.0.1:{free_port()}"
    done = subprocess.run(
        [*COMMAND, place, "1M", "1", *PYTHON, "--limit", "4"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 3
    assert f"rank 0 did not answer at {place} within 4 s (connection refused)" in done.stdout
    assert "NCCL's own choice here" in done.stderr
    assert f"rank 1 waits for rank 0 at {place} (connection refused)" in done.stderr


def test_ctrl_c_ends_both_sides_with_the_reason():
    place, words = f"127.0.0.1:{free_port()}", (*QUICK[:4], "--seconds", "60", "--sizes", "8M", "--no-baseline")
    with start(place, "8M", "0", *words) as zero, start(place, "8M", "1", *words) as one:
        for line in zero.stderr:
            if "one way" in line:
                break
        # As a terminal does: to all of them.
        zero.send_signal(signal.SIGINT)
        (text, _), (other, _) = zero.communicate(timeout=30), one.communicate(timeout=30)
    assert (zero.returncode, one.returncode) == (3, 3)
    assert "stopped by" in text
    assert "rank 0 failed: it was stopped by" in other


def test_any_number_of_ranks_and_the_proof_by_training():
    words = (f"127.0.0.1:{free_port()}", "100K", "0", *QUICK, "--ranks", "1", "--workload", "ddp")
    with start(*words) as alone:
        text, _ = alone.communicate(timeout=60)
    assert alone.returncode == 0
    assert "DDP on 1 ranks, 20 steps: parameters the same on all ranks, loss " in text


def test_the_worker_as_a_file(tmp_path):
    path = tmp_path / "speedtest.pyz"
    done = subprocess.run([*COMMAND, "--save-worker", str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    asked = subprocess.run([sys.executable, str(path), "--help"], capture_output=True, text=True, check=False)
    assert asked.returncode == 0
    assert "--patterns" in asked.stdout


@pytest.mark.parametrize("words", [(), ("127.0.0.1:5", "1M"), ("127.0.0.1:5", "x", "0"), ("127.0.0.1:5", "1M", "2")])
def test_wrong_usage(words):
    with start(*words) as process:
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 2
    assert errors.startswith("usage: ncclcheck speedtest")


def test_an_interpreter_without_torch(tmp_path):
    venv.create(tmp_path)
    bare = tmp_path / "bin/python"
    with start("127.0.0.1:5000", "1M", "0", "--python", str(bare)) as process:
        output, errors = process.communicate(timeout=30)
    assert (process.returncode, output) == (3, "")
    assert "has no torch that can be loaded" in errors
    assert "--python /path/to/bin/python" in errors


@pytest.mark.parametrize(
    ("size", "text"), [(1, "1"), (1000, "1000"), (65536, "64K"), (1024**2, "1M"), (3 * 1024**3, "3G")]
)
def test_sizes_in_words(size, text):
    assert size_text(size) == text


GOOD = SpeedTest(
    "gloo",
    "eth1",
    (
        Speed(Pattern.ONE_WAY, 8, (0.000113, 0.000113, 0.004), True),
        Speed(Pattern.ONE_WAY, 1024**2, (0.001,), True),
        Speed(Pattern.ALL_GATHER, 1024**2, (1.002,), True),
    ),
    baseline=Baseline("iperf3", 4, 10**9, 0.5, "eth1", 62),
)
DAMAGED = SpeedTest("gloo", "eth1", (Speed(Pattern.ONE_WAY, 1024**2, (0.001,), False),), failure="damaged")
BAD = SpeedTest("gloo", "eth0", failure="refused")
PROOF = DdpProof(8, 20, 0.0401, 0.314, True, 1.006, 0.0324)
TRAINED = SpeedTest("nccl", None, ranks=8, ddp=PROOF, baseline=Baseline("sockets", 1, failure="no way"))
HEAD = "  pattern       size      min   median      p99 algbw GB/s busbw GB/s   Gbit/s\n"


@pytest.mark.parametrize(
    ("test", "text"),
    [
        (
            GOOD,
            "speed test with gloo over eth1: passed\n"
            + HEAD
            + "  one way          8   113 µs   113 µs  3.92 ms     0.0001     0.0001   0.0006\n"
            "  one way         1M  1.00 ms  1.00 ms  1.00 ms       1.05       1.05     8.39\n"
            "  all gather      1M   1.00 s   1.00 s   1.00 s     0.0010     0.0005   0.0042\n"
            "  latency 113 µs: the median of one way at the smallest size\n"
            "  plain TCP (iperf3, 4 connections over eth1): 2 GB/s (16 Gbit/s), 62 segments sent again\n"
            "  every byte arrived right",
        ),
        (
            DAMAGED,
            "speed test with gloo over eth1: FAILED\n"
            + HEAD
            + "  one way         1M  1.00 ms  1.00 ms  1.00 ms       1.05       1.05     8.39  DAMAGED\n"
            "  DAMAGED: what arrived is not what was sent\n"
            "  damaged",
        ),
        (BAD, "speed test with gloo over eth0: FAILED\n  refused"),
        (SpeedTest("", None, failure="gone"), "speed test with torch: FAILED\n  gone"),
        (
            TRAINED,
            "speed test with nccl, 8 ranks: passed\n"
            "  plain TCP (sockets) was not measured: no way\n"
            "  DDP on 8 ranks, 20 steps: parameters the same on all ranks, loss 1.01 → 0.0324, "
            "40.1 ms a step, 31% of it for the exchange of gradients",
        ),
    ],
    ids=["good", "damaged", "bad", "nothing", "trained"],
)
def test_results_in_words(test, text):
    assert result_text(test) == text


def test_a_table_fits_eighty_columns():
    assert all(len(line) <= 80 for line in result_text(GOOD).splitlines()[:5])


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1e-7, "0.10 µs"),
        (53.72e-6, "53.7 µs"),
        (9.996e-6, "10.0 µs"),
        (999.4e-6, "999 µs"),
        (999.6e-6, "1.00 ms"),
        (0.9996, "1.00 s"),
        (86.4, "86.4 s"),
        (1234.0, "1234 s"),
    ],
)
def test_times_in_words(seconds, text):
    assert time_text(seconds) == text


@pytest.mark.parametrize(
    ("test", "code"), [(GOOD, 0), (DAMAGED, 1), (BAD, 3), (TRAINED, 0), (replace(GOOD, failure="stopped"), 3)]
)
def test_exit_codes(test, code):
    assert exit_code(Judged(test, judge(test, ()), "")) == code


def test_a_suspicious_rate_is_a_finding():
    slow = Judgement(Rating.SUSPICIOUS, 0.1, 12.5, "eth1, 100 Gbit/s", "only one flow", "NCCL_SOCKET_NTHREADS=4")
    assert exit_code(Judged(GOOD, slow, "")) == 1
    assert judgement_text(slow) == (
        "SUSPICIOUS, 0.8 % of 12.5 GB/s (100 Gbit/s) (eth1, 100 Gbit/s): only one flow\n  try: NCCL_SOCKET_NTHREADS=4"
    )


def test_what_the_log_points_to():
    suspected = Suspected("…", 3.0, "NCCL uses a docker network", "NC101")
    assert suspicion_text(suspected) == (
        "  the log points to this: NCCL uses a docker network (ncclcheck explain NC101)"
    )


class Terminal(io.StringIO):
    """What a terminal was sent."""

    def __init__(self, interactive):
        super().__init__()
        self.interactive = interactive

    def isatty(self):
        return self.interactive


def shown(interactive, *lines):
    terminal, times = Terminal(interactive), iter((0.0, 0.0, 0.5, 1.2, 1.2))
    with Line(terminal, lambda: next(times)) as line:
        for text, passing in lines:
            line.show(text, passing=passing)
    return terminal.getvalue()


def test_on_a_terminal_one_line_is_rewritten(monkeypatch):
    monkeypatch.setenv("COLUMNS", "12")
    clear = "\r\x1b[K"
    sent = shown(True, ("1 GB/s \x1b[2J and more", True), ("2 GB/s", True), ("connected for good", False), ("3", True))
    assert sent == f"{clear}1 GB/s \\x1b{clear}2 GB/s{clear}connected for good\n{clear}3{clear}"


def test_elsewhere_there_is_one_line_a_second_at_most():
    assert shown(False, ("a", True), ("b", True), ("connected", False), ("c", True)) == "a\nconnected\nc\n"


@pytest.mark.parametrize(
    ("before", "after", "last"),
    [
        (BAD, GOOD, "Proved: the same test failed before the fix and passes now."),
        (BAD, BAD, "NOT proved: it still fails."),
        (GOOD, GOOD, "NOT proved: it passed before already."),
    ],
)
def test_comparisons_in_words(before, after, last):
    assert comparison_text(Comparison(before, after)).splitlines()[-1] == last
