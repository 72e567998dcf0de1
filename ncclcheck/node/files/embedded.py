"""An nccl.conf inside of another file: a here-document of a script, or a block of a ConfigMap (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ncclcheck.model import ConfLine
from ncclcheck.node import lint

_HERE = re.compile(r"<<(-?)\s*(?:(['\"])(\w+)\2|\\?(\w+))")
_BLOCK = re.compile(r"(\s*)(?:-\s+)?[\"']?[\w./-]*nccl\.conf[\"']?:\s*[|][-+\d]*\s*(?:#.*)?$")


@dataclass(frozen=True, slots=True)
class Embedded:
    """The lines of an nccl.conf in a file."""

    first: int
    """The number of its first line."""
    lines: tuple[str, ...]
    indent: str = ""
    """What stands in front of each line, and is not part of it."""

    @property
    def numbers(self) -> range:
        """The lines it takes up."""
        return range(self.first, self.first + len(self.lines))

    def troubles(self, path: str, nccl: str) -> Iterator[ConfLine]:
        """What NCCL would make of its lines."""
        content = "\n".join(line.removeprefix(self.indent) for line in self.lines)
        for one in lint.lint(content.encode("utf-8", "surrogateescape"), path, nccl):
            yield replace(one, line=one.line + self.first - 1)


def in_script(lines: Sequence[str]) -> tuple[Embedded, ...]:
    """The here-documents that are written to an nccl.conf."""
    found = []
    for index, line in enumerate(lines):
        here = _HERE.search(line)
        if here and "nccl.conf" in line and not line.lstrip().startswith("#"):
            body = _until(lines[index + 1 :], here[3] or here[4], tabs=bool(here[1]))
            found.append(Embedded(index + 2, body))
    return tuple(found)


def _until(lines: Sequence[str], delimiter: str, *, tabs: bool) -> tuple[str, ...]:
    ends = (number for number, line in enumerate(lines) if (line.lstrip("\t") if tabs else line) == delimiter)
    body = lines[: next(ends, len(lines))]
    return tuple(line.lstrip("\t") for line in body) if tabs else tuple(body)


def in_yaml(lines: Sequence[str]) -> tuple[Embedded, ...]:
    """The blocks under a key such as ``nccl.conf: |``."""
    found = []
    for index, line in enumerate(lines):
        block = _BLOCK.match(line)
        if block:
            found.append(_block(lines[index + 1 :], index + 2, block[1]))
    return tuple(found)


def _block(lines: Sequence[str], first: int, outer: str) -> Embedded:
    deeper = [not line.strip() or _indent(line).startswith(outer + " ") for line in lines]
    body = lines[: deeper.index(False)] if False in deeper else lines
    indent = next((_indent(line) for line in body if line.strip()), "")
    return Embedded(first, tuple(body), indent)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" "))]
