"""Looks at a large log that grows, as a process of its own; tells what it measured as JSON. For ``test_big_log``."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from textual import events
from textual.strip import Strip

from ncclcheck.model import Node
from ncclcheck.tui.app import Doctor
from ncclcheck.tui.outcomes import Activity
from ncclcheck.tui.text import reading
from ncclcheck.tui.widgets.log_view import LogView
from tests.test_speed import long_log

KEYS = ("down",) * 6 + ("pagedown",) * 2 + ("G", "up", "g")
ROUND = 100
"""Keys."""
ROUNDS = 3
"""Other work on the machine is not what is measured: the best of them counts."""
ENOUGH = 0.1
"""Seconds."""
_GAP = 0.01
_WRITER = """
import sys, time
lines = "".join(
    f"[rank{n % 8}]: node-a:1234:1240 [0] NCCL INFO Channel {n % 32:02d}/0 : 0[0] -> 1[0] via P2P/CUMEM\\n"
    for n in range(10_000)
).encode()
began = time.monotonic()
with open(sys.argv[1], "ab", buffering=0) as log:
    for n in range(1, 1200):
        log.write(lines)
        time.sleep(max(0.0, began + n / 10 - time.monotonic()))
"""
"""100 000 lines a second, for two minutes at most."""


def write(log: Path, size: int) -> None:
    """A job's beginning and its training, over and over, up to that many bytes."""
    some = "".join(long_log(150_000)).encode()
    with log.open("wb") as file:
        for _ in range(0, size, len(some)):
            file.write(some)


@contextmanager
def growing(log: Path) -> Iterator[None]:
    """While the job goes on."""
    with subprocess.Popen([sys.executable, "-c", _WRITER, str(log)]) as writer:
        try:
            yield
        finally:
            writer.kill()


class Watched:
    """When a row was last rendered."""

    def __init__(self) -> None:
        self.at = 0.0
        whole = LogView.render_line

        def render_line(view: LogView, y: int) -> Strip:
            self.at = time.monotonic()
            return whole(view, y)

        LogView.render_line = render_line  # type: ignore[method-assign]


async def opened(app: Doctor, log: Path) -> float:
    """Seconds until its first rows stand there."""
    began, before = time.monotonic(), app.snapshot.document.texts
    app.read(reading.read_files(app.cases, (str(log),)))
    while app.snapshot.document.texts == before or not _rows(app):
        await asyncio.sleep(0.002)
    return time.monotonic() - began


def _rows(app: Doctor) -> int:
    shown = list(app.screen.query(LogView))
    return shown[0].rows.height if shown and shown[0].rows == app.snapshot.document else 0


async def pressed(app: Doctor, watched: Watched, key: str) -> float:
    """Seconds from a key, as the driver hands it over, to a row that is drawn anew."""
    began = time.monotonic()
    app.post_message(events.Key(key, None))
    while watched.at < began and time.monotonic() < began + 10:
        await asyncio.sleep(0.0005)
    await asyncio.sleep(_GAP)
    return watched.at - began


async def slow_keys(app: Doctor, watched: Watched) -> list[float]:
    """The 99th percentile of each round; one at whose end nothing was being diagnosed any more does not count."""
    rounds: list[float] = []
    for _ in range(ROUNDS):
        took = sorted([await pressed(app, watched, KEYS[n % len(KEYS)]) for n in range(ROUND)])
        if app.snapshot.running_in(Activity.DIAGNOSE):
            rounds.append(took[ROUND * 99 // 100 - 1])
        if rounds and rounds[-1] < ENOUGH:
            break
    return rounds


async def look(log: Path) -> dict[str, float]:
    """Open it, press keys while it is indexed and grows, go to its end."""
    app, watched = Doctor((Node("gpu-box"),)), Watched()
    async with app.run_test(size=(140, 45)) as pilot:
        await pilot.pause()
        with growing(log):
            first = min([await opened(app, log) for _ in range(ROUNDS)])
            app.screen.query_one(LogView).focus()
            slow = await slow_keys(app, watched)
            while not app.snapshot.document.whole:
                await asyncio.sleep(0.01)
            before = app.snapshot.document.lines
            end = await pressed(app, watched, "G")
            await asyncio.sleep(1.0)
            grew = app.snapshot.document.lines - before
    told = {"first": first, "slow": min(slow, default=0.0), "busy": bool(slow), "end": end, "grew": grew}
    return {**told, "memory": int(re.findall(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[0]) / 1024}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(look(Path(sys.argv[1])))))
