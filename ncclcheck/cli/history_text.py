"""Kept runs of the speed test, and how two of them compare, in words. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ncclcheck.cli.speed_text import size_text
from ncclcheck.model import SpeedTest, Trend
from ncclcheck.speedtest.compare import Change
from ncclcheck.speedtest.history import Run
from ncclcheck.speedtest.judge import judged_speed

_HEAD = ("id", "host", "over", "bus bandwidth", "rating", "")
_CHANGES = ("pattern", "size", "before", "after", "change", "")
_SENTENCES = {
    Trend.BETTER: "Better.",
    Trend.SAME: "The same, by the spread of the rounds.",
    Trend.WORSE: "WORSE.",
    Trend.UNKNOWN: "Cannot tell: too few rounds, nothing in common, or some better and some worse.",
}


def history_text(runs: Sequence[Run]) -> str:
    """A line for each run, the latest last."""
    if not runs:
        return "No run of the speed test is kept yet: ncclcheck speedtest keeps each of its runs."
    return _columns([_HEAD, *map(_line, runs)])


def _line(run: Run) -> tuple[str, ...]:
    rating = run.judgement.rating.value if run.judgement else ""
    return (
        run.id,
        run.host,
        _way(run.test),
        _figure(run.test),
        rating,
        "; ".join(filter(None, (run.label, _why(run)))),
    )


def _why(run: Run) -> str:
    return f"failed: {run.test.failure}" if run.test.failure else ""


def _way(test: SpeedTest) -> str:
    carried = (*test.transport.devices, *test.transport.interfaces) if test.transport else ()
    way = ",".join(carried) or test.interface or ""
    return f"{test.backend} {way}".strip()


def _figure(test: SpeedTest) -> str:
    speed = judged_speed(test)
    return f"{_rate(speed.busbw)} {speed.pattern.value}" if speed else "-"


def _rate(rate: float | None) -> str:
    """GB/s and Gbit/s, both decimal as NCCL counts."""
    return "-" if rate is None else f"{rate:.3g} GB/s ({8 * rate:.3g} Gbit/s)"


def comparison_text(before: Run, after: Run, changes: Sequence[Change], overall: Trend) -> str:
    """Two runs side by side, and the one answer."""
    head = [f"{name}  {run.id}  {_way(run.test)}  {run.label}".rstrip() for name, run in _named(before, after)]
    failures = [f"the run {name} {_why(run)}" for name, run in _named(before, after) if run.test.failure]
    table = [_columns([_CHANGES, *map(_change, changes)])] if changes else []
    return "\n".join([*head, *table, *failures, _SENTENCES[overall]])


def _named(before: Run, after: Run) -> tuple[tuple[str, Run], ...]:
    return (("before", before), ("after ", after))


def _change(change: Change) -> tuple[str, ...]:
    percent = f"{100 * (change.after / change.before - 1):+.1f} %" if change.before and change.after else ""
    rates = (_rate(change.before), _rate(change.after))
    return (change.pattern.value, size_text(change.size), *rates, percent, change.trend.value)


def _columns(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)
