"""A line of a log as a quotation: cut to its room round the telling part, which is underlined. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ncclcheck.model import Finding
from ncclcheck.printable import one_line

_SUBJECTS = ("interface", "address", "port", "peer")
"""What of a finding's subject is worth underlining; its host begins every line of that host."""
_NAMED = re.compile(r"[^\s,;()\[\]{}'\"]*[\d_=/][^\s,;()\[\]{}'\"]*")
_MESSAGE = re.compile(r"set by environment to (.+)|NCCL WARN (.+)|(\w*Error: .+)")
"""What is told in a line in which none of the words stands."""
_LEAST = 3
"""Characters of a word from a title that is worth finding again."""

_MOST = 4000
"""Characters of a line that are looked at: a screen waits for it."""

Span = tuple[int, int]


def telling(found: Finding) -> tuple[str, ...]:
    """The words that tie a finding to its lines: its subject, and the names and values in its title."""
    subject = dict(found.subject)
    own = (subject[name] for name in _SUBJECTS if subject.get(name))
    named = (match[0].rstrip(".:?!") for match in _NAMED.finditer(found.title))
    parts = (part for word in named for part in (word, *word.split("=", 1)))
    hosts = {subject.get("host"), "", None}
    return tuple(dict.fromkeys((*own, *(part for part in parts if len(part) >= _LEAST and part not in hosts))))


def quoted(text: str, words: tuple[str, ...], width: int) -> tuple[str, str]:
    """The line in so many cells, and the line beneath it with ``^`` under these words; empty where there is none."""
    line = one_line(text[:_MOST].strip())
    spans = tuple(_spans(line, words)) or tuple(_message(line))
    start, end = _window(line, spans, width)
    before, after = "…" if start else "", "…" if end < len(line) else ""
    marked = {at for first, last in spans for at in range(first, last)}
    marks = "".join(("^" if at in marked else " ") * _cells(line[at]) for at in range(start, end))
    shown = " " * len(before) + marks.rstrip()
    return before + line[start:end] + after, shown.rstrip()


def _spans(line: str, words: tuple[str, ...]) -> Iterator[Span]:
    for word in words:
        # 10.0.0.1 is not in 10.0.0.12, nor eth1 in eth10; and the host that a line begins with tells nothing.
        for match in re.finditer(rf"(?<![\w.-]){re.escape(word)}(?![\w-]|\.\w)", line):
            if match.start():
                yield match.span()


def _message(line: str) -> Iterator[Span]:
    if match := _MESSAGE.search(line):
        yield match.span(match.lastindex or 0)


def _window(line: str, spans: tuple[Span, ...], width: int) -> Span:
    """The part to show: the line's beginning, or where a telling part would be cut off, from a little before them."""
    sizes = [_cells(char) for char in line]
    if sum(sizes) <= width:
        return 0, len(line)
    first, last = min(spans, default=(0, 0))[0], max((end for _, end in spans), default=0)
    start = 0
    if sum(sizes[:last]) > width - 1:
        # Not so far to the right that there would be room left behind the line's end.
        start = min(_back(sizes, first, width // 3), _back(sizes, len(line), width - 1))
    room = width - 1 - bool(start)
    end = start
    while end < len(line) and room >= sizes[end]:
        room -= sizes[end]
        end += 1
    return start, end


def _back(sizes: list[int], at: int, cells: int) -> int:
    while at > 0 and cells >= sizes[at - 1]:
        at -= 1
        cells -= sizes[at]
    return at


def _cells(char: str) -> int:
    if char.isascii():
        return 1
    from rich.cells import get_character_cell_size  # Few lines need it.

    return get_character_cell_size(char)
