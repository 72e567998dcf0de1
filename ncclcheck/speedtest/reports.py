"""What the workers print, line by line, made into a SpeedTest. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

import msgspec

from ncclcheck.model import Pattern, Speed, SpeedTest

T = TypeVar("T")

_LOG_LINES = 200
"""gloo repeats itself; nobody reads more."""
_ECHO = "rank "
"""How a failure begins that a worker only passes on from the other side."""


@dataclass(frozen=True, slots=True)
class Report:
    """One line of a worker's standard output; which fields count depends on the event."""

    event: str
    reason: str = ""
    peer: int = 0
    at: str = ""
    backend: str = ""
    interface: str | None = None
    direction: str = ""
    number: int = 0
    size: int = 0
    seconds: float | tuple[float, ...] = 0.0
    verified: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a test stands, in words; sent again each second while nothing new happens."""

    text: str
    seconds: float = 0.0
    """Since the start."""


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
    return replace(half, log=(*half.log, line)[-_LOG_LINES:])


def reported(half: Half, report: Report) -> Half:
    """The half after a report."""
    if report.event == "started":
        return replace(half, backend=report.backend, interface=report.interface)
    if report.event == "result" and isinstance(report.seconds, tuple):
        speed = Speed(Pattern(report.direction), report.size, report.seconds, report.verified)
        return replace(half, speeds=(*half.speeds, speed))
    if report.event == "failure":
        return replace(half, failure=half.failure or report.reason)
    return replace(half, finished=half.finished or report.event == "finished")


def words(half: Half, report: Report) -> str:
    """The report for people; empty where it is no news."""
    if report.event == "started":
        where = f" on {report.interface}" if report.interface else ""
        return f"rank {half.rank} is ready: {report.backend}{where}"
    if report.event == "waiting":
        return f"rank {half.rank} waits for rank {report.peer} at {report.at} ({report.reason})"
    if report.event == "connected":
        return f"rank {half.rank} is connected"
    if report.event == "round" and isinstance(report.seconds, float):
        return f"{report.direction}, round {report.number}: {report.seconds:.3f} s"
    return ""


def ended(half: Half, status: int) -> Half:
    """The half when its process has ended: without a last word that is a failure too."""
    if half.failure or (half.finished and status == 0):
        return half
    last = f"; its last words: {half.log[-1]}" if half.log else ""
    return replace(half, failure=f"the worker of rank {half.rank} ended with status {status}{last}")


def joined(halves: tuple[Half, ...]) -> SpeedTest:
    """Both sides, or the only one that we ran, as one result.

    Rank 0's figures are the slower side's of each round, so they are the same on both.
    """
    failures = sorted((half.failure for half in halves if half.failure), key=lambda text: text.startswith(_ECHO))
    interfaces = dict.fromkeys(half.interface for half in halves if half.interface)
    return SpeedTest(
        backend=next((half.backend for half in halves if half.backend), ""),
        interface=" and ".join(interfaces) or None,
        speeds=halves[0].speeds,
        failure=failures[0] if failures else "",
        log=tuple(f"rank {half.rank}: {line}" for half in halves for line in half.log),
    )
