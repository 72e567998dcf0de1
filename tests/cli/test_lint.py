"""``ncclcheck lint``: the text, the JSON and the exit codes."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import msgspec
import pytest

from ncclcheck.cli.diagnostics import ExitCode
from ncclcheck.cli.main import main
from ncclcheck.model import FileLint

SCRIPT = "#!/bin/sh\nexport NCCL_SOCKET_IFNAME='eth1 # ours\x1b[31m'\nexport NCCL_DEBUG=$LEVEL\n"


def script(folder: Path) -> str:
    (folder / "run.sh").write_text(SCRIPT)
    return str(folder / "run.sh")


def test_a_finding_has_its_place_its_meaning_and_the_line_as_it_should_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = script(tmp_path)

    assert main(["lint", path]) == ExitCode.PROBLEM
    assert capsys.readouterr().out == (
        f"{path}: shell script (it begins with #! and a shell), 2 settings, 1 line to look at\n"
        f"  {path}:2: export NCCL_SOCKET_IFNAME='eth1 # ours\\x1b[31m'\n"
        "      the comment is part of the value “eth1 # ours\\x1b[31m”: that name fits no interface, and NCCL finds"
        " none\n"
        "      should be: export NCCL_SOCKET_IFNAME='eth1'\n"
        "  ? what NCCL_DEBUG is (line 3): the value is put in when the file is used\n"
    )


def test_the_json_holds_every_file(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    path = script(tmp_path)

    assert main(["lint", "--json", path, str(tmp_path / "none")]) == ExitCode.PROBLEM

    answer = json.loads(capsysbinary.readouterr().out)
    first, second = msgspec.convert(answer["files"], tuple[FileLint, ...])
    assert (first.path, [one.line for one in first.troubles], second.kind) == (path, [2], None)
    assert second.unknown[0].missing == "No such file or directory"


def test_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"export PATH=/bin\n")))

    assert main(["lint", "-"]) == ExitCode.CLEAR
    assert capsys.readouterr().out == "-: shell script (it has shell commands), no NCCL setting in it\n"


@pytest.mark.parametrize(
    ("content", "missing"),
    [
        (b"\0\1\2", "it is no text"),
        (b"#" * (5 << 20), "it is larger than any such file (4 MiB)"),
        (b"hello", "neither name nor content tells"),
    ],
)
def test_what_cannot_be_read_is_unknown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, missing: str
) -> None:
    (tmp_path / "file").write_bytes(content)

    assert main(["lint", str(tmp_path / "file")]) == ExitCode.UNKNOWN
    assert missing in capsys.readouterr().out


def test_a_folder_and_a_device_are_no_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", str(tmp_path), os.devnull]) == ExitCode.UNKNOWN
    assert capsys.readouterr().out.count(": not checked") == 2


def test_the_kind_and_the_version_can_be_given(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("NCCL_DEBUG=INFO\nNCCL_IGNORE_NET_MISMATCH=0\n")

    assert main(["lint", "--kind", "shell", str(tmp_path / "x")]) == ExitCode.PROBLEM
    assert main(["lint", "--kind", "conf", "--nccl", "2.18.3", str(tmp_path / "x")]) == ExitCode.CLEAR
