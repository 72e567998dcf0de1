"""Every run is kept as it goes, and nothing that happens to the record ends a test."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from ncclcheck.errors import SpeedError
from ncclcheck.model import Baseline, Judgement, Pattern, Rating, Speed, SpeedTest, Transport
from ncclcheck.speedtest import history
from ncclcheck.speedtest.history import Run, begin, find, path_in, runs

NOON = datetime(2026, 11, 30, 12, 0, 5, tzinfo=timezone(timedelta(hours=1)))
FIRST = Speed(Pattern.ONE_WAY, 8, (1e-4, 2e-4), True)
LAST = Speed(Pattern.ALL_REDUCE, 1 << 20, (0.1, 0.2), True)
TEST = SpeedTest(
    "gloo",
    "eth1",
    (FIRST, LAST),
    log=("a \x1b[31m line", "ü"),
    baseline=Baseline("sockets", 1, 10, 1.0, "eth1", 3),
    transport=Transport("gloo", ("eth1",)),
)
WORD = Judgement(Rating.TUNE, 0.1, 0.125, "eth1", "one flow", "more flows")


def kept(path: Path, *, label: str = "", seconds: int = 0) -> history.Keeper:
    """A run that has begun."""
    return begin(
        ("speedtest", "1G"), "node-a", path=str(path), label=label, now=lambda: NOON + timedelta(seconds=seconds)
    )


def test_a_whole_run(tmp_path):
    keeper = kept(tmp_path, label="before the fix")
    for speed in TEST.speeds:
        keeper.add(speed)
    keeper.end(TEST, WORD)
    assert (keeper.id, keeper.warning) == ("20261130-120005", "")
    assert runs(str(tmp_path)) == (
        Run("20261130-120005", "2026-11-30T12:00:05+01:00", "node-a", TEST, WORD, "before the fix"),
    )
    file = tmp_path / "20261130-120005.jsonl"
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [line["event"] for line in lines] == ["begun", "result", "result", "ended"]
    assert {line["schema"] for line in lines} == {1}
    assert lines[0]["command"] == ["speedtest", "1G"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_run_that_was_cut_off(tmp_path):
    keeper = kept(tmp_path)
    keeper.add(FIRST)
    keeper.add(LAST)
    file = next(tmp_path.iterdir())
    whole = file.read_bytes()
    for length in range(len(whole)):
        file.write_bytes(whole[:length])
        found = runs(str(tmp_path))
        speeds = found[0].test.speeds if found else ()
        assert speeds == (FIRST, LAST)[: len(speeds)]
        assert bool(found) is (length >= whole.index(b"\n"))
        assert all(run.test.failure == history.CUT_OFF and not run.test.passed for run in found)
    file.write_bytes(whole)
    assert runs(str(tmp_path))[0].test.speeds == (FIRST, LAST)


def test_a_process_that_is_killed_leaves_what_it_had(tmp_path):
    code = (
        "import os, sys\n"
        "from ncclcheck.speedtest.history import begin\n"
        "from ncclcheck.model import Pattern, Speed\n"
        "begin((), 'h', path=sys.argv[1]).add(Speed(Pattern.ONE_WAY, 8, (1.0,), True))\n"
        "os.kill(os.getpid(), 9)\n"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], timeout=30, check=False).returncode == -9
    assert [run.test.speeds for run in runs(str(tmp_path))] == [(Speed(Pattern.ONE_WAY, 8, (1.0,), True),)]


def test_two_runs_of_one_second(tmp_path):
    ids = [kept(tmp_path).id for _ in range(12)]
    assert ids[:3] == ["20261130-120005", "20261130-120005-2", "20261130-120005-3"]
    assert [run.id for run in runs(str(tmp_path))] == ids


def test_the_oldest_go(tmp_path, monkeypatch):
    monkeypatch.setattr(history, "KEPT", 3)
    ids = [kept(tmp_path, seconds=second).id for second in range(5)]
    (tmp_path / "notes.jsonl").write_text("mine")
    kept(tmp_path, seconds=9)
    assert [run.id for run in runs(str(tmp_path))] == [*ids[-2:], "20261130-120014"]
    assert (tmp_path / "notes.jsonl").exists()


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    keeper = kept(tmp_path / "file" / "folder")
    keeper.add(FIRST)
    keeper.end(TEST)
    assert (keeper.id, "Not a directory" in keeper.warning) == ("", True)
    assert runs(str(tmp_path / "file" / "folder")) == ()


def test_a_full_disk(tmp_path):
    """A device without room takes not a byte (full(4))."""
    keeper = kept(tmp_path)
    file = next(tmp_path.iterdir())
    file.unlink()
    file.symlink_to("/dev/full")
    keeper.add(FIRST)
    assert os.strerror(errno.ENOSPC) in keeper.warning
    warning = keeper.warning
    keeper.end(TEST)
    assert keeper.warning == warning


def test_a_write_that_goes_in_half(tmp_path, monkeypatch):
    import resource

    keeper = kept(tmp_path)
    size = next(tmp_path.iterdir()).stat().st_size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, before[1]))
    try:
        keeper.add(FIRST)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "not kept" in keeper.warning
    keeper.end(TEST)
    assert [run.test.failure for run in runs(str(tmp_path))] == [history.CUT_OFF]


@pytest.mark.parametrize("content", [b"", b"\0\xff", b"{}", b'{"event": "ended"}\n', b'[1]\n{"event": 3}\n'])
def test_what_is_no_run(tmp_path, content):
    (tmp_path / "20261130-120000.jsonl").write_bytes(content)
    assert runs(str(tmp_path)) == ()


def test_a_newer_version_kept_it(tmp_path):
    line = {"event": "begun", "schema": 2, "time": "t", "host": "h", "surprise": [1]}
    (tmp_path / "20261130-120000.jsonl").write_text(json.dumps(line) + "\n")
    assert [run.test.failure for run in runs(str(tmp_path))] == ["it was kept by a newer ncclcheck (schema 2)"]


def test_where_they_lie(monkeypatch, tmp_path):
    assert path_in({"XDG_STATE_HOME": "/state"}) == "/state/ncclcheck/speedtests"
    assert path_in({"XDG_STATE_HOME": "here"}) == path_in({})
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    keeper = begin((), "h")
    assert [run.id for run in runs()] == [keeper.id]
    assert len(keeper.id) == 15


def test_finding_a_run(tmp_path):
    ids = [kept(tmp_path, seconds=second).id for second in (0, 1, 60)]
    found = runs(str(tmp_path))
    words = {"last": 2, "last-0": 2, "last-2": 0, ids[1]: 1, "20261130-1201": 2, "20261130-120006": 1}
    assert {word: find(found, word).id for word in words} == {word: ids[place] for word, place in words.items()}


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        ("last-3", "only 3 runs are kept"),
        ("2026", "3 runs begin so, from 20261130-120005 to 20261130-120105"),
        ("1999", "no run has this id"),
        ("last-x", "no run has this id"),
    ],
)
def test_a_run_that_is_not_there(tmp_path, word, problem):
    for second in (0, 1, 60):
        kept(tmp_path, seconds=second)
    with pytest.raises(SpeedError) as caught:
        find(runs(str(tmp_path)), word)
    assert (caught.value.problem, caught.value.place) == (problem, word)
    assert caught.value.next_step == "ncclcheck history lists them"


def test_no_run_at_all():
    with pytest.raises(SpeedError, match="no run is kept yet"):
        find((), "last")
