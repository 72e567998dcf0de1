"""Lines that a terminal cut at its width when they were copied, put together again.

Pure. A text is taken for cut when its longest lines all have one length and are followed by lines that do not begin
like a log line. The joined line keeps the place where it began.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from ncclcheck.model import Where

_SAMPLE = 400
_LEAST_WIDTH, _MOST_WIDTH = 60, 320
_LONGEST = 4096
"""Characters of a line put together; NCCL's own are no longer than 1024."""
_BEGINNING = re.compile(r"\s*$|[\[(>#*]|\d{4}-\d\d-|NCCL |\w+Error|Traceback|  File |\S+: ")
_PREFIX = re.compile(r":\d+:\d+ (?:\[|NCCL )")

Lines = Iterable[tuple[Where, str]]


def rejoined(lines: Lines) -> Iterator[tuple[Where, str]]:
    """The lines as they were before they were cut; any other text passes unchanged."""
    lines = iter(lines)
    sample = list(islice(lines, _SAMPLE))
    width = _width([text for _, text in sample])
    everything = chain(sample, lines)
    return _joined(everything, width) if width else iter(everything)


def _width(texts: list[str]) -> int | None:
    """The window's width, if the text was cut."""
    lengths = Counter(map(len, texts))
    width = max(lengths, default=0)
    if not _LEAST_WIDTH <= width <= _MOST_WIDTH or lengths[width] < 2:
        return None
    following = [texts[i + 1] for i, text in enumerate(texts[:-1]) if len(text) == width]
    return width if following and sum(map(_goes_on, following)) * 4 >= len(following) * 3 else None


def _goes_on(text: str) -> bool:
    """Whether the line is the rest of another, by its beginning."""
    return not _BEGINNING.match(text) and not _PREFIX.search(text, 0, 120)


def _joined(lines: Lines, width: int) -> Iterator[tuple[Where, str]]:
    began: Where | None = None
    whole, previous = "", 0
    for where, text in lines:
        if began is not None and previous == width and len(whole) < _LONGEST and _goes_on(text):
            whole += text
        else:
            if began is not None:
                yield began, whole
            began, whole = where, text
        previous = len(text)
    if began is not None:
        yield began, whole
