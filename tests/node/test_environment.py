"""Which file or variable a setting comes from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from ncclcheck.model import ConfLine, Setting, Trouble, Unknown
from ncclcheck.node.environment import (
    ConfFile,
    Sources,
    conf_files,
    conf_paths,
    file_troubles,
    here,
    settings,
    winning,
)

MINE, SITE, NAMED = "/home/a/.nccl.conf", "/etc/nccl.conf", "/opt/nccl.conf"


def sources(env: Mapping[str, str] = {}, login: str | None = "/home/a", **files: bytes | OSError) -> Sources:
    """A machine with these files, named mine, site or named."""
    paths = {MINE: files.get("mine"), SITE: files.get("site"), NAMED: files.get("named")}

    def read(path: str) -> bytes:
        content = paths.get(path)
        if isinstance(content, bytes):
            return content
        raise content or FileNotFoundError(2, "No such file or directory", path)

    return Sources(env=env, login_home=login, read=read)


@pytest.mark.parametrize(
    ("env", "login", "nccl", "expected"),
    [
        ({}, "/home/a", "2.29.7", (MINE, SITE)),
        ({}, None, "2.29.7", (SITE,)),
        ({"HOME": "/home/b"}, "/home/a", "2.29.7", (MINE, SITE)),
        ({"HOME": "/home/b"}, "/home/a", "2.30.3", ("/home/b/.nccl.conf", SITE)),
        ({}, "/home/a", "2.30.3", (SITE,)),
        ({"NCCL_CONF_FILE": NAMED}, "/home/a", "2.22.3", (MINE, SITE)),
        ({"NCCL_CONF_FILE": NAMED}, "/home/a", "2.23.4", (NAMED, SITE)),
        ({"NCCL_CONF_FILE": ""}, "/home/a", "2.23.4", (MINE, SITE)),
    ],
)
def test_the_files_by_version(env: dict[str, str], login: str | None, nccl: str, expected: tuple[str, ...]) -> None:
    assert conf_paths(sources(env, login), nccl) == expected


def test_the_environment_wins_even_when_empty_then_the_own_file_then_the_site_and_the_first_line_in_each() -> None:
    env = {"NCCL_A": "", "PATH": "/bin"}
    files = (ConfFile(MINE, b"NCCL_A=1\nNCCL_B=1\nNCCL_B=2\n"), ConfFile(SITE, b"NCCL_B=3\nNCCL_C=3\nPATH=/x\n"))

    found = settings(env, files, "2.29.7")

    assert found == (
        Setting("NCCL_A", "", "environment"),
        Setting("NCCL_A", "1", MINE, line=1, wins=False),
        Setting("NCCL_B", "1", MINE, line=2),
        Setting("NCCL_B", "2", MINE, line=3, wins=False),
        Setting("NCCL_B", "3", SITE, line=1, wins=False),
        Setting("NCCL_C", "3", SITE, line=2),
        Setting("PATH", "/x", SITE, line=3, wins=False),
    )
    assert winning(found) == {"NCCL_A": "", "NCCL_B": "1", "NCCL_C": "3"}


def test_a_file_that_cannot_be_read_is_unknown_and_one_that_is_not_there_is_nothing() -> None:
    machine = sources(mine=b"NCCL_A=1\n", site=IsADirectoryError(21, "Is a directory"))

    assert conf_files(machine, "2.29.7") == (
        (ConfFile(MINE, b"NCCL_A=1\n"),),
        (
            Unknown(
                "what /etc/nccl.conf sets",
                "Is a directory; NCCL ignores a file that it cannot read, and says nothing",
            ),
        ),
    )


@pytest.mark.parametrize(
    ("machine", "trouble"),
    [
        (sources({"NCCL_CONF_FILE": NAMED}), Trouble.MISSING_FILE),
        (sources({"NCCL_CONF_FILE": NAMED}, named=PermissionError(13, "Permission denied")), Trouble.MISSING_FILE),
        (sources({"NCCL_CONF_FILE": NAMED}, named=b"", mine=b""), Trouble.REPLACED_FILE),
        (sources({"NCCL_CONF_FILE": NAMED}, named=b""), None),
        (sources({"NCCL_CONF_FILE": ""}, mine=b""), None),
        (sources({}, mine=b""), None),
    ],
)
def test_what_nccl_conf_file_does_without_a_word(machine: Sources, trouble: Trouble | None) -> None:
    assert [one.trouble for one in file_troubles(machine, "2.29.7")] == ([trouble] if trouble else [])


def test_nccl_conf_file_means_nothing_before_2_23() -> None:
    assert file_troubles(sources({"NCCL_CONF_FILE": NAMED}), "2.22.3") == ()


def test_the_line_of_a_replaced_file_names_both() -> None:
    machine = sources({"NCCL_CONF_FILE": NAMED}, named=b"", mine=b"")

    text = f"NCCL_CONF_FILE={NAMED}"
    meaning = f"NCCL reads this file in place of {MINE}, whose settings do not count"
    assert file_troubles(machine, "2.29.7") == (ConfLine("environment", 0, text, Trouble.REPLACED_FILE, meaning, text),)


def test_this_machine_can_be_read() -> None:
    with pytest.raises(FileNotFoundError):
        here({}).read("/nonexistent/nccl.conf")


def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(OSError, match="not a regular file"):
        here({}).read(str(tmp_path / "pipe"))
