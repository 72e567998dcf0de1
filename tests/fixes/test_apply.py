"""Writing so that nothing is lost, and back again; on real files."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ncclcheck.errors import ApplyError
from ncclcheck.fixes import apply as files
from ncclcheck.model import Applied, Edit

NOW = datetime(2026, 11, 30, 12, 0, 5, tzinfo=timezone.utc)


def now() -> datetime:
    return NOW


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_new_file_appears_readable_for_all_and_undo_removes_it(tmp_path: Path) -> None:
    path = tmp_path / "nccl.conf"

    applied = files.apply((Edit(str(path), None, b"A=1\n"),), now)

    digest = hashlib.sha256(b"A=1\n").hexdigest()
    assert applied == (Applied(str(path), backup=None, time="2026-11-30T12:00:05Z", digest=digest),)
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"A=1\n", 0o644)
    files.undo(applied)
    assert names(tmp_path) == []


def test_a_changed_file_keeps_mode_and_owner_and_undo_brings_all_back(tmp_path: Path) -> None:
    path = tmp_path / "nccl.conf"
    owner = 65534 if os.geteuid() == 0 else os.getuid()
    path.write_bytes(b"A=1\n")
    os.chown(path, owner, -1)
    path.chmod(0o640)

    (applied,) = files.apply((Edit(str(path), b"A=1\n", b"A=2\n"),), now)

    backup = tmp_path / "nccl.conf.ncclcheck-backup-20261130T120005Z"
    assert applied.backup == str(backup)
    for place, content in ((path, b"A=2\n"), (backup, b"A=1\n")):
        found = place.stat()
        assert (place.read_bytes(), stat.S_IMODE(found.st_mode), found.st_uid) == (content, 0o640, owner)
    files.undo((applied,))
    found = path.stat()
    assert (path.read_bytes(), stat.S_IMODE(found.st_mode), found.st_uid) == (b"A=1\n", 0o640, owner)
    assert names(tmp_path) == ["nccl.conf"]


def test_a_file_that_goes_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "nccl.conf"
    path.write_bytes(b"A=1\n")

    applied = files.apply((Edit(str(path), b"A=1\n", None),), now)
    assert names(tmp_path) == ["nccl.conf.ncclcheck-backup-20261130T120005Z"]
    files.undo(applied)

    assert (names(tmp_path), path.read_bytes()) == (["nccl.conf"], b"A=1\n")


@given(some.binary(max_size=200), some.binary(max_size=200), some.integers(0o400, 0o777))
def test_undo_restores_every_file_byte_for_byte(before: bytes, after: bytes, mode: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "nccl.conf")
        path.write_bytes(before)
        path.chmod(mode | 0o400)

        files.undo(files.apply((Edit(str(path), before, after),), now))

        assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (before, mode | 0o400)
        assert names(Path(folder)) == ["nccl.conf"]


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    target, link = tmp_path / "real.conf", tmp_path / "nccl.conf"
    target.write_bytes(b"A=1\n")
    link.symlink_to("real.conf")

    applied = files.apply((Edit(str(link), b"A=1\n", b"A=2\n"),), now)

    assert (link.is_symlink(), target.read_bytes()) == (True, b"A=2\n")
    files.undo(applied)
    assert (link.is_symlink(), target.read_bytes()) == (True, b"A=1\n")


def test_two_changes_in_one_second_have_two_backups(tmp_path: Path) -> None:
    path = tmp_path / "nccl.conf"
    path.write_bytes(b"1")

    first = files.apply((Edit(str(path), b"1", b"2"),), now)
    second = files.apply((Edit(str(path), b"2", b"3"),), now)
    files.undo(second)
    files.undo(first)

    assert (names(tmp_path), path.read_bytes()) == (["nccl.conf"], b"1")


def test_a_file_that_changed_meanwhile_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "nccl.conf"
    path.write_bytes(b"new")

    with pytest.raises(ApplyError, match="has changed since the edit was shown"):
        files.apply((Edit(str(path), b"old", b"A=1\n"),), now)

    assert (names(tmp_path), path.read_bytes()) == (["nccl.conf"], b"new")


def test_undo_does_not_throw_a_later_edit_away(tmp_path: Path) -> None:
    path = tmp_path / "nccl.conf"
    applied = files.apply((Edit(str(path), None, b"A=1\n"),), now)
    path.write_bytes(b"A=1\nB=2\n")

    with pytest.raises(ApplyError, match="has been changed since"):
        files.undo(applied)

    assert path.read_bytes() == b"A=1\nB=2\n"


def test_when_one_edit_fails_those_before_it_are_undone(tmp_path: Path) -> None:
    path = tmp_path / "nccl.conf"
    path.write_bytes(b"1")
    edits = (Edit(str(path), b"1", b"2"), Edit(str(tmp_path / "gone/nccl.conf"), None, b"3"))

    with pytest.raises(ApplyError) as caught:
        files.apply(edits, now)

    assert caught.value.place == str(tmp_path / "gone/nccl.conf")
    assert "make the folder first" in caught.value.next_step
    assert (names(tmp_path), path.read_bytes()) == (["nccl.conf"], b"1")


def test_a_folder_in_place_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(ApplyError) as caught:
        files.read(str(tmp_path))

    assert caught.value.problem == "cannot be read: Is a directory"
    assert "remove it first" in caught.value.next_step


def test_a_pipe_in_place_of_the_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "nccl.conf")

    with pytest.raises(ApplyError, match="cannot be read: not a regular file"):
        files.read(str(tmp_path / "nccl.conf"))


def test_a_lost_backup(tmp_path: Path) -> None:
    path = tmp_path / "nccl.conf"
    path.write_bytes(b"1")
    (applied,) = files.apply((Edit(str(path), b"1", b"2"),), now)
    assert applied.backup is not None
    os.unlink(applied.backup)

    with pytest.raises(ApplyError, match="cannot be put back"):
        files.undo((applied,))

    assert path.read_bytes() == b"2"


@contextlib.contextmanager
def an_ordinary_user() -> Iterator[None]:
    """Give root's rights up for a while; anybody else has none anyway."""
    mine = os.geteuid()
    if mine == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(mine)


