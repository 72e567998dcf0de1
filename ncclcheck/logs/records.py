"""NCCL's line grammar, from 2.2 to 2.32: one line of text → the records in it.

Pure. The prefix is searched for, not anchored: output of several processes and of the program itself interleaves on
stdout and gets glued into one line. ``[dev]`` in the prefix is a device number, garbage up to 2.22, and never the rank.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ncclcheck.logs.wrappers import Peeled, peel
from ncclcheck.model import Process, Where

_LEVEL = re.compile(
    r"NCCL (INFO|WARN|TRACE|CALL|ATTN|VERSION|DIAG)(?: |$)|(?<=\] )(INFO)(?: )|(?<=:\d\d\d )(WARN)(?: )"
)
_HEAD = re.compile(
    r"(?:(?P<host>[^\s:|>\]]*):(?P<pid>\d+):(?P<tid>\d+)\s+|(?P<host2>[^\s:|>\]]+):(?P<pid2>\d+)\s+)?"
    r"(?:\[-?\d+\]\s+)?"
    r"(?:\d+\.\d+ )?"
    r"(?:(?P<location>[\w./+-]+:\d+)\s+(?:\((?P<function>[^()]+)\)\s+)?)?$"
)
_STAMP = re.compile(r"\[[^\]\n]{1,60}\] ?$")
# From 2.30.7 many messages begin with their own place in the source.
_PLACE = re.compile(r"(?P<location>[\w/+-]+\.(?:cc|h|cu):\d+) \((?P<function>[^()]+)\) (?!->)")
_LONGEST_HEAD = 400


@dataclass(frozen=True, slots=True)
class Record:
    """One message of one process."""

    where: Where
    process: Process
    thread: int | None
    level: str
    """INFO, WARN, …; empty for text that does not come from NCCL."""
    function: str
    """Function in NCCL's source, where the line names it (2.30.7 and later)."""
    text: str
    rank: int | None


def records(where: Where, line: str) -> Iterator[Record]:
    """The records in a line; text without NCCL's prefix is one record without a level."""
    peeled = peel(line)
    levels = list(_LEVEL.finditer(peeled.text))
    if not levels:
        yield _plain(where, peeled, peeled.text)
        return
    heads = [_head(peeled.text, match, levels[i - 1].end() if i else 0) for i, match in enumerate(levels)]
    if before := peeled.text[: _start(heads[0], levels[0])].strip():
        yield _plain(where, peeled, before)
    for i, match in enumerate(levels):
        end = _start(heads[i + 1], levels[i + 1]) if i + 1 < len(levels) else len(peeled.text)
        yield _record(where, peeled, heads[i], match[1] or match[2] or match[3], peeled.text[match.end() : end])


def _head(text: str, level: re.Match[str], floor: int) -> re.Match[str] | None:
    return _HEAD.search(text, max(floor, level.start() - _LONGEST_HEAD), level.start())


def _start(head: re.Match[str] | None, level: re.Match[str]) -> int:
    start = head.start() if head else level.start()
    stamp = _STAMP.search(level.string, max(0, start - 64), start)
    return stamp.start() if stamp else start


def _plain(where: Where, peeled: Peeled, text: str) -> Record:
    return Record(where, Process(where.source, peeled.host), None, "", "", text, peeled.rank)


def _record(where: Where, peeled: Peeled, head: re.Match[str] | None, level: str, text: str) -> Record:
    found = head.groupdict() if head else {}
    host = found.get("host") or found.get("host2") or peeled.host
    pid = found.get("pid") or found.get("pid2")
    place = _PLACE.match(text)
    return Record(
        where=where,
        process=Process(where.source, host, int(pid) if pid else None),
        thread=int(found["tid"]) if found.get("tid") else None,
        level=level,
        function=found.get("function") or (place["function"] if place else ""),
        text=text[place.end() :] if place else text,
        rank=peeled.rank,
    )
