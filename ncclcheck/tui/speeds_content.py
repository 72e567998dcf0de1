"""What the place of the speed test shows, as Content made of pieces: names and texts come from other machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from textual.content import Content

from ncclcheck.model import Comparison, Speed, SpeedTest
from ncclcheck.speedtest.judge import judged_speed
from ncclcheck.speedtest.worker.words import size_words
from ncclcheck.tui import content, curves, speeds, wording
from ncclcheck.tui.content import lines, piece, said
from ncclcheck.tui.live import Live
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.wording import Tone, line

_BAR = 28
"""Cells, so that a row fits into 80 columns with its names and figures."""
_FEW_RUNS, _MORE_RUNS = 6, 14
_OURS = (
    "Press Enter to measure between {}: latency, and the bandwidth one way, both ways, of all_gather and of "
    "all_reduce, with plain TCP beside it. Every byte is checked, and nothing is changed."
)
_ONE = (
    "How fast is the network to another node? Press Enter: you are asked where it is, and shown what to type there. "
    "Latency and bandwidth are measured, with plain TCP beside them. Every byte is checked, and nothing is changed.\n\n"
    "Is it unclear how the nodes reach each other? 4 finds that out, and measures too."
)


def answer(now: Snapshot) -> Content:
    """What stands on top: what to do first, what goes on, or what the result means."""
    if now.live is not None:
        return _going_on(now.live)
    if now.speed is None:
        names = " and ".join(node.name for node in now.nodes[:2])
        return piece(_OURS.format(line(names)) if len(now.nodes) > 1 else _ONE)
    rated = [] if now.comparison is None else [said(speeds.rated(now.speed, now.judgement))]
    meant = [piece(f"{one.sign} {one.text}".strip(), one.tone) for one in speeds.answer(now.speed, now.judgement)]
    unkept = [piece(f"! {line(now.unkept)}", Tone.WARNING)] if now.unkept else []
    return lines([*rated, *meant, *unkept])


def _going_on(live: Live) -> Content:
    parts = [piece(f"{line(live.latest.text if live.latest else 'starting')} ({live.seconds:.0f} s)", Tone.STRONG)]
    for one in live.suspected:
        parts.append(
            piece(f"! the log points to this: {line(one.title)} (ncclcheck explain {line(one.rule)})", Tone.WARNING)
        )
    return lines(parts)


def curve(now: Snapshot, width: int, height: int) -> Content:
    """How fast it is while it runs, or in the end by size, with what would have been possible."""
    if now.live is not None:
        return _curve_of(now.live, width, height)
    points = speeds.points(now.speed) if now.speed else ()
    if now.speed is None or not points:
        return Content()
    room = width - curves.SCALE
    under = curves.under_sizes(points, [size_words(size) for size, _ in points], room)
    rows = curves.area(curves.by_size(points, room), width, height, speeds.levels(now.speed, now.judgement), under)
    pattern = judged_speed(now.speed)
    heading = f"GB/s, {pattern.pattern.value}, by size" if pattern else ""
    return lines([piece(heading, Tone.STRONG), *map(piece, rows)])


def _curve_of(live: Live, width: int, height: int) -> Content:
    if not live.rates:
        return Content()
    rows = curves.area(live.rates, width, height, under="a column a figure, newest right")
    return lines([piece("GB/s, as it is measured", Tone.STRONG), *map(piece, rows)])


def beside(now: Snapshot) -> Content:
    """What stands to the right of the curve."""
    if now.live is not None:
        rows, drawn = speeds.so_far(now.live), bool(now.live.rates)
    elif now.speed is not None:
        rows, drawn = speeds.beside(now.speed, now.judgement), bool(speeds.points(now.speed))
    else:
        return Content()
    # The first row is beside the heading of the curve.
    return lines([*([Content()] if drawn else []), *(piece(f"{sign} {name:<10} {text}") for sign, name, text in rows)])


def table(now: Snapshot) -> Content:
    """The rate of each pattern at each size that is through."""
    measured: Sequence[Speed] = now.live.through if now.live else now.speed.speeds if now.speed else ()
    rows = speeds.matrix(measured)
    if not rows:
        return Content()
    widths = [max(cell_len(row[column]) for row in rows) for column in range(len(rows[0]))]
    shown = [
        "  ".join(" " * (width - cell_len(text)) + text for text, width in zip(row, widths, strict=True))
        for row in rows
    ]
    return lines([piece(shown[0], Tone.STRONG), *map(piece, shown[1:])])


# Before and after ----------------------------------------------------------------------------------------------------


def comparison(both: Comparison) -> Content:
    """What was proved, and before and after as bars."""
    return lines([said(speeds.proof(both)), Content(), bars(both)])


def bars(both: Comparison) -> Content:
    """Before and after: what each went over and how it ended, and a bar for each pattern."""
    found = speeds.pairs(both)
    top = max((rate for pair in found for rate in (pair.before, pair.after) if rate is not None), default=0.0)
    tests = [_test(word, test) for word, test in (("before", both.before), ("after", both.after))]
    return lines([*tests, Content(), *(part for pair in found for part in _pair(pair, both, top))])


def _test(word: str, test: SpeedTest) -> Content:
    over = f"{word:<6}  {test.backend or 'nothing'} over {test.interface or 'its own choice'}: "
    ended = "passed" if test.passed else f"failed, {wording.why_not(test)}"
    return piece(line(over + ended), Tone.PLAIN if test.passed else Tone.BAD)


def _pair(pair: speeds.Pair, both: Comparison, top: float) -> Iterator[Content]:
    name = pair.name
    for word, rate, test, trend in (
        ("before", pair.before, both.before, ""),
        ("after", pair.after, both.after, pair.trend),
    ):
        # Whatever failed altogether is said once above.
        if rate is not None or test.speeds:
            drawn = "not measured" if rate is None else _bar(rate, top)
            yield piece(f"{name:<16}  {word:<6}  {drawn}  {trend}".rstrip())
            name = ""


def _bar(rate: float, top: float) -> str:
    return f"{curves.bar(rate, top, _BAR)}  {wording.gigabytes(rate):>10}"


# History -------------------------------------------------------------------------------------------------------------


def runs(now: Snapshot, *, wide: bool) -> Content:
    """The latest runs; nothing while one is running."""
    rows = speeds.runs(now.runs, _MORE_RUNS if wide else _FEW_RUNS)
    if not rows or now.live is not None:
        return Content()
    heading = piece("Runs, the latest first (all of them: ncclcheck history)", Tone.STRONG)
    return lines([heading, *map(piece, content.table(rows))])


def text(now: Snapshot) -> str:
    """What is copied here: the result as it stands on the screen, with all of its figures."""
    if now.speed is None or now.live is not None:
        return ""
    verdict = speeds.verdict(now)
    drawn = (bars(now.comparison) if now.comparison else Content(), curve(now, 72, 10), beside(now), table(now))
    parts = [f"{verdict.sign} {verdict.text}", answer(now).plain, *(part.plain for part in drawn)]
    return "\n\n".join(part.strip("\n").rstrip() for part in parts if part) + "\n"
