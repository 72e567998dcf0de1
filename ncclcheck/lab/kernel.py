"""The few system calls that Python before 3.12 does not offer (unshare(2), mount(2), prctl(2))."""

from __future__ import annotations

import ctypes
import os

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_REC = 0x4000
MS_PRIVATE = 1 << 18

_PR_SET_NAME = 15

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), what)


def unshare(flags: int, what: str) -> None:
    """Move this process into new namespaces; raises OSError that names ``what``."""
    _check(_libc.unshare(flags), what)


def mount(kind: str, target: str, flags: int = 0, options: str = "") -> None:
    """Mount a file system of this kind on the target; raises OSError that names the target."""
    words = [text.encode() for text in (kind, target, kind, options)]
    _check(_libc.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3]), target)


def make_private() -> None:
    """From now on no mount made here is seen outside, nor the other way round."""
    mount("none", "/", MS_REC | MS_PRIVATE)


def set_name(name: str) -> None:
    """The name that ``ps -o comm`` shows for this process."""
    _libc.prctl(_PR_SET_NAME, name.encode(), 0, 0, 0)
