"""What is said of a speed test: text and figures from values. Pure; no colours, no widgets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ncclcheck.model import Baseline, Comparison, Judgement, Pattern, Rating, Speed, SpeedTest, Transport, Trend
from ncclcheck.speedtest.compare import overall, trend
from ncclcheck.speedtest.judge import judged_speed
from ncclcheck.speedtest.worker.words import size_words
from ncclcheck.tui import wording
from ncclcheck.tui.curves import Level, figure
from ncclcheck.tui.live import Live
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.wording import Said, Tone, line

if TYPE_CHECKING:
    from ncclcheck.speedtest.history import Run

LINK, TCP = "─", "┄"
"""How what the link can carry, and what plain TCP does, are drawn."""
_SMALL = 1024
"""Bytes up to which the time says more than the rate."""
_HEADLINE = 130
"""Characters of a failure that surely fit on top."""
_SIGNS = {
    Rating.HEALTHY: ("✓", Tone.GOOD),
    Rating.TUNE: ("!", Tone.WARNING),
    Rating.SUSPICIOUS: ("✗", Tone.BAD),
    Rating.UNKNOWN: ("?", Tone.WARNING),
}


def verdict(now: Snapshot) -> Said:
    """What holds of the speed, in one line."""
    if now.live is not None:
        return _running(now.live)
    if now.speed is None:
        return Said("?", "Not measured yet", Tone.WARNING)
    if now.comparison is not None:
        return proof(now.comparison)
    return rated(now.speed, now.judgement)


def _running(live: Live) -> Said:
    if live.suspected:
        return Said("!", f"While it runs, the log points to this: {line(live.suspected[-1].title)}", Tone.WARNING)
    left = f", about {live.left:.0f} s left" if live.left is not None else ""
    return Said("…", f"Measuring{left}", Tone.PLAIN)


def rated(test: SpeedTest, judgement: Judgement | None) -> Said:
    """The rating with its figure and its percent, or that there is none."""
    if test.damaged:
        return Said("✗", "Damaged: some of what arrived is not what was sent", Tone.BAD)
    if not test.passed:
        return Said("✗", f"Failed: {wording.why_not(test)}", Tone.BAD)
    speed = judged_speed(test)
    rate = f": {wording.bus_rate(speed)} {speed.pattern.value}" if speed else ""
    rating = judgement.rating if judgement else Rating.UNKNOWN
    sign, tone = _SIGNS[rating]
    return Said(sign, f"{rating.value.capitalize()}{rate}{_percent(judgement)}", tone)


def rating_words(judgement: Judgement | None) -> str:
    """The rating and its percent within a sentence; empty where nothing was judged."""
    return judgement.rating.value + _percent(judgement) if judgement else ""


def _percent(judgement: Judgement | None) -> str:
    if judgement is None or judgement.percent is None or judgement.expected is None:
        return ""
    return f", {judgement.percent:.0f} % of {wording.gigabytes(judgement.expected)}"


def answer(test: SpeedTest, judgement: Judgement | None) -> Iterator[Said]:
    """Why it is so, what it is measured by, and the one thing to try next."""
    if len(test.failure) > _HEADLINE or "\n" in test.failure:
        yield Said("", "\n".join(line(part) for part in test.failure.split("\n")), Tone.BAD)
    if test.stage and test.stage not in test.failure:
        yield Said("", f"at that moment: {line(test.stage)}", Tone.PLAIN)
    if judgement is None:
        return
    if test.passed or test.damaged:
        yield Said("", f"because {line(judgement.reason)}", Tone.PLAIN)
        if judgement.expected is not None:
            expected = f"expected: {wording.gigabytes(judgement.expected)} ({line(judgement.source)})"
            yield Said("", expected, Tone.MUTED)
    if judgement.next_step:
        yield Said("→", line(judgement.next_step), Tone.STRONG)


# Figures -------------------------------------------------------------------------------------------------------------


def points(test: SpeedTest) -> tuple[tuple[int, float], ...]:
    """Size and GB/s of the pattern by which the test is judged, from the smallest size on."""
    chosen = judged_speed(test)
    pattern = chosen.pattern if chosen else None
    return tuple(sorted((one.size, one.busbw) for one in _timed(test.speeds) if one.pattern is pattern))


def _timed(speeds: Iterable[Speed]) -> Iterator[Speed]:
    return (one for one in speeds if one.seconds and one.median > 0)


def levels(test: SpeedTest, judgement: Judgement | None) -> tuple[Level, ...]:
    """What would have been possible, as lines in the curve; once where both are the same."""
    plain = test.baseline.rate if test.baseline else None
    expected = judgement.expected if judgement else None
    drawn = ((expected if expected != plain else None, LINK), (plain, TCP))
    return tuple(Level(value, sign) for value, sign in drawn if value)


def beside(test: SpeedTest, judgement: Judgement | None) -> tuple[tuple[str, str, str], ...]:
    """What stands beside the curve: a sign of the lines in it, a name, a figure."""
    drawn = {level.sign: level.value for level in levels(test, judgement)}
    rows = [(LINK, "expected", wording.gigabytes(drawn[LINK]))] if LINK in drawn else []
    if test.baseline:
        rows.append((TCP if TCP in drawn else " ", "plain TCP", _plain(test.baseline)))
    latency = replace(test, speeds=tuple(_timed(test.speeds))).latency
    if latency is not None:
        rows.append((" ", "latency", f"{wording.duration(latency)} one way"))
    rows.append((" ", "over", line(carried(test.transport, test))))
    if test.ddp:
        rows.append((" ", "DDP", f"{wording.duration(test.ddp.step_seconds)} a step, {test.ddp.share:.0%} exchange"))
    if test.speeds:
        rows.append((" ", "payload", "DAMAGED" if test.damaged else "every byte right"))
    return tuple(rows)


def so_far(live: Live) -> tuple[tuple[str, str, str], ...]:
    """The same for a test that is running; nothing before its first figure."""
    if not live.rates:
        return ()
    left = f"about {live.left:.0f} s" if live.left is not None else "nobody knows yet"
    through = f"{len(live.through)} figures" if len(live.through) != 1 else "1 figure"
    return ((" ", "now", wording.gigabytes(live.rates[-1])), (" ", "left", left), (" ", "through", through))


def _plain(baseline: Baseline) -> str:
    if baseline.rate is None:
        return f"not measured: {line(baseline.failure or 'nothing came back')}"
    flows = f", {baseline.flows} flows" if baseline.flows > 1 else ""
    return f"{wording.gigabytes(baseline.rate)}, {line(baseline.tool)}{flows}"


def carried(transport: Transport | None, test: SpeedTest) -> str:
    """What carried the bytes, in words."""
    if transport is not None and transport.within:
        return "one machine's memory, no network"
    if transport is None or not transport.network:
        return f"{test.backend or 'nothing'} on {test.interface or 'its own choice'}"
    where = ", ".join((*transport.devices, *transport.interfaces))
    if not where:
        return f"{transport.network}, by which device nobody said"
    if transport.network == "IB":
        direct = {True: ", GPU Direct", False: ", no GPU Direct", None: ""}[transport.gdr]
        return f"RDMA on {where}{direct}"
    if transport.network == "Socket":
        many = f", {transport.flows} connections" if transport.flows > 1 else ""
        return f"NCCL's sockets on {where}{many}"
    return f"{transport.network} on {where}"


def matrix(speeds: Sequence[Speed]) -> tuple[tuple[str, ...], ...]:
    """A row for each size, a column for each pattern; a heading first, nothing where there are no figures."""
    found = {(one.pattern, one.size): one for one in _timed(speeds)}
    patterns = [pattern for pattern in Pattern if any(pattern is one for one, _ in found)]
    sizes = sorted({size for _, size in found})
    rows = [(size_words(size), *(_cell(found.get((one, size))) for one in patterns)) for size in sizes]
    return (("GB/s", *(one.value for one in patterns)), *rows) if rows else ()


def _cell(speed: Speed | None) -> str:
    if speed is None:
        return "–"
    text = wording.duration(speed.median) if speed.size <= _SMALL else figure(speed.busbw)
    return text if speed.verified else f"{text} DAMAGED"


# Before and after ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pair:
    """A pattern at its largest size, before and after."""

    name: str
    before: float | None
    """GB/s; ``None`` where that test did not measure it."""
    after: float | None
    trend: str
    """In a word; empty where nobody can tell."""


def pairs(both: Comparison) -> tuple[Pair, ...]:
    """What is compared: of each pattern the largest size of both, or else of the one that has it."""
    changes = {}
    for one in sorted(trend(both.before, both.after), key=lambda one: (None not in (one.before, one.after), one.size)):
        changes[one.pattern] = one
    found = [changes[pattern] for pattern in Pattern if pattern in changes]
    words = ["" if one.trend is Trend.UNKNOWN else one.trend.value for one in found]
    return tuple(
        Pair(f"{one.pattern.value}, {size_words(one.size)}", one.before, one.after, word)
        for one, word in zip(found, words, strict=True)
    )


def proof(both: Comparison) -> Said:
    """What the two speed tests prove."""
    if both.proved:
        return Said("✓", "Proved: the speed test that failed before passes now.", Tone.GOOD)
    if not both.after.passed:
        head = "Worse: the speed test passed before, and fails now." if both.before.passed else ""
        return Said("✗", head or "Not fixed: the speed test still fails.", Tone.BAD)
    found = overall(both.before, both.after)
    words = {
        Trend.BETTER: ("✓", "Better: it passed before too, and is faster now.", Tone.GOOD),
        Trend.SAME: ("✓", "The same: it passed before too, so it proves nothing about the fix.", Tone.PLAIN),
        Trend.WORSE: ("!", "Worse: it passes as before, but is slower now.", Tone.WARNING),
        Trend.UNKNOWN: (
            "?",
            "It passed before too, so it proves nothing about the fix. Faster or not: too few rounds to tell.",
            Tone.PLAIN,
        ),
    }
    return Said(*words[found])


# History -------------------------------------------------------------------------------------------------------------


def runs(kept: Sequence[Run], most: int) -> tuple[tuple[str, ...], ...]:
    """The latest runs, the latest first: time, what it went over, figure, rating, what it was for."""
    return tuple(map(_run, reversed(kept[-most:] if most > 0 else ())))


def _run(run: Run) -> tuple[str, ...]:
    speed = judged_speed(run.test)
    rate = f"{wording.bus_rate(speed)} {speed.pattern.value}" if speed else "–"
    rating = run.judgement.rating.value if run.judgement else ""
    ended = rating if run.test.passed else "failed"
    over = " ".join(filter(None, (run.test.backend, run.test.interface)))
    return (line(run.time[:16].replace("T", " ")), line(over) or "–", rate, ended, line(run.label))
