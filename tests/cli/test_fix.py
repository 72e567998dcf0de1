"""``ncclcheck fix``: diff, apply, undo, repair and refusal."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import msgspec
import pytest

from ncclcheck.cli.diagnostics import ExitCode
from ncclcheck.cli.main import main
from ncclcheck.doctor.history import Review
from ncclcheck.model import Applied, Edit
from tests.fixes.test_apply import an_ordinary_user

GUIDE = "NCCL_SOCKET_IFNAME=eth1  # Replace with your own network interface name\n"


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An nccl.conf with the line of the public guide."""
    (tmp_path / "nccl.conf").write_text(GUIDE)
    return tmp_path / "nccl.conf"


def test_without_apply_only_the_diff_is_shown(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fix", "--set", "NCCL_SOCKET_IFNAME==eth1", "--file", str(path)]) == ExitCode.CLEAR

    shown = capsys.readouterr().out
    assert shown.startswith(f"--- {path}\n+++ {path}\n@@ -1 +1 @@\n-{GUIDE}+NCCL_SOCKET_IFNAME==eth1\n\n")
    assert f"Note: {path} is not among the files that NCCL reads here" in shown
    assert "Note: A job that runs already keeps its old settings: restart it on this node." in shown
    assert "Nothing was written." in shown
    assert path.read_text() == GUIDE


def test_repair_apply_and_undo(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fix", "--repair", "--file", str(path), "--apply"]) == ExitCode.CLEAR
    assert path.read_text() == "NCCL_SOCKET_IFNAME=eth1\n"
    assert f"Written: {path}; the old one is kept as {path}.ncclcheck-backup-" in capsys.readouterr().out

    assert main(["fix", "--undo"]) == ExitCode.CLEAR
    assert path.read_text() == GUIDE
    assert capsys.readouterr().out.startswith(f"{path} is as it was before ")

    assert main(["fix", "--undo"]) == ExitCode.UNKNOWN
    assert "nothing was applied here that could be undone" in capsys.readouterr().err


def test_undo_can_be_looked_at_first(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fix", "--undo", "--show"]) == ExitCode.UNKNOWN
    assert "nothing was applied here that could be undone" in capsys.readouterr().err
    main(["fix", "--repair", "--file", str(path), "--apply"])
    capsys.readouterr()

    assert main(["fix", "--undo", "--show"]) == ExitCode.CLEAR
    shown = capsys.readouterr().out
    assert f"-NCCL_SOCKET_IFNAME=eth1\n+{GUIDE.splitlines()[0]}" in shown
    assert "Nothing was written. The same command without --show writes it." in shown
    assert main(["fix", "--undo", "--show", "--json"]) == ExitCode.CLEAR
    assert msgspec.json.decode(capsys.readouterr().out, type=Review).refusal == ""
    assert path.read_text() == "NCCL_SOCKET_IFNAME=eth1\n"

    path.write_text("# mine\n")
    assert main(["fix", "--undo", "--show"]) == ExitCode.CLEAR
    assert "Somebody has changed the file since" in capsys.readouterr().out


def test_unset_a_new_file_and_nothing_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = tmp_path / "new.conf"

    assert main(["fix", "--set", "NCCL_DEBUG=INFO", "--file", str(new), "--apply"]) == ExitCode.CLEAR
    assert f"Written: {new}; it is new." in capsys.readouterr().out
    assert main(["fix", "--set", "NCCL_DEBUG=INFO", "--file", str(new), "--apply"]) == ExitCode.CLEAR
    assert capsys.readouterr().out == "Nothing to change: the file says so already.\n"
    assert main(["fix", "--unset", "NCCL_DEBUG", "--file", str(new), "--apply"]) == ExitCode.CLEAR
    assert new.read_text() == ""


def test_a_trailing_comment_is_refused(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["fix", "--set", "NCCL_SOCKET_IFNAME=eth1 # mine", "--file", str(path), "--apply"]

    assert main(arguments) == ExitCode.UNKNOWN
    assert "NCCL would read NCCL_SOCKET_IFNAME as 'eth1 # mine'" in capsys.readouterr().err
    assert path.read_text() == GUIDE


def test_without_the_right_to_write_the_command_for_root_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "nccl.conf")
        Path(folder).chmod(0o555)
        with an_ordinary_user():
            code = main(["fix", "--set", "NCCL_SOCKET_IFNAME=^lo,docker", "--file", str(path), "--apply"])
        Path(folder).chmod(0o755)

    assert code == ExitCode.UNKNOWN
    assert capsys.readouterr().err == (
        f"ncclcheck: {path}: cannot be written: Permission denied; nothing was changed\n"
        "  Use your own file (--file ~/.nccl.conf), or run: sudo"
        f" {sys.executable} -m ncclcheck fix --set 'NCCL_SOCKET_IFNAME=^lo,docker' --file {path} --apply\n"
    )


def test_json_in_and_out(path: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["fix", "--repair", "--file", str(path), "--json"]) == ExitCode.CLEAR
    shown = capfdbinary.readouterr().out
    assert msgspec.json.decode(shown, type=tuple[Edit, ...]) == (
        Edit(str(path), GUIDE.encode(), b"NCCL_SOCKET_IFNAME=eth1\n"),
    )

    (tmp_path / "edits").write_bytes(shown)
    assert main(["fix", "--apply", "--from", str(tmp_path / "edits"), "--json"]) == ExitCode.CLEAR
    applied = capfdbinary.readouterr().out
    assert [one.path for one in msgspec.json.decode(applied, type=tuple[Applied, ...])] == [str(path)]

    (tmp_path / "applied").write_bytes(applied)
    assert main(["fix", "--undo", "--from", str(tmp_path / "applied")]) == ExitCode.CLEAR
    assert path.read_text() == GUIDE

    (tmp_path / "edits").write_text("{")
    assert main(["fix", "--apply", "--from", str(tmp_path / "edits")]) == ExitCode.UNKNOWN
    assert b"is not what an earlier --json printed" in capfdbinary.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["--set", "X"], ["--apply"], ["--undo", "--repair"], ["--show"]])
def test_wrong_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["fix", *arguments])

    assert caught.value.code == ExitCode.USAGE
    assert "ncclcheck fix: error:" in capsys.readouterr().err
