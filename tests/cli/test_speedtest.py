"""``ncclcheck speedtest`` for real, over loopback."""

import json
import subprocess
import sys
import venv

import pytest

from ncclcheck.cli.speed_text import comparison_text, size_text
from ncclcheck.cli.speed_text import test_text as result_text
from ncclcheck.model import Comparison, Pattern, Speed, SpeedTest
from tests.speedtest.pairs import free_port

COMMAND = (sys.executable, "-m", "ncclcheck", "speedtest")


def start(*words):
    return subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_two_sides_measure():
    place, python = f"127.0.0.1:{free_port()}", ("--python", sys.executable)
    with (
        start(place, "1M", "0", *python, "--interface", "lo", "--json") as zero,
        start(place, "1M", "1", *python, "--interface", "lo") as one,
    ):
        output, progress = zero.communicate(timeout=60)
        text, _ = one.communicate(timeout=60)
    assert (zero.returncode, one.returncode) == (0, 0)
    result = json.loads(output)
    assert (result["passed"], result["backend"], result["interface"], result["failure"]) == (True, "gloo", "lo", "")
    assert result["python"] == sys.executable
    assert [(speed["pattern"], speed["size"], speed["verified"]) for speed in result["speeds"]] == [
        ("one way", 1024**2, True),
        ("both ways", 1024**2, True),
    ]
    assert all(speed["gigabits"] == 8 * speed["algbw"] for speed in result["speeds"])
    assert "rank 0 is ready: gloo on lo" in progress
    lines = text.splitlines()
    assert lines[0] == "speed test with gloo over lo: passed"
    assert lines[1].startswith("  one way    ")
    assert lines[2].endswith("every byte arrived right")


def test_a_side_alone_fails_with_the_reason():
    place = f"127.0.0.1:{free_port()}"
    done = subprocess.run(
        [*COMMAND, place, "1M", "1", "--python", sys.executable, "--limit", "6"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert f"rank 0 did not answer at {place} within 6 s (connection refused)" in done.stdout
    assert "NCCL's own choice here" in done.stderr
    assert f"rank 1 waits for rank 0 at {place} (connection refused)" in done.stderr


@pytest.mark.parametrize("words", [("127.0.0.1", "1M", "0"), ("127.0.0.1:5", "x", "0"), ("127.0.0.1:5", "1M", "2")])
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
    (Speed(Pattern.ONE_WAY, 1024**2, (0.001,), True), Speed(Pattern.BOTH_WAYS, 1024**2, (0.002,), True)),
)
DAMAGED = SpeedTest("gloo", "eth1", (Speed(Pattern.ONE_WAY, 1024**2, (0.001,), False),), failure="damaged")
BAD = SpeedTest("gloo", "eth0", failure="refused")


@pytest.mark.parametrize(
    ("test", "text"),
    [
        (
            GOOD,
            "speed test with gloo over eth1: passed\n"
            "  one way    1.05 GB/s (8.39 Gbit/s), median of 1 rounds of 1M; every byte arrived right\n"
            "  both ways  0.524 GB/s (4.19 Gbit/s), median of 1 rounds of 1M; every byte arrived right",
        ),
        (
            DAMAGED,
            "speed test with gloo over eth1: FAILED\n"
            "  one way    1.05 GB/s (8.39 Gbit/s), median of 1 rounds of 1M; "
            "DAMAGED: what arrived is not what was sent\n"
            "  damaged",
        ),
        (BAD, "speed test with gloo over eth0: FAILED\n  refused"),
        (SpeedTest("", None, failure="gone"), "speed test with torch: FAILED\n  gone"),
    ],
    ids=["good", "damaged", "bad", "nothing"],
)
def test_results_in_words(test, text):
    assert result_text(test) == text


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
