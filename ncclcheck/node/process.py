"""What a running process has: its variables, the nccl.conf files that it sees, and the libnccl in its memory.

Through /proc, so on Linux only, and for processes of one's own unless one is root (proc(5)). The paths are those of
the process: in a container its own /etc and home, reached through ``/proc/PID/root``.
"""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from ncclcheck.errors import NodeError
from ncclcheck.model import Library, RunningProcess, Setting, Unknown
from ncclcheck.node.environment import Sources, conf_files, file_troubles, read_file, settings
from ncclcheck.node.libnccl import version_in
from ncclcheck.node.lint import lint_files, lint_settings
from ncclcheck.node.rooted import inside
from ncclcheck.node.undecodable import shown
from ncclcheck.node.version import NEWEST

LAUNCH = ("GLOO_SOCKET_IFNAME", "MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "LOCAL_RANK")
"""Variables that are not NCCL's, but decide who finds whom."""
_OF_A_RANK = ("RANK", "LOCAL_RANK")
"""What differs between the processes of a job by rights."""
_PROC = Path("/proc")
_MAPPED = re.compile(r" (/\S.*libnccl\.so\S*)(?: \(deleted\))?$", re.MULTILINE)


def look_at(pid: int, nccl: str | None = None, proc: Path = _PROC) -> RunningProcess:
    """The settings of a process with their origins; NodeError where it may not be looked at."""
    folder = proc / str(pid)
    env = _environment(folder, pid)
    libraries, unseen = _libraries(folder)
    version = nccl or next((one.version for one in libraries if one.version), None) or NEWEST
    user = _user(folder)
    sources, same_root = _sources(folder, env, user)
    files, unreadable = conf_files(sources, version)
    found = settings(env, files, version)
    return RunningProcess(
        pid=pid,
        command=shown(_text(folder / "cmdline").rstrip("\0").replace("\0", " ")),
        user=_name_of(user, folder, same_root),
        nccl=version,
        own_root=not same_root,
        own_network=not _same(folder / "ns/net", proc / "self/ns/net"),
        settings=tuple(map(_shown, (*found, *_launch(env)))),
        conf_troubles=lint_files(files, version) + lint_settings(found, version) + file_troubles(sources, version),
        conf_files=tuple(file.path for file in files),
        libraries=libraries,
        unknown=(*unreadable, *unseen),
    )


def _shown(setting: Setting) -> Setting:
    return replace(setting, name=shown(setting.name), value=shown(setting.value))


def _environment(folder: Path, pid: int) -> dict[str, str]:
    try:
        content = (folder / "environ").read_bytes()
    except (FileNotFoundError, ProcessLookupError) as error:
        step = "" if folder.parent.is_dir() else "This needs /proc, which only Linux has"
        raise NodeError("there is no such process", place=f"process {pid}", next_step=step or _LIST) from error
    except OSError as error:
        problem = f"its variables may not be read: {error.strerror}"
        step = f"Run this as the user of the process, or as root: sudo ncclcheck node --pid {pid}"
        if os.geteuid() == 0:
            step = "Even root may not (a container without SYS_PTRACE): run this as the user of the process, beside it"
        raise NodeError(problem, place=f"process {pid}", next_step=step) from error
    pairs = (os.fsdecode(pair).partition("=") for pair in content.split(b"\0") if b"=" in pair)
    return {name: value for name, _, value in pairs}


_LIST = "pgrep -af python lists the processes of a training"


def _launch(env: Mapping[str, str]) -> Iterator[Setting]:
    for name in LAUNCH:
        if name in env:
            yield Setting(name, env[name], "environment")


def _text(path: Path) -> str:
    try:
        return os.fsdecode(path.read_bytes())
    except OSError:
        return ""


def _same(one: Path, other: Path) -> bool:
    try:
        return os.path.samestat(one.stat(), other.stat())
    except OSError:
        return True


def _user(folder: Path) -> int | None:
    found = re.search(r"^Uid:\s+\d+\s+(\d+)", _text(folder / "status"), re.MULTILINE)
    return int(found[1]) if found else None


def _sources(folder: Path, env: Mapping[str, str], user: int | None) -> tuple[Sources, bool]:
    root = folder / "root"
    same_root = _same(root, Path("/"))

    def read(path: str) -> bytes:
        if not path.startswith("/"):
            return read_file(str(folder / "cwd" / path))
        return read_file(path if same_root else str(inside(root, path)))

    return Sources(env=env, login_home=_home(user, root, same_root), read=read), same_root


def _home(user: int | None, root: Path, same_root: bool) -> str | None:
    if user is None:
        return None
    if not same_root:
        return next((fields[5] for fields in _passwd(root) if fields[2] == str(user)), None)
    try:
        return pwd.getpwuid(user).pw_dir
    except KeyError:
        return None


def _passwd(root: Path) -> Iterator[list[str]]:
    for line in _text(inside(root, "/etc/passwd")).splitlines():
        fields = line.split(":")
        if len(fields) == 7:
            yield fields


def _name_of(user: int | None, folder: Path, same_root: bool) -> str:
    if user is None:
        return "?"
    if not same_root:
        return next((fields[0] for fields in _passwd(folder / "root") if fields[2] == str(user)), str(user))
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)


def _libraries(folder: Path) -> tuple[tuple[Library, ...], tuple[Unknown, ...]]:
    """The libnccl files in its memory; none where NCCL is not loaded yet."""
    try:
        maps = os.fsdecode((folder / "maps").read_bytes())
    except OSError as error:
        why = error.strerror or str(error)
        return (), (Unknown("which libnccl it has loaded", f"{folder / 'maps'}: {why}"),)
    paths = dict.fromkeys(_MAPPED.findall(maps))
    if not paths:
        return (), (Unknown("which NCCL it will load", "no libnccl is in its memory (yet)"),)
    root = folder / "root"
    return tuple(Library(path, version_in(inside(root, path)), "loaded") for path in paths), ()


def differing(processes: Iterable[RunningProcess]) -> tuple[str, ...]:
    """The names whose values are not the same in all processes, those that belong to one rank left out."""
    values = [{one.name: one.value for one in process.settings if one.wins} for process in processes]
    names = dict.fromkeys(name for found in values for name in found if name not in _OF_A_RANK)
    return tuple(name for name in sorted(names) if len({found.get(name) for found in values}) > 1)
