"""Runs a command as somebody with fewer rights: ``python people.py ordinary|powerless COMMAND…``.

An ordinary user may make user namespaces; a powerless one may make no namespaces at all. Each run has its own mount
namespace, where the interpreter and the checkout are readable even if they lie in root's home folder.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from ncclcheck.lab import kernel

_NOBODY = 65534
_MS_BIND = 4096
_PR_CAPBSET_DROP, _CAP_SYS_ADMIN = 24, 21
_libc = ctypes.CDLL(None, use_errno=True)

SCRIPT = str(Path(__file__))


def _needed() -> tuple[Path, ...]:
    checkout = Path(__file__).parents[2]
    return tuple(Path(folder).resolve() for folder in (sys.base_prefix, sys.prefix, checkout))


def _closed_folders() -> Iterator[tuple[Path, tuple[Path, ...]]]:
    """Topmost folders that others may not enter, with what is needed below each."""
    tops: dict[Path, tuple[Path, ...]] = {}
    for folder in _needed():
        closed = [parent for parent in reversed(folder.parents) if not parent.stat().st_mode & 1]
        if closed:
            tops[closed[0]] = (*tops.get(closed[0], ()), folder)
    yield from tops.items()


def _open_up(top: Path, needed: tuple[Path, ...]) -> None:
    """Cover a closed folder with an open one that holds only what is needed."""
    originals = [(folder, os.open(folder, os.O_RDONLY | os.O_DIRECTORY)) for folder in needed]
    kernel.mount("tmpfs", str(top), options="mode=755")
    for folder, original in originals:
        folder.mkdir(parents=True, exist_ok=True)
        source = f"/proc/self/fd/{original}".encode()
        if _libc.mount(source, str(folder).encode(), None, ctypes.c_ulong(_MS_BIND), None):
            raise OSError(ctypes.get_errno(), f"cannot bind {folder}")
        os.close(original)


def become_ordinary() -> None:
    """Be a user without rights; does nothing where we are one."""
    if os.getuid():
        return
    kernel.unshare(kernel.CLONE_NEWNS, "mounts")
    kernel.make_private()
    for top, needed in _closed_folders():
        _open_up(top, needed)
    os.setgroups([])
    os.setgid(_NOBODY)
    os.setuid(_NOBODY)
    # Such a user has no home folder to write to, and neither shall its programs.
    os.environ.update(HOME="/nonexistent", PYTHONDONTWRITEBYTECODE="1")


def become_powerless() -> None:
    """Be root of a user namespace that may hold no further ones, without the right to make others."""
    user, group = os.getuid(), os.getgid()
    kernel.unshare(kernel.CLONE_NEWUSER, "user namespace")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    Path("/proc/sys/user/max_user_namespaces").write_text("0")
    _libc.prctl(_PR_CAPBSET_DROP, _CAP_SYS_ADMIN, 0, 0, 0)


if __name__ == "__main__":
    {"ordinary": become_ordinary, "powerless": become_powerless}[sys.argv[1]]()
    os.execvp(sys.argv[2], sys.argv[2:])
