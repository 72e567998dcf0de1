"""nccl.conf: what NCCL reads in it, and edits that keep every other byte (pure).

Source: setEnvFile of NCCL's misc/param.cc; measured with NCCL 2.13.4 to 2.32.3. What is wrong with a line
is the business of lint.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from ncclcheck.node.version import since

_LONGEST = 1023
"""Bytes of a name, and of a value, that NCCL keeps."""
_CHUNK = 4095
"""Bytes that NCCL from 2.30 reads at a time: fgets with a buffer of 4096."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One variable that a conf file defines."""

    name: str
    value: str
    line: int
    """Counted from 1."""


def entries(content: bytes, nccl: str) -> tuple[Entry, ...]:
    """Every variable the file defines, in order; of several with one name the first counts.

    Bytes that are no UTF-8 become lone surrogates, as in ``os.environ``.
    """
    found = ((number, _entry(text, nccl)) for number, text in _lines(content, nccl))
    return tuple(Entry(os.fsdecode(pair[0]), os.fsdecode(pair[1]), number) for number, pair in found if pair)


def _lines(content: bytes, nccl: str) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(content.split(b"\n"), start=1):
        # A C string ends at a NUL, whatever follows on that line.
        if not since(nccl, 2, 30):
            yield number, line.split(b"\0", 1)[0]
            continue
        for start in range(0, len(line) or 1, _CHUNK):
            yield number, line[start : start + _CHUNK].split(b"\0", 1)[0].rstrip(b"\r")


def _entry(line: bytes, nccl: str) -> tuple[bytes, bytes] | None:
    if line.startswith(b"#") and since(nccl, 2, 26):
        return None
    name, equals, value = line.partition(b"=")
    if not equals or not name:
        return None
    return name[:_LONGEST], value[:_LONGEST]


def set_value(content: bytes, name: str, value: str) -> bytes:
    """The file with one name set; the line that counts is replaced, or a new one added at the end."""
    new = _to_bytes(name) + b"=" + _to_bytes(value)
    lines = content.split(b"\n")
    for index, line in enumerate(lines):
        if line.startswith(_to_bytes(name) + b"="):
            return b"\n".join([*lines[:index], new, *lines[index + 1 :]])
    between = b"" if not content or content.endswith(b"\n") else b"\n"
    return content + between + new + b"\n"


def remove(content: bytes, name: str) -> bytes:
    """The file without any line that sets the name: the second one would count when the first is gone."""
    start = _to_bytes(name) + b"="
    return b"".join(line for line in raw_lines(content) if not line.startswith(start))


def raw_lines(content: bytes) -> tuple[bytes, ...]:
    """The lines with their line feeds: joined, they are the file again."""
    parts = content.split(b"\n")
    whole = tuple(part + b"\n" for part in parts[:-1])
    return (*whole, parts[-1]) if parts[-1] else whole


def _to_bytes(text: str) -> bytes:
    return os.fsencode(text)
