"""Processes of one job side by side."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from ncclcheck.cli.diagnostics import ExitCode
from ncclcheck.cli.main import main
from ncclcheck.doctor.processes import processes

WAIT = (sys.executable, "-c", "import sys; print('ready', flush=True); sys.stdin.read()")


def started(**env: str) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(WAIT, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


@pytest.fixture(name="two")
def _two() -> Iterator[tuple[int, int]]:
    with started(NCCL_SOCKET_IFNAME="=lo", RANK="0") as one, started(NCCL_SOCKET_IFNAME="=nosuch", RANK="1") as two:
        yield one.pid, two.pid
        one.communicate()
        two.communicate()


def test_each_process_has_its_choice_and_what_differs_is_named(two: tuple[int, int]) -> None:
    found = processes((*two, two[0]), nccl="2.29.7")

    assert [one.pid for one in found.processes] == list(two)
    assert [one.choice and (one.choice.interface, one.choice.code) for one in found.processes] == [("lo", 0), (None, 5)]
    assert found.differing == ("NCCL_SOCKET_IFNAME",)


def test_the_screen_shows_them_side_by_side(two: tuple[int, int], capsys: pytest.CaptureFixture[str]) -> None:
    pids = [word for pid in two for word in ("--pid", str(pid))]

    assert main(["node", "--nccl", "2.29.7", *pids]) == ExitCode.PROBLEM

    shown = capsys.readouterr().out
    assert shown.startswith("The processes do not agree on NCCL_SOCKET_IFNAME.\n")
    row = next(line.split() for line in shown.splitlines() if line.strip().startswith("NCCL_SOCKET_IFNAME"))
    assert row == ["NCCL_SOCKET_IFNAME", "=lo", "=nosuch", "differs"]


def test_a_pid_is_a_number(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["node", "--pid", "../1"])

    assert (caught.value.code, "no process number" in capsys.readouterr().err) == (ExitCode.USAGE, True)
