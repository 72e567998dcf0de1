"""A setting in a file of any kind: what it is, where it stands, and the line as it should be (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from ncclcheck.model import ConfLine, Trouble
from ncclcheck.node.catalogue import nearest
from ncclcheck.node.lint import name_faults
from ncclcheck.node.undecodable import shown
from ncclcheck.node.values import Fault, faults

NAME = r"(?:(?i:NCCL_\w+)|GLOO_SOCKET_IFNAME)"
"""What the names that are looked for are like."""
_SAFE = re.compile(r"[\w@%+=:,./^-]*")
"""Text that no shell changes."""


class Style(Enum):
    """How a value has to be written where it stands."""

    SHELL = "shell"
    YAML = "yaml"
    LITERAL = "literal"


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line; lines count from 1, columns from 0."""

    line: int
    start: int
    end: int


Edit = tuple[Span, str]


@dataclass(frozen=True, slots=True)
class Assignment:
    """A setting, as the file writes it and as the process gets it."""

    name: str
    value: str | None
    """``None`` where something that is not in the file decides it."""
    name_at: Span
    value_at: Span
    style: Style = Style.SHELL
    faults: tuple[Fault, ...] = ()
    """What is wrong with how it is written."""
    edits: tuple[Edit, ...] = ()
    """What puts those right."""


def troubles(found: Assignment, lines: Sequence[str], path: str, nccl: str) -> Iterator[ConfLine]:
    """What is wrong with a setting, each with its line as it should be."""
    meant = nearest(found.name)
    name = meant or found.name
    of_value = tuple(faults(name, found.value, nccl)) if found.value is not None else ()
    better = of_value[-1].better if of_value else found.value
    edits = _edits(found, meant, better, lines)
    for fault in found.faults:
        yield _trouble(fault, next((at.line for at, _ in found.edits), found.name_at.line), lines, path, edits)
    for fault in name_faults(found.name, meant, nccl):
        yield _trouble(fault, found.name_at.line, lines, path, edits)
    for fault in of_value:
        useless = not better and found.value != ""
        yield _trouble(fault, found.value_at.line, lines, path, edits, useless=useless)


def _edits(found: Assignment, meant: str | None, better: str | None, lines: Sequence[str]) -> tuple[Edit, ...]:
    edits = list(found.edits)
    if meant is not None:
        edits.append((found.name_at, meant))
    if better is not None and better != found.value:
        edits.append((found.value_at, written(better, _piece(lines, found.value_at), found.style)))
    return tuple(edits)


def written(value: str, old: str, style: Style) -> str:
    """A value in the quotes that the old one had, or in such as it needs."""
    if style is Style.LITERAL:
        return value
    if old[:1] in ("'", '"') and old[:1] == old[-1:]:
        return f"{old[0]}{value}{old[0]}"
    if style is Style.YAML:
        return f'"{value}"'
    return value if _SAFE.fullmatch(value) else "'" + value.replace("'", "'\\''") + "'"


def _piece(lines: Sequence[str], at: Span) -> str:
    return lines[at.line - 1][at.start : at.end]


def _trouble(
    fault: Fault, line: int, lines: Sequence[str], path: str, edits: Iterable[Edit], *, useless: bool = False
) -> ConfLine:
    text = lines[line - 1]
    corrected = "" if useless else edited(text, {at: new for at, new in edits if at.line == line})
    return ConfLine(path, line, shown(text.strip()), fault.trouble, shown(fault.meaning), shown(corrected.strip()))


def edited(text: str, edits: Mapping[Span, str]) -> str:
    """The line with some pieces replaced."""
    for at, new in sorted(edits.items(), key=lambda edit: edit[0].start, reverse=True):
        text = text[: at.start] + new + text[at.end :]
    return text


def syntax(meaning: str) -> Fault:
    """A fault of the file's own language, for which no better value can be named."""
    return Fault(Trouble.SYNTAX, meaning, "")
