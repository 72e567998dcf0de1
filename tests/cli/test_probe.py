"""``ncclcheck probe``: what is shown, and the exit codes."""

from __future__ import annotations

import sys

import msgspec
import pytest

from ncclcheck.cli.diagnostics import ExitCode
from ncclcheck.cli.main import main
from ncclcheck.cli.probe import exit_code
from ncclcheck.cli.probe_text import probe_text
from ncclcheck.model import Choice, Diagnosis, Job, Probe, Verdict

ETH0, ETH1 = Choice("2.29.7", "eth0", "10.0.0.5", "line"), Choice("2.29.7", "eth1", "10.1.0.5", "order")
NONE = Choice("2.29.7", None, None, "warning", code=5)


def seen(choice: Choice, predicted: Choice | None) -> Probe:
    root = f"{choice.address}:4000" if choice.address else None
    return Probe("a", "2.29.7", choice.code, choice, predicted, ("one", "two"), root, "/p/python", "/l/libnccl.so.2")


def diagnosis(verdict: Verdict) -> Diagnosis:
    return Diagnosis(verdict, findings=(), unknown=(), job=Job(), lines=2, bytes=6, seconds=0.0)


HEAD = "NCCL 2.29.7 (/l/libnccl.so.2), run by /p/python\n\n    1  one\n    2  two\n\n"


@pytest.mark.parametrize(
    ("probe", "text"),
    [
        (
            seen(ETH0, ETH0),
            "NCCL took:  eth0, 10.0.0.5\n"
            "Root:       10.0.0.5:4000 (what the other ranks will be told to call)\n"
            "Predicted:  eth0, 10.0.0.5\n"
            "Why:        line",
        ),
        (
            seen(NONE, NONE),
            "NCCL took:  no interface (code 5)\nPredicted:  no interface (code 5)\nWhy:        warning",
        ),
        (
            seen(NONE, None),
            "NCCL took:  no interface (code 5)\nPredicted:  nothing; the interfaces of this machine could not be read",
        ),
    ],
)
def test_what_is_shown(probe: Probe, text: str) -> None:
    assert probe_text(probe, diagnosis(Verdict.UNKNOWN)) == HEAD + text


def test_what_is_unusual_is_noted() -> None:
    assert probe_text(seen(ETH0, ETH0), diagnosis(Verdict.UNKNOWN), ("odd",)).endswith("\n\nNote: odd.")


def test_a_difference_is_said_loudly() -> None:
    text = probe_text(seen(ETH0, ETH1), diagnosis(Verdict.UNKNOWN))

    assert "NCCL took:  eth0, 10.0.0.5" in text
    assert "Predicted:  eth1, 10.1.0.5\nTHE PREDICTION WAS WRONG." in text


@pytest.mark.parametrize(
    ("probe", "found", "code"),
    [
        (seen(ETH0, ETH0), diagnosis(Verdict.HEALTHY), ExitCode.CLEAR),
        (seen(ETH0, ETH0), diagnosis(Verdict.PROBLEM), ExitCode.PROBLEM),
        (seen(ETH0, None), None, ExitCode.CLEAR),
        (seen(ETH0, ETH1), None, ExitCode.PROBLEM),
        (seen(NONE, NONE), None, ExitCode.PROBLEM),
        (seen(Choice("2.29.7", None, None, "?"), None), None, ExitCode.UNKNOWN),
    ],
)
def test_the_exit_code(probe: Probe, found: Diagnosis | None, code: ExitCode) -> None:
    assert exit_code(probe, found) is code


def test_the_command_runs_the_real_nccl(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["probe", "--python", sys.executable, "--env", "NCCL_SOCKET_IFNAME=lo  # mine", "--limit", "60"])

    shown = capsys.readouterr().out
    assert code == ExitCode.PROBLEM
    assert "NCCL_SOCKET_IFNAME set by environment to lo  # mine" in shown
    assert "Predicted:  no interface (code 5)" in shown


def test_the_json_is_the_probe(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    code = main(["probe", "--json", "--python", sys.executable, "--env", "NCCL_SOCKET_IFNAME==lo"])

    probe = msgspec.json.decode(capfdbinary.readouterr().out, type=Probe)
    assert (code, probe.seen.interface, probe.agrees) == (ExitCode.CLEAR, "lo", True)


@pytest.mark.parametrize("arguments", [["--env", "X"], ["--env", "=1"], ["--limit", "0"], ["--limit", "soon"]])
def test_wrong_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["probe", *arguments])

    assert caught.value.code == ExitCode.USAGE
    assert "ncclcheck probe: error:" in capsys.readouterr().err


def test_a_python_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probe", "--python", "/nonexistent/python"]) == ExitCode.UNKNOWN
    assert capsys.readouterr().err.startswith("ncclcheck: /nonexistent/python: there is no such Python\n  Name ")
