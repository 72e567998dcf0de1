"""NCCL's line grammar, from 2.2 to 2.32: one line of text → the records in it.

Pure. The prefix is searched for, not anchored: output of several processes and of the program itself interleaves on
stdout and gets glued into one line. ``[dev]`` in the prefix is a device number, garbage up to 2.22, and never the rank.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

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
_LEVELS = frozenset({"INFO", "WARN", "TRACE", "CALL", "ATTN", "VERSION", "DIAG"})
_FURTHER = ("NCCL ", "] INFO ", " WARN ", "\x1b", "   ", "**", "│", '"}', '",')
"""Signs that the line needs the long way: a further record, terminal escapes, padding, Markdown, a box, JSON."""
_PADDING = re.compile(r" {3,}$")
"""Blanks up to the window's width, as a terminal copies them; one or two may be part of a value."""


@dataclass(frozen=True, slots=True)
class Record:
    """One message of one process."""

    where: Where
    process: Process
    thread: int | None
    level: str
    """INFO, WARN, …; empty for text that does not come from NCCL."""
    location: str
    """File and line in NCCL's source, where the line names them: ``transport/nvls.cc:246``."""
    function: str
    """Function in NCCL's source, where the line names it (2.30.7 and later)."""
    text: str
    rank: int | None
    bare: bool = False
    """The level without the word NCCL before it: 2.2 and older."""

    def at(self, where: Where, text: str) -> Record:
        """What the same process says in another place; NCCL's place in its source moves from the text to the fields."""
        location, function = self.location, self.function
        if "(" in text and (place := _PLACE.match(text)):
            location, function = location or place["location"], function or place["function"]
            text = text[place.end() :]
        return Record(where, self.process, self.thread, self.level, location, function, text, self.rank, self.bare)


def records(where: Where, line: str) -> Iterator[Record]:
    """The records in a line; text without NCCL's prefix is one record without a level."""
    head, nccl, rest = line.partition("NCCL ")
    level, blank, text = rest.partition(" ")
    if not (nccl and blank and level in _LEVELS) or len(head) > _LONGEST_HEAD or _goes_on(text):
        yield from _all_records(where, line)
        return
    *before, last = _opening(where.source, head, level)
    yield from (replace(record, where=where) for record in before)
    yield last.at(where, text)


def _goes_on(text: str) -> bool:
    for mark in _FURTHER:  # noqa: SIM110, a generator costs more than all the searches
        if mark in text:
            return True
    return False


@lru_cache(maxsize=4096)
def _opening(source: str, head: str, level: str) -> tuple[Record, ...]:
    """What stands before a message: the same for many lines of a process."""
    return tuple(_all_records(Where(source, 0), f"{head}NCCL {level} "))


def _all_records(where: Where, line: str) -> Iterator[Record]:
    peeled = peel(_PADDING.sub("", line))
    levels = list(_LEVEL.finditer(peeled.text))
    if not levels:
        yield _plain(where, peeled, peeled.text)
        return
    heads = [_head(peeled.text, match, levels[i - 1].end() if i else 0) for i, match in enumerate(levels)]
    if before := peeled.text[: _start(heads[0], levels[0])].strip():
        yield _plain(where, peeled, before)
    for i, match in enumerate(levels):
        last = i + 1 == len(levels)
        message = peeled.text[match.end() : len(peeled.text) if last else _start(heads[i + 1], levels[i + 1])]
        yield _record(where, peeled, heads[i], match, message if last else message.rstrip(" "))


def _head(text: str, level: re.Match[str], floor: int) -> re.Match[str] | None:
    return _HEAD.search(text, max(floor, level.start() - _LONGEST_HEAD), level.start())


def _start(head: re.Match[str] | None, level: re.Match[str]) -> int:
    start = head.start() if head else level.start()
    stamp = _STAMP.search(level.string, max(0, start - 64), start)
    return stamp.start() if stamp else start


def _plain(where: Where, peeled: Peeled, text: str) -> Record:
    return Record(where, Process(where.source, peeled.host), None, "", "", "", text, peeled.rank)


def _record(where: Where, peeled: Peeled, head: re.Match[str] | None, level: re.Match[str], text: str) -> Record:
    found = head.groupdict() if head else {}
    host = found.get("host") or found.get("host2") or peeled.host
    pid = found.get("pid") or found.get("pid2")
    opening = Record(
        where=where,
        process=Process(where.source, host, int(pid) if pid else None),
        thread=int(found["tid"]) if found.get("tid") else None,
        level=level[1] or level[2] or level[3],
        location=found.get("location") or "",
        function=found.get("function") or "",
        text="",
        rank=peeled.rank,
        bare=level[1] is None,
    )
    return opening.at(where, text)
