"""``ncclcheck history`` and ``ncclcheck compare``, from the runs to the screen."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from ncclcheck.cli.diagnostics import ExitCode
from ncclcheck.cli.main import main
from ncclcheck.model import Judgement, Pattern, Rating, Speed, SpeedTest, Transport
from ncclcheck.speedtest.history import begin

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=timezone.utc)
SPEED = Speed(Pattern.ONE_WAY, 1 << 20, (0.01, 0.0101, 0.0102, 0.0099, 0.0098), True)
BEFORE = SpeedTest("gloo", "eth0", (SPEED,), transport=Transport("gloo", ("eth0",)))
AFTER = replace(BEFORE, speeds=(replace(SPEED, seconds=tuple(second / 4 for second in SPEED.seconds)),))
BROKEN = SpeedTest("nccl", None, failure="refused \x1b[31m")


@pytest.fixture(autouse=True)
def _state(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def keep(test: SpeedTest, minute: int, label: str = "", judgement: Judgement | None = None) -> str:
    keeper = begin((), "node-a", label=label, now=lambda: NOON + timedelta(minutes=minute))
    keeper.end(test, judgement)
    return keeper.id


@pytest.fixture
def three():
    keep(BEFORE, 0, "before the fix", Judgement(Rating.TUNE, 0.1, 0.2, "eth0", "slow", "do"))
    keep(BROKEN, 1)
    keep(AFTER, 2, "after the fix")


@pytest.mark.usefixtures("three")
def test_the_list(capsys):
    assert main(["history"]) == ExitCode.CLEAR
    assert capsys.readouterr().out.splitlines() == [
        "id               host    over       bus bandwidth                      rating",
        "20261130-120000  node-a  gloo eth0  0.105 GB/s (0.839 Gbit/s) one way  tune    before the fix",
        "20261130-120100  node-a  nccl       -                                          failed: refused \\x1b[31m",
        "20261130-120200  node-a  gloo eth0  0.419 GB/s (3.36 Gbit/s) one way           after the fix",
    ]


@pytest.mark.usefixtures("three")
def test_the_latest_of_them(capsys):
    assert main(["history", "--limit", "1", "--json"]) == ExitCode.CLEAR
    (run,) = json.loads(capsys.readouterr().out)
    assert (run["id"], run["label"], run["judgement"]) == ("20261130-120200", "after the fix", None)
    assert run["test"]["speeds"][0]["busbw"] == pytest.approx(AFTER.speeds[0].busbw)


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_no_run(capsys, words):
    assert main(["history", *words]) == ExitCode.UNKNOWN
    assert capsys.readouterr().out == (
        "[]\n" if words else "No run of the speed test is kept yet: ncclcheck speedtest keeps each of its runs.\n"
    )


@pytest.mark.parametrize("number", ["0", "-1", "x", "1" * 5000])
def test_a_limit_that_is_none(capsys, number):
    with pytest.raises(SystemExit) as caught:
        main(["history", "--limit", number])
    assert caught.value.code == ExitCode.USAGE
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.usefixtures("three")
def test_before_and_after(capsys):
    assert main(["compare", "last-2"]) == ExitCode.CLEAR
    assert capsys.readouterr().out.splitlines() == [
        "before  20261130-120000  gloo eth0  before the fix",
        "after   20261130-120200  gloo eth0  after the fix",
        "pattern  size  before                     after                     change",
        "one way  1M    0.105 GB/s (0.839 Gbit/s)  0.419 GB/s (3.36 Gbit/s)  +300.0 %  better",
        "Better.",
    ]


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(
    ("words", "answer", "code"),
    [
        (("last", "20261130-1200"), "worse", ExitCode.PROBLEM),
        (("last", "last"), "same", ExitCode.CLEAR),
        (("last-1", "last-1"), "unknown", ExitCode.UNKNOWN),
        (("last-1", "last"), "better", ExitCode.CLEAR),
    ],
)
def test_each_answer(capsys, words, answer, code):
    assert main(["compare", *words, "--json"]) == code
    assert json.loads(capsys.readouterr().out)["overall"] == answer


@pytest.mark.usefixtures("three")
def test_a_run_that_failed(capsys):
    assert main(["compare", "last-1", "last"]) == ExitCode.CLEAR
    shown = capsys.readouterr().out
    assert "the run before failed: refused \\x1b[31m" in shown
    assert shown.endswith("Better.\n")


@pytest.mark.usefixtures("three")
def test_no_such_run(capsys):
    assert main(["compare", "1999"]) == ExitCode.UNKNOWN
    assert capsys.readouterr().err == "ncclcheck: 1999: no run has this id\n  ncclcheck history lists them\n"
