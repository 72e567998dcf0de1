"""Where each NCCL setting comes from, and which value NCCL ends up with.

Source: initEnv of NCCL's misc/param.cc; measured with NCCL 2.13.4 to 2.32.3. Files are read through ``Sources``.
"""

from __future__ import annotations

import errno
import os
import pwd
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ncclcheck.model import ConfLine, Setting, Trouble, Unknown
from ncclcheck.node import conf
from ncclcheck.node.undecodable import shown
from ncclcheck.node.version import since

ENVIRONMENT = "environment"
SITE_FILE = "/etc/nccl.conf"

_LARGEST = 1 << 20
"""Bytes of a conf file that are looked at; real ones have a few hundred."""


@dataclass(frozen=True, slots=True)
class Sources:
    """What NCCL reads settings from."""

    env: Mapping[str, str]
    login_home: str | None
    """The home folder of the password database, which counts up to NCCL 2.29; later ``$HOME`` does."""
    read: Callable[[str], bytes]
    """Gives a file's content, or raises OSError as ``open`` does."""


@dataclass(frozen=True, slots=True)
class ConfFile:
    """A settings file that exists and can be read."""

    path: str
    content: bytes


def here(env: Mapping[str, str] | None = None) -> Sources:
    """The sources of this process, or of one with another environment."""
    return Sources(env=os.environ if env is None else env, login_home=_login_home(), read=read_file)


def _login_home() -> str | None:
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:  # a container's user often has no entry
        return None


def read_file(path: str) -> bytes:
    """The beginning of a regular file, or OSError; what is no file (a pipe) is not opened."""
    if not stat.S_ISREG(os.stat(path).st_mode) and not os.path.isdir(path):
        # Opening a pipe may wait for ever, and would take from NCCL what it is to read.
        raise OSError(errno.EINVAL, "not a regular file")
    with Path(path).open("rb") as file:
        return file.read(_LARGEST)


def user_file(sources: Sources, nccl: str) -> str | None:
    """The settings file of the user, which NCCL reads before /etc/nccl.conf; it need not exist."""
    named = sources.env.get("NCCL_CONF_FILE", "")
    if named and since(nccl, 2, 23):
        return named
    home = sources.env.get("HOME") if since(nccl, 2, 30) else sources.login_home
    return f"{home}/.nccl.conf" if home else None


def conf_paths(sources: Sources, nccl: str) -> tuple[str, ...]:
    """The files NCCL would read, in the order of precedence, whether they exist or not."""
    mine = user_file(sources, nccl)
    return (mine, SITE_FILE) if mine else (SITE_FILE,)


def conf_files(sources: Sources, nccl: str) -> tuple[tuple[ConfFile, ...], tuple[Unknown, ...]]:
    """The files that NCCL will read here, and those that exist but cannot be read."""
    found: list[ConfFile] = []
    unreadable: list[Unknown] = []
    for path in conf_paths(sources, nccl):
        try:
            found.append(ConfFile(path, sources.read(path)))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError) as error:
            unreadable.append(_unreadable(path, error))
    return tuple(found), tuple(unreadable)


def _unreadable(path: str, error: OSError | ValueError) -> Unknown:
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return Unknown(
        question=f"what {path} sets",
        missing=f"{why}; NCCL ignores a file that it cannot read, and says nothing",
    )


def file_troubles(sources: Sources, nccl: str) -> tuple[ConfLine, ...]:
    """What is wrong with NCCL_CONF_FILE: it names no file that can be read, or pushes ~/.nccl.conf aside."""
    named = sources.env.get("NCCL_CONF_FILE", "")
    if not named or not since(nccl, 2, 23):
        return ()
    text = shown(f"NCCL_CONF_FILE={named}")
    if not _readable(sources, named):
        meaning = "there is no such file that can be read, and NCCL says nothing about it"
        return (ConfLine(ENVIRONMENT, 0, text, Trouble.MISSING_FILE, meaning, ""),)
    usual = user_file(replace(sources, env={**sources.env, "NCCL_CONF_FILE": ""}), nccl)
    if usual and usual != named and _readable(sources, usual):
        meaning = f"NCCL reads this file in place of {usual}, whose settings do not count"
        return (ConfLine(ENVIRONMENT, 0, text, Trouble.REPLACED_FILE, meaning, text),)
    return ()


def _readable(sources: Sources, path: str) -> bool:
    try:
        sources.read(path)
    except (OSError, ValueError):
        return False
    return True


def settings(env: Mapping[str, str], files: Iterable[ConfFile], nccl: str) -> tuple[Setting, ...]:
    """Every setting with its origin; an earlier origin wins, also when its value is empty."""
    seen: set[str] = set()
    found: list[Setting] = []
    for name, value, origin, line in _all(env, files, nccl):
        # The environment counts for every name, those that are not NCCL's own included.
        wins = name not in seen and (origin == ENVIRONMENT or name not in env)
        seen.add(name)
        found.append(Setting(name=name, value=value, origin=origin, line=line, wins=wins))
    return tuple(found)


def _all(env: Mapping[str, str], files: Iterable[ConfFile], nccl: str) -> Iterator[tuple[str, str, str, int | None]]:
    for name in sorted(env):
        if name.startswith("NCCL_"):
            yield name, env[name], ENVIRONMENT, None
    for file in files:
        for entry in conf.entries(file.content, nccl):
            yield entry.name, entry.value, file.path, entry.line


def winning(found: Iterable[Setting]) -> dict[str, str]:
    """The values NCCL ends up with."""
    return {setting.name: setting.value for setting in found if setting.wins}