def test_without_the_right_to_write() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "nccl.conf")
        path.write_bytes(b"1")
        Path(folder).chmod(0o555)

        with an_ordinary_user(), pytest.raises(ApplyError) as caught:
            files.apply((Edit(str(path), b"1", b"2"),), now)

        assert caught.value.problem == "cannot be written: Permission denied; nothing was changed"
        assert caught.value.next_step == "Use your own file (--file ~/.nccl.conf), or do it as root"
        assert (names(Path(folder)), path.read_bytes()) == (["nccl.conf"], b"1")
        Path(folder).chmod(0o755)


TRY = """
import sys
from ncclcheck.errors import ApplyError
from ncclcheck.fixes.apply import apply
from ncclcheck.model import Edit
try:
    apply((Edit("etc/nccl.conf", b"1", b"2"),))
except ApplyError as error:
    print(error.problem, "|", error.next_step)
print(open("etc/nccl.conf").read())
"""


@pytest.mark.parametrize(
    ("mounts", "problem"),
    [
        ("mount -t tmpfs none etc; printf 1 > etc/nccl.conf; mount -o remount,ro etc", "Read-only file system"),
        ("mkdir etc; printf 1 > etc/nccl.conf; printf 1 > other; mount --bind other etc/nccl.conf", "busy"),
    ],
)
def test_mounts_that_forbid_it(tmp_path: Path, mounts: str, problem: str) -> None:
    if mounts.startswith("mount"):
        (tmp_path / "etc").mkdir()
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-ec", f'{mounts}; exec "$0" -c "$1"']

    done = subprocess.run([*command, sys.executable, TRY], cwd=tmp_path, capture_output=True, text=True, check=True)

    message, content = done.stdout.splitlines()
    assert (problem in message, "nothing was changed |" in message, "--file ~/.nccl.conf" in message) == (True,) * 3
    assert content == "1"
