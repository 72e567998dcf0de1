"""A speed test as the table that nccl-tests prints, for spreadsheets. Pure.

Columns and their meaning are those of nccl-tests 2.19.6 (common.cu, PERFORMANCE.md), out of place, with the pattern in
front. Two things differ: ``time`` is the median round's and not the mean, and ``#wrong`` is 1 where any element was
wrong, since they are not counted.
"""

from __future__ import annotations

import csv
import io

from ncclcheck.model import Pattern, Speed, SpeedTest

COLUMNS = ("pattern", "size", "count", "type", "redop", "root", "time(us)", "algbw(GB/s)", "busbw(GB/s)", "#wrong")


def table(test: SpeedTest) -> tuple[tuple[str, ...], ...]:
    """A row for each pattern and size, in the order in which they were measured."""
    return tuple(_row(speed) for speed in test.speeds if speed.seconds and speed.median > 0)


def csv_text(test: SpeedTest) -> str:
    """The table with its head as CSV (RFC 4180, with plain newlines)."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows((COLUMNS, *table(test)))
    return text.getvalue()


def _row(speed: Speed) -> tuple[str, ...]:
    reduces = speed.pattern is Pattern.ALL_REDUCE
    kind, width = ("int32", 4) if reduces else ("uint8", 1)
    # Of an all gather, nccl-tests counts the elements that one rank sends.
    share = speed.ranks if speed.pattern is Pattern.ALL_GATHER else 1
    figures = (f"{speed.median * 1e6:.2f}", f"{speed.algbw:.6g}", f"{speed.busbw:.6g}")
    count = str(speed.size // width // share)
    wrong = "0" if speed.verified else "1"
    return (speed.pattern.value, str(speed.size), count, kind, "sum" if reduces else "none", "-1", *figures, wrong)
