"""How long an answer takes, and how much memory: as a command, start and all."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.cases import ROOT
from tests.yardstick import best_in_time, in_time

CASE = ROOT / "fixtures" / "logs" / "wrong-interface" / "2.28.9-refused-2x4"
SOON = 0.25
"""Seconds for 200 lines, on an ordinary machine (``tests/yardstick.py``)."""
MILLION = 10.0
"""Seconds for a million lines, there."""
LATE = {
    "regex",
    "gzip",
    "ncclcheck.logs.catalogue",
    "ncclcheck.model.machine",
    "ncclcheck.model.node",
    "ncclcheck.model.peer",
    "ncclcheck.model.speed",
    "ncclcheck.node.selection",
    "ncclcheck.rulebook.patterns",
    "ncclcheck.rulebook.sides",
}
"""Modules that take long to load, and that a log of refused calls gives no reason to."""
ROOM = 160
"""MiB that reading a million lines may need, whatever the lines are."""


def analyze(compiled: Path, *logs: Path) -> tuple[float, int]:
    """Seconds and peak MiB of one run, compiled as an installed program is; the answer must be there."""
    # VmHWM, not ru_maxrss: that one also counts what this process used before it became the command (getrusage(2)).
    script = (
        "import re, sys; from ncclcheck.cli.main import main; code = main(sys.argv[1:]);"
        "peak = re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1];"
        "print(code, int(peak) // 1024, file=sys.stderr)"
    )
    env = {**os.environ, "PYTHONPYCACHEPREFIX": str(compiled), "PYTHONDONTWRITEBYTECODE": ""}
    command = [sys.executable, "-c", script, "analyze", "--json", *map(str, logs)]
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    seconds = time.perf_counter() - began
    code, memory = done.stderr.split()[-2:]
    assert code == "1"
    assert "wrong-interface" in done.stdout
    return seconds, int(memory)


def test_two_hundred_lines(tmp_path: Path) -> None:
    logs = sorted(CASE.glob("*.log"))
    assert sum(len(log.read_text().splitlines()) for log in logs) > 150
    best_in_time(lambda: analyze(tmp_path, *logs)[0], SOON)


def test_a_log_is_answered_without_what_it_does_not_need() -> None:
    script = "import sys; from ncclcheck.cli.main import main; main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    command = [sys.executable, "-c", script, "analyze", "--json", *map(str, sorted(CASE.glob("*.log")))]
    loaded = set(subprocess.run(command, capture_output=True, text=True, check=True).stderr.split())
    assert "ncclcheck.rulebook.diagnose" in loaded
    assert loaded & LATE == set()


def long_log(count: int) -> Iterator[str]:
    """A job's beginning, then training with NCCL's own chatter, and calls that are refused now and then."""
    for log in sorted(CASE.glob("*.log")):
        yield from log.read_text().splitlines(keepends=True)
    for n in range(count):
        rank = n % 8
        head = f"node-a:1234:{1240 + rank} [{rank}] NCCL INFO"
        if n % 20 < 12:
            yield f"[rank{rank}]: 2026-01-02 10:{n % 60:02d}:{n * 7 % 60:02d},123 step {n} loss {n % 977 / 977:.4f}\n"
        elif n % 20 < 16:
            yield f"{head} AllReduce: opCount {n:x} sendbuff 0x7f{n:08x} recvbuff 0x7e{n:08x} count {n} comm 0x5581\n"
        elif n % 20 < 19:
            yield f"{head} Channel {n % 32:02d}/0 : {rank}[{rank}] -> {(rank + 1) % 8}[{rank}] via P2P/CUMEM\n"
        else:
            yield (
                f"node-b:77:78 [0] NCCL INFO socketPollConnect: connect to 172.17.0.2<52059> returned "
                f"Connection refused, retrying ({n % 34}/34) after sleep for 100 msec\n"
            )


def test_a_million_lines(tmp_path: Path) -> None:
    log = tmp_path / "long.log"
    with log.open("w") as file:
        file.writelines(long_log(1_000_000))
    _, memory = in_time(lambda: analyze(tmp_path / "compiled", log), MILLION)
    assert memory <= ROOM
