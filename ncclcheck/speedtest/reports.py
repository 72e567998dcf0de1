"""What the workers print, line by line, made into a SpeedTest. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeVar

import msgspec

from ncclcheck.model import Baseline, DdpProof, Pattern, Speed, SpeedTest
from ncclcheck.speedtest.worker.words import bytes_words

T = TypeVar("T")

_FIRST_LINES, _LAST_LINES = 1500, 500
"""Of a log that are kept: how NCCL began, and how it ended; a loop of retries between is all alike."""
_ECHO = "rank "
"""How a failure begins that a worker only passes on from another side."""


@dataclass(frozen=True, slots=True)
class Report:
    """One line of a worker's standard output; which fields count depends on the event."""

    event: str
    reason: str = ""
    stage: str = ""
    text: str = ""
    peer: int = 0
    at: str = ""
    backend: str = ""
    interface: str | None = None
    ranks: int = 2
    pattern: str = ""
    number: int = 0
    size: int = 0
    seconds: float | tuple[float, ...] = 0.0
    median: float = 0.0
    algbw: float = 0.0
    left: float = 0.0
    verified: bool = False
    lines: tuple[str, ...] = ()
    tool: str = ""
    flows: int = 1
    bytes: int = 0
    retransmits: int | None = None
    failure: str = ""
    steps: int = 0
    step_seconds: float = 0.0
    share: float = 0.0
    same: bool = False
    loss: float = 0.0
    first_loss: float = 0.0
    last_loss: float = 0.0


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a test stands, in words; sent again each second while nothing new happens."""

    text: str
    seconds: float = 0.0
    """Since the start."""


@dataclass(frozen=True, slots=True)
class Rate(Progress):
    """What a size that is being measured gives so far."""

    pattern: Pattern = Pattern.ONE_WAY
    size: int = 0
    rounds: int = 0
    algbw: float = 0.0
    """GB/s of 1e9 bytes, of the median round so far."""
    left: float = 0.0
    """Seconds, about, until all is measured."""


@dataclass(frozen=True, slots=True)
class Measured(Progress):
    """One pattern at one size is through."""

    speed: Speed = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class Suspected(Progress):
    """What is wrong by what NCCL has said so far, while the test still runs or hangs."""

    title: str = ""
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Half:
    """What one side has reported so far."""

    rank: int
    backend: str = ""
    interface: str | None = None
    speeds: tuple[Speed, ...] = ()
    failure: str = ""
    finished: bool = False
    log: tuple[str, ...] = ()
    ranks: int = 2
    stage: str = ""
    """What it was doing when it failed."""
    baseline: Baseline | None = None
    ddp: DdpProof | None = None


def news(values: Iterable[T]) -> Iterator[T]:
    """The values without progress that only says again where it stands."""
    last = ""
    for value in values:
        if isinstance(value, Progress):
            if value.text == last:
                continue
            last = value.text
        yield value


def decode(line: str) -> Report | None:
    """The report in a line of standard output; ``None`` where torch or a plugin printed something of its own."""
    try:
        return msgspec.json.decode(line, type=Report)
    except msgspec.DecodeError:
        return None


def heard(half: Half, line: str) -> Half:
    """The half after a line that is no report."""
    log = half.log if len(half.log) < _FIRST_LINES + _LAST_LINES else _without(half.log, _FIRST_LINES)
    return replace(half, log=(*log, line))


def _without(log: tuple[str, ...], place: int) -> tuple[str, ...]:
    return log[:place] + log[place + 1 :]


def reported(half: Half, report: Report) -> Half:
    """The half after a report."""
    match report.event:
        case "started":
            half = replace(half, backend=report.backend, interface=report.interface, ranks=report.ranks)
        case "failure":
            half = replace(half, failure=report.reason, stage=report.stage) if not half.failure else half
        case "finished":
            half = replace(half, finished=True)
        case "result" | "baseline" | "ddp":
            half = _measured(half, report)
        case _:
            half = _noted(half, report)
    return half


def _measured(half: Half, report: Report) -> Half:
    if report.event == "ddp":
        return replace(half, ddp=_proof(report))
    if isinstance(report.seconds, float):
        return replace(half, baseline=_baseline(report, report.seconds))
    return replace(half, speeds=(*half.speeds, _speed(report, report.seconds)))


def _noted(half: Half, report: Report) -> Half:
    lines = {"log": report.lines, "note": (report.text,), "skipped": (_skipped(report),)}.get(report.event, ())
    for line in lines:
        half = heard(half, line)
    return half


def _speed(report: Report, seconds: tuple[float, ...]) -> Speed:
    return Speed(Pattern(report.pattern), report.size, seconds, report.verified, report.ranks)


def _baseline(report: Report, seconds: float) -> Baseline:
    counted = (report.tool, report.flows, report.bytes, seconds)
    return Baseline(*counted, report.interface, report.retransmits, report.failure)


def _proof(report: Report) -> DdpProof:
    counted = (report.ranks, report.steps, report.step_seconds, report.share)
    return DdpProof(*counted, report.same, report.first_loss, report.last_loss)


def _skipped(report: Report) -> str:
    return f"{_size(report)}: left out, {report.reason}"


def progress(half: Half, report: Report, seconds: float) -> Progress | None:
    """The report for people, with the half that has taken it; ``None`` where it is no news."""
    if report.event == "round":
        text = f"{_size(report)}: {_figure(report.size, report.median)}, about {report.left:.0f} s left"
        pattern = Pattern(report.pattern)
        return Rate(text, seconds, pattern, report.size, report.number, report.algbw, report.left)
    if report.event == "result" and half.speeds:
        speed = half.speeds[-1]
        text = f"{_size(report)}: {_figure(speed.size, speed.median)}, median of {len(speed.seconds)} rounds"
        return Measured(text, seconds, speed=speed)
    text = words(half, report)
    return Progress(text, seconds) if text else None


def _size(report: Report) -> str:
    return f"{report.pattern}, {bytes_words(report.size)}"


def _figure(size: int, median: float) -> str:
    """A rate; for the small sizes the time, which is what they are measured for."""
    return f"{size / median / 1e9:.3g} GB/s" if size > 1024 else f"{median * 1e6:.0f} µs"


def words(half: Half, report: Report) -> str:
    """What a report other than of a round says; empty where it is no news."""
    match report.event:
        case "started":
            text = f"rank {half.rank} is ready: {report.backend}" + (
                f" on {report.interface}" if report.interface else ""
            )
        case "waiting":
            text = f"rank {half.rank} waits for rank {report.peer} at {report.at} ({report.reason})"
        case "connected":
            text = f"rank {half.rank} is connected"
        case "baseline":
            text = _baseline_words(report)
        case "skipped":
            text = _skipped(report)
        case "step":
            text = f"training over DDP, step {report.number} of {report.steps}: loss {report.loss:.3g}"
        case _:
            text = report.text
    return text


def _baseline_words(report: Report) -> str:
    if not isinstance(report.seconds, float) or report.failure or not report.seconds:
        return f"plain TCP was not measured: {report.failure or 'nothing came back'}"
    return f"plain TCP ({report.tool}): {report.bytes / report.seconds / 1e9:.3g} GB/s"


def ended(half: Half, status: int) -> Half:
    """The half when its process has ended: without a last word that is a failure too."""
    if half.failure or (half.finished and status == 0):
        return half
    last = f"; its last words: {half.log[-1]}" if half.log else ""
    return replace(half, failure=f"the worker of rank {half.rank} ended with status {status}{last}")


def joined(halves: tuple[Half, ...]) -> SpeedTest:
    """Both sides, or the only one that we ran, as one result.

    Rank 0's figures are the slowest side's of each round, so they are the same on all.
    """
    failed = sorted((half for half in halves if half.failure), key=lambda half: half.failure.startswith(_ECHO))
    interfaces = dict.fromkeys(half.interface for half in halves if half.interface)
    return SpeedTest(
        backend=next((half.backend for half in halves if half.backend), ""),
        interface=" and ".join(interfaces) or None,
        speeds=halves[0].speeds,
        failure=failed[0].failure if failed else "",
        log=tuple(f"rank {half.rank}: {line}" for half in halves for line in half.log),
        ranks=halves[0].ranks,
        baseline=next((half.baseline for half in halves if half.baseline), None),
        stage=failed[0].stage if failed else "",
        ddp=halves[0].ddp,
    )
