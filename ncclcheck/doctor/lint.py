"""What do these files say to NCCL?"""

from __future__ import annotations

import stat
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from ncclcheck.doctor.recognise import Kind, recognise
from ncclcheck.model import FileKind, FileLint, Unknown
from ncclcheck.node.files.check import check

_READERS = dict.fromkeys(Kind, "ncclcheck analyze - reads it") | {
    Kind.CARDS: "ncclcheck match - reads them",
    Kind.INVITATION: "it is a command to run on another node",
}
_LARGEST = 4 << 20
"""Bytes; a script or a manifest has a few thousand."""


def lint(paths: Sequence[str], *, nccl: str | None = None, kind: FileKind | None = None) -> tuple[FileLint, ...]:
    """The NCCL settings in each file, ``-`` being standard input; a file that cannot be read is unknown."""
    return tuple(_linted(path, nccl, kind) for path in paths)


def _linted(path: str, nccl: str | None, kind: FileKind | None) -> FileLint:
    try:
        content = _stdin() if path == "-" else _read(Path(path))
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return _unread(path, why)
    if len(content) > _LARGEST:
        return _unread(path, "it is larger than any such file (4 MiB)")
    if b"\0" in content:
        return _unread(path, "it is no text")
    return _recognised(path, content, nccl) if path == "-" and kind is None else check(path, content, nccl, kind)


def _recognised(path: str, content: bytes, nccl: str | None) -> FileLint:
    """A text without a name: it may be something else than a file."""
    found = recognise(content.decode("utf-8", "replace").replace("\r\n", "\n"))
    if found.file is not None:
        return replace(check(path, content, nccl, found.file), because="by its lines")
    if found.sure:
        return _unread(path, f"it is {found.words}, and no file with settings: {_READERS[found.kind]}")
    return check(path, content, nccl)


def _unread(path: str, why: str) -> FileLint:
    return FileLint(path, None, "not read", unknown=(Unknown(f"what {path} sets", why),))


def _stdin(read: Callable[[int], bytes] | None = None) -> bytes:
    return (read or sys.stdin.buffer.read)(_LARGEST + 1)


def _read(path: Path) -> bytes:
    if stat.S_ISCHR(path.stat().st_mode) or stat.S_ISBLK(path.stat().st_mode):
        raise ValueError("it is a device")
    with path.open("rb") as file:
        return file.read(_LARGEST + 1)
