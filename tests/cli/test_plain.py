"""What the assistant shows, as text, from the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ncclcheck.tui.places import DESTINATIONS
from ncclcheck.tui.run import run_app, unfit
from tests.cases import ROOT

LOGS = sorted(map(str, (ROOT / "fixtures" / "logs" / "wrong-interface" / "2.28.9-refused-2x4").glob("*.log")))


def told(home: Path, *words: str, given: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    """A run of it, nowhere near a terminal."""
    command = [sys.executable, "-m", "ncclcheck", "--plain", *words]
    own = {**os.environ, "XDG_STATE_HOME": str(home), **env}
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False, env=own, errors="replace")


def test_all_places_one_after_the_other(tmp_path: Path) -> None:
    run = told(tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    headings = [line.removeprefix("# ") for line in run.stdout.split("\n") if line.startswith("# ")]
    assert headings == [place.label for place in DESTINATIONS]
    assert "MTU" in run.stdout


@pytest.mark.parametrize("piped", [False, True])
def test_one_place_about_logs(piped: bool, tmp_path: Path) -> None:
    if piped:
        run = told(tmp_path, "ranks", "-", given="".join(Path(log).read_text() for log in LOGS))
    else:
        run = told(tmp_path, "ranks", *LOGS)
    assert run.returncode == 1, "as ncclcheck analyze has it: problems were found"
    assert run.stdout.startswith("# Ranks\n\n✗ NCCL uses eth0 (172.17.0.2)")
    assert "4 of 8 ranks call rank 0 on node-a in vain" in run.stdout
    assert run.stdout.count("\n# ") == 0


def test_a_log_alone_is_told_in_every_place(tmp_path: Path) -> None:
    run = told(tmp_path, LOGS[0])
    assert run.returncode == 3, "one log of eight cannot tell"
    assert run.stdout.count("Cannot tell yet: did rank 1 start?") >= 3
    assert "info[NC911]" in run.stdout


def test_what_is_neither_place_nor_file_is_a_message(tmp_path: Path) -> None:
    run = told(tmp_path, "nowhere")
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == (
        "ncclcheck: nowhere: no place is called so, and no file\n"
        "  places: overview, log, ranks, peers, speeds, speed, setup, history\n"
    )


def test_a_log_that_is_gone_is_a_message(tmp_path: Path) -> None:
    run = told(tmp_path, "log", "/nowhere.log")
    assert (run.returncode, run.stdout) == (3, "")
    assert run.stderr.startswith("ncclcheck: /nowhere.log: ")


@pytest.mark.parametrize("env", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "latin-1"}])
def test_output_that_takes_no_unicode_gets_ascii(env: dict[str, str], tmp_path: Path) -> None:
    run = told(tmp_path, "log", "-", given="".join(Path(log).read_text() for log in LOGS), **env)
    assert run.returncode == 1
    assert run.stdout.isascii()
    assert "x NCCL uses eth0" in run.stdout


class Screen:
    """Standard input or standard error."""

    def __init__(self, terminal: bool) -> None:
        self._terminal = terminal

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._terminal


@pytest.mark.parametrize(
    ("environment", "keys", "screen", "why"),
    [
        ({"TERM": "xterm"}, True, True, ""),
        ({}, True, True, ""),
        ({"TERM": "dumb"}, True, True, "cannot move its cursor"),
        ({"TERM": "xterm"}, True, False, "standard error is redirected, and the assistant draws there"),
        ({"TERM": "xterm"}, False, True, "standard input is no terminal"),
        ({"TERM": "dumb", "TEXTUAL_DRIVER": "some:Driver"}, False, False, ""),
    ],
)
def test_why_it_cannot_be_shown(environment: dict[str, str], keys: bool, screen: bool, why: str) -> None:
    said = unfit(environment, Screen(keys), Screen(screen))  # type: ignore[arg-type]
    assert why in said
    assert bool(why) is bool(said)


def test_the_demo_tells_its_story_where_it_cannot_be_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    from ncclcheck.cli import demo
    from ncclcheck.errors import NcclcheckError

    monkeypatch.setattr("ncclcheck.tui.run.unfit", lambda: "for a test")
    assert not demo.interactive(plain=False)
    assert not demo.interactive(plain=True)
    with pytest.raises(NcclcheckError, match="for a test"):
        run_app()
