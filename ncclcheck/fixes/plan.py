"""What a fix will change, before anything is written (pure)."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from ncclcheck.errors import ApplyError
from ncclcheck.model import Edit, FileContent, Fix, Setting
from ncclcheck.node import conf, lint
from ncclcheck.node.values import faults
from ncclcheck.node.version import NEWEST

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Change:
    """What to do to one nccl.conf."""

    sets: tuple[tuple[str, str], ...] = ()
    unsets: tuple[str, ...] = ()
    repair: bool = False
    """Put right every line that does not do what its author meant."""


def change_of(fix: Fix) -> Change:
    """The settings that a fix makes; its commands are for people to run."""
    return Change(sets=fix.env)


def edit(path: str, before: bytes | None, change: Change, nccl: str) -> Edit:
    """The file as it will be; ApplyError for a value that NCCL would not read as it looks."""
    after = before or b""
    if change.repair:
        after = lint.repair(after, nccl)
    for name in change.unsets:
        after = conf.remove(after, name)
    for name, value in change.sets:
        refuse_unsafe(name, value)
        after = conf.set_value(after, name, value)
    return Edit(path=path, before=before, after=before if after == (before or b"") else after)


def files_of(fix: Fix) -> tuple[FileContent, ...]:
    """The files that a fix brings along; an nccl.conf only tells its settings a second time where there are some."""
    return tuple(file for file in fix.files if not (fix.env and _is_conf(file.path)))


def file_edit(file: FileContent, before: bytes | None) -> Edit:
    """The file as the fix wants it; of an nccl.conf the other lines stay."""
    after = file.content.encode()
    if _is_conf(file.path) and before is not None:
        wanted = conf.entries(after, NEWEST)
        after = before
        for entry in wanted:
            after = conf.set_value(after, entry.name, entry.value)
    return Edit(path=file.path, before=before, after=after)


def _is_conf(path: str) -> bool:
    return PurePath(path).name in ("nccl.conf", ".nccl.conf")


def refuse_unsafe(name: str, value: str) -> None:
    """Refuse what would not survive NCCL's reading of a conf file, and say what NCCL would make of it."""
    if not _NAME.fullmatch(name):
        raise ApplyError("no such name of a setting is possible", place=repr(name), next_step="Write NAME=VALUE")
    objection = _objection(value)
    if objection:
        read = conf.entries(os.fsencode(f"{name}={value}"), NEWEST)[0].value
        raise ApplyError(
            f"refused because of {objection}: NCCL would read {name} as {read!r}",
            place=f"{name}={value!r}",
            next_step="Give the bare value; a comment goes on a line of its own that begins with #",
        )


def _objection(value: str) -> str:
    signs = (
        ("\n", "a line break"),
        ("\r", "a carriage return"),
        ("\0", "a NUL"),
        ("#", "the comment, which NCCL keeps in the value"),
        ('"', "the quotes"),
        ("'", "the quotes"),
        (";", "the semicolon"),
    )
    found = next((words for sign, words in signs if sign in value), "")
    return found or ("the blanks" if re.search(r"\s", value) else "")


def diff(edits: Sequence[Edit]) -> str:
    """The edits as a unified diff; lines end as in the file, and a missing last line feed is said."""
    return "\n".join(line for edit in edits for line in _diff_lines(edit))


def _diff_lines(edit: Edit) -> Iterable[str]:
    before, after = edit.before or b"", edit.after or b""
    if b"\0" in before:
        return (f"{edit.path}: {len(before)} bytes that are no text become {len(after)} bytes",)
    old, new = _text_lines(before), _text_lines(after)
    source = edit.path if edit.before is not None else "/dev/null"
    target = edit.path if edit.after is not None else "/dev/null"
    return difflib.unified_diff(old, new, source, target, lineterm="")


def _text_lines(content: bytes) -> list[str]:
    lines = content.decode(errors="backslashreplace").split("\n")
    if lines[-1]:
        return [*lines[:-1], lines[-1] + "  (no line feed at the end)"]
    return lines[:-1]


def remarks(change: Change, nccl: str) -> tuple[str, ...]:
    """What NCCL makes of the new values, where that is hardly what was meant."""
    return tuple(
        f"{name}={value}: {fault.meaning}; {name}={fault.better} is better"
        for name, value in change.sets
        for fault in faults(name, value, nccl)
    )


def cautions(names: Iterable[str], path: str, settings: Iterable[Setting], read: Sequence[str]) -> tuple[str, ...]:
    """What the user must know beside the diff; ``read`` are the files that NCCL reads here."""
    found = [f"{path} is not among the files that NCCL reads here: {', '.join(read)}"] if path not in read else []
    wanted = tuple(dict.fromkeys(names))
    for setting in settings:
        if setting.name in wanted and setting.wins and setting.origin != path and _before(setting.origin, path, read):
            found.append(_hides(setting, path))
    found.append("A job that runs already keeps its old settings: restart it on this node")
    return tuple(found)


def _before(origin: str, path: str, read: Sequence[str]) -> bool:
    return origin not in read or path not in read or read.index(origin) < read.index(path)


def _hides(setting: Setting, path: str) -> str:
    where = "the environment" if setting.origin == "environment" else f"{setting.origin}, line {setting.line}"
    value = setting.value or "an empty value, which counts as well"
    return f"{setting.name} in {path} will not count: {where} sets it to {value}. Remove it there"
