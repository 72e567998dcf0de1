"""Writing a file so that nothing is ever lost: backup, atomic replace, and back again.

A file is replaced by renaming a finished copy over it, in the same folder; mode, owner and extended attributes
stay, a symbolic link stays one. Where anything fails, the file is as it was.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from pathlib import Path

from ncclcheck.errors import ApplyError
from ncclcheck.model import Applied, Edit

Clock = Callable[[], datetime]

_NEW_MODE = 0o644
"""NCCL runs as any user, and ignores without a word what it cannot read."""


def _now() -> datetime:
    return datetime.now(timezone.utc)


def read(path: str) -> bytes | None:
    """The file's bytes, ``None`` where there is no such file; ApplyError where it cannot be read."""
    with _explained(path, "read"):
        try:
            # Opening a pipe or a terminal may wait for ever.
            if stat.S_ISFIFO(mode := os.stat(path).st_mode) or stat.S_ISCHR(mode):
                raise OSError(errno.ENOTSUP, "not a regular file")
            return Path(path).read_bytes()
        except FileNotFoundError:
            return None


def apply(edits: tuple[Edit, ...], now: Clock = _now) -> tuple[Applied, ...]:
    """Make all edits, or none: when one fails, those before it are undone."""
    done: list[Applied] = []
    try:
        for edit in edits:
            done.append(_apply_one(edit, now()))
    except ApplyError:
        undo(tuple(done))
        raise
    return tuple(done)


def undo(applied: tuple[Applied, ...]) -> None:
    """Put back bytes, mode and owner of every file, the last change first."""
    for change in reversed(applied):
        _undo_one(change)


def _apply_one(edit: Edit, now: datetime) -> Applied:
    if read(edit.path) != edit.before:
        raise ApplyError(
            "has changed since the edit was shown", place=edit.path, next_step="Look at it again, then retry"
        )
    time = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    with _explained(edit.path, "written"):
        target = os.path.realpath(edit.path)
        backup = _back_up(target, now) if edit.before is not None else None
        try:
            _put(target, edit.after, like=backup)
        except OSError:
            if backup:
                os.unlink(backup)
            raise
    return Applied(path=edit.path, backup=backup, time=time, digest=digest(edit.after))


def _undo_one(change: Applied) -> None:
    if digest(read(change.path)) != change.digest:
        raise ApplyError(
            "has been changed since; undoing would lose that",
            place=change.path,
            next_step=f"Compare it with {change.backup}" if change.backup else "Remove the setting by hand",
        )
    with _explained(change.path, "put back"):
        target = os.path.realpath(change.path)
        if change.backup is None:
            _put(target, None, like=None)
            return
        _put(target, Path(change.backup).read_bytes(), like=change.backup)
        os.unlink(change.backup)


def replace(path: str, content: bytes) -> None:
    """Write a file of our own in one step, without a backup."""
    with _explained(path, "written"):
        target = os.path.realpath(path)
        _put(target, content, like=target if os.path.exists(target) else None)


def write_whole(target: str, content: bytes, prepare: Callable[[str], None] = lambda _: None) -> None:
    """The whole new content or the old one, whatever happens, with mode 0600 unless ``prepare`` gives another.

    ``prepare`` gets the path of the file before it takes the other's place. Raises OSError.
    """
    handle, temporary = tempfile.mkstemp(prefix=".ncclcheck-", dir=os.path.dirname(target))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            prepare(temporary)
            os.fsync(file.fileno())
        os.rename(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def digest(content: bytes | None) -> str:
    """What an ``Applied`` keeps of what was written: SHA-256, empty where there is no file."""
    return "" if content is None else hashlib.sha256(content).hexdigest()


def _back_up(target: str, now: datetime) -> str:
    """A copy beside the file, complete with mode, owner and times."""
    base = f"{target}.ncclcheck-backup-{now.strftime('%Y%m%dT%H%M%SZ')}"
    backup = next(name for name in _numbered(base) if not os.path.lexists(name))
    _put(backup, Path(target).read_bytes(), like=target)
    return backup


def _numbered(base: str) -> Iterator[str]:
    yield base
    number = 2
    while True:
        yield f"{base}-{number}"
        number += 1


def _put(target: str, content: bytes | None, like: str | None) -> None:
    """Replace the target in one step; mode, owner and attributes are those of ``like``."""
    if content is None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(target)
        return
    write_whole(target, content, lambda temporary: _resemble(temporary, like))
    _sync_folder(os.path.dirname(target))


def _resemble(path: str, like: str | None) -> None:
    if like is None:
        os.chmod(path, _NEW_MODE)
        return
    wanted = os.stat(like)
    os.chown(path, wanted.st_uid, wanted.st_gid)
    shutil.copystat(like, path)
    os.chmod(path, stat.S_IMODE(wanted.st_mode))  # chown drops the set-user-id bits
    os.utime(path)


def _sync_folder(folder: str) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def _explained(path: str, verb: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        outcome = "" if verb == "read" else "; nothing was changed"
        problem = f"cannot be {verb}: {reason}{outcome}"
        raise ApplyError(problem, place=path, next_step=_next_step(error.errno)) from error


def _next_step(number: int | None) -> str:
    if number == errno.EROFS:
        return "The file system is read-only: use --file ~/.nccl.conf, or the environment of your job"
    if number in (errno.EACCES, errno.EPERM):
        return "Use your own file (--file ~/.nccl.conf), or do it as root"
    if number in (errno.ENOENT, errno.ENOTDIR):
        return "Its folder is not there: make the folder first, or name another file with --file"
    if number == errno.EISDIR:
        return "There is a folder where the file should be (a mount of a missing file makes one): remove it first"
    if number == errno.EBUSY:
        return "It is mounted from outside, as containers do: change it there, or use --file ~/.nccl.conf"
    return "Name another file with --file"
