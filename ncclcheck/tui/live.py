"""A speed test while it runs: what it does, how fast it is so far, what is through. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ncclcheck.model import Speed
from ncclcheck.speedtest.reports import Measured, Progress, Rate, Suspected

_MOST_RATES = 240
"""As wide as any terminal."""


@dataclass(frozen=True, slots=True)
class Live:
    """Everything that a running test has told."""

    latest: Progress | None = None
    """What it told last, but for a suspicion."""
    seconds: float = 0.0
    """Since its start."""
    rates: tuple[float, ...] = ()
    """GB/s of 1e9 bytes, as they came."""
    left: float | None = None
    """Seconds, about; ``None`` while nobody knows."""
    through: tuple[Speed, ...] = ()
    suspected: tuple[Suspected, ...] = ()


def ticked(live: Live, tick: Progress) -> Live:
    """The test after one more thing that it told."""
    live = replace(live, seconds=tick.seconds)
    if isinstance(tick, Suspected):
        return replace(live, suspected=(*live.suspected, tick))
    # While nothing new happens the last word comes again each second.
    if replace(tick, seconds=0.0) == live.latest:
        return live
    match tick:
        case Rate():
            live = replace(_with_rate(live, tick.algbw), left=tick.left)
        case Measured():
            live = replace(_with_rate(live, tick.speed.algbw), through=(*live.through, tick.speed))
        case _:
            pass
    return replace(live, latest=replace(tick, seconds=0.0))


def _with_rate(live: Live, rate: float) -> Live:
    return replace(live, rates=(*live.rates, rate)[-_MOST_RATES:])
