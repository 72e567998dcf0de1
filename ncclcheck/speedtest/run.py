"""Runs workers, hands on what they print, and ends them in time and in every case. [effects]"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from queue import Empty, Queue
from threading import Thread
from typing import IO

from ncclcheck.errors import SpeedError
from ncclcheck.model import Node, SpeedTest
from ncclcheck.speedtest import reports
from ncclcheck.speedtest.plan import Side, command
from ncclcheck.speedtest.reports import Half, Progress, Rate

_GRACE = 5.0
"""Seconds that a worker gets beyond its own limit before it is killed."""
_FAREWELL = 3.0
"""Seconds that a worker which is to end has for telling the other sides."""
_NO_TORCH, _NOT_RUN = 4, 126


@dataclass(frozen=True, slots=True)
class _Line:
    position: int
    """Which of the workers said it."""
    text: str | None
    """``None`` at the end of a stream."""
    result: bool
    """Standard output, which carries the reports."""


_Lines = Queue[_Line]


@dataclass(frozen=True, slots=True)
class Heard:
    """Lines of NCCL, gloo or torch, as they printed them."""

    rank: int
    lines: tuple[str, ...]


def _start(node: Node, side: Side, python: str) -> subprocess.Popen[str]:
    line = [*node.prefix, *command(side, python)]
    env = {**os.environ, **dict(node.env)}
    try:
        return subprocess.Popen(
            line,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
    except OSError as error:
        raise _not_run(python, error.strerror or str(error)) from None


def _not_run(python: str, reason: str) -> SpeedError:
    return SpeedError(
        f"the speed test cannot run: {reason}",
        place=python,
        next_step="Name the Python that your training uses: --python /path/to/bin/python "
        "(or install torch there: python -m pip install torch)",
    )


def _read(stream: IO[str], position: int, result: bool, lines: _Lines) -> None:
    with stream:
        for line in stream:
            lines.put(_Line(position, line.rstrip("\n"), result))
    lines.put(_Line(position, None, result))


def _listen(position: int, process: subprocess.Popen[str], lines: _Lines) -> tuple[Thread, ...]:
    streams = ((process.stdout, True), (process.stderr, False))
    threads = [
        Thread(target=_read, args=(stream, position, result, lines), daemon=True)
        for stream, result in streams
        if stream
    ]
    for thread in threads:
        thread.start()
    return tuple(threads)


@contextmanager
def _running(nodes: Sequence[Node], sides: Sequence[Side], python: str) -> Iterator[list[subprocess.Popen[str]]]:
    """Start all workers; none of them outlives the block."""
    processes: list[subprocess.Popen[str]] = []
    try:
        for node, side in zip(nodes, sides, strict=True):
            processes.append(_start(node, side, python))
        yield processes
    finally:
        _end(processes)


def _end(processes: Sequence[subprocess.Popen[str]]) -> None:
    """Ask those that still run to end, so that they can tell the other sides; then make them."""
    until = time.monotonic() + _FAREWELL
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _take(halves: list[Half], line: _Line, seconds: float) -> Progress | Heard | None:
    """Put a line where it belongs; what is new in it."""
    half, text = halves[line.position], line.text or ""
    report = reports.decode(text) if line.result else None
    if report is None:
        halves[line.position] = reports.heard(half, text)
        return Heard(half.rank, (text,))
    halves[line.position] = reports.reported(half, report)
    if report.lines:
        return Heard(half.rank, report.lines)
    # All sides tell the same result.
    if report.event == "result" and line.position:
        return None
    return reports.progress(halves[line.position], report, seconds)


def _follow(lines: _Lines, halves: list[Half], streams: int, limit: float) -> Iterator[Progress | Heard]:
    """Take lines until all streams have ended or the time is over; each second at least one progress."""
    began, last = time.monotonic(), Progress("starting")
    while streams and time.monotonic() < began + limit + _GRACE:
        try:
            line = lines.get(timeout=1.0)
        except Empty:
            yield replace(last, seconds=time.monotonic() - began)
            continue
        streams -= line.text is None
        new = _take(halves, line, time.monotonic() - began) if line.text is not None else None
        if isinstance(new, Heard):
            yield new
        # Both sides tell of the same rounds.
        elif new and not _same(new, last):
            last = new
            yield last


def _same(new: Progress, last: Progress) -> bool:
    if isinstance(new, Rate) and isinstance(last, Rate):
        return (new.pattern, new.size, new.rounds) == (last.pattern, last.size, last.rounds)
    return new.text == last.text


def _settle(half: Half, process: subprocess.Popen[str], python: str, limit: float) -> Half:
    """The half at its end; raises SpeedError where the test could not even begin."""
    try:
        status = process.wait(timeout=1.0)
    except subprocess.TimeoutExpired:
        return replace(half, failure=half.failure or f"rank {half.rank} did not end within its {limit:g} s")
    if status in (_NO_TORCH, _NOT_RUN):
        raise _not_run(python, half.failure or "; ".join(half.log))
    return reports.ended(half, status)


def live(
    nodes: Sequence[Node], sides: Sequence[Side], python: str
) -> Generator[Progress | Heard | SpeedTest, None, None]:
    """As ``run``, with the log of NCCL, gloo and torch as it comes."""
    lines: _Lines = Queue()
    halves = [Half(side.rank, ranks=side.ranks) for side in sides]
    limit = max(side.limit for side in sides)
    with _running(nodes, sides, python) as processes:
        threads = [thread for number, process in enumerate(processes) for thread in _listen(number, process, lines)]
        yield from _follow(lines, halves, len(threads), limit)
        halves = [_settle(half, process, python, limit) for half, process in zip(halves, processes, strict=True)]
    for thread in threads:
        thread.join()
    yield reports.joined(tuple(halves))


def run(nodes: Sequence[Node], sides: Sequence[Side], python: str) -> Iterator[Progress | SpeedTest]:
    """Run each side on its node; the last value is the result, also of a test that failed.

    Closing the iterator ends the workers. Raises SpeedError where the interpreter is missing or has no torch.
    """
    values = live(nodes, sides, python)
    with closing(values):
        yield from (value for value in values if not isinstance(value, Heard))
