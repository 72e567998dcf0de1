"""Starts workers for real, over loopback, and reads what they print."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ncclcheck.speedtest import worker

Event = dict[str, Any]


def free_port(address: str = "127.0.0.1") -> int:
    """A port that nobody listens on just now."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        trial.bind((address, 0))
        return int(trial.getsockname()[1])


@contextmanager
def worker_of(*words: object, code: str = "", python: tuple[str, ...] = (sys.executable,)) -> Iterator[Any]:
    """A running worker; ``code`` is run before its main(), with the script as module ``worker``."""
    patched = f"import sys; sys.path.insert(0, {worker.__file__[:-9]!r}); import worker\n{code}\n"
    start = ["-c", f"{patched}sys.exit(worker.main(sys.argv[1:]))"] if code else [worker.__file__]
    process = subprocess.Popen(
        [*python, *start, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def finish(process: Any) -> tuple[int, tuple[Event, ...]]:
    """Its exit code and events, once it has ended."""
    output, _ = process.communicate(timeout=60)
    return process.returncode, tuple(map(json.loads, output.splitlines()))


def until(process: Any, event: str) -> Event:
    """Read on until it tells of this event."""
    for line in process.stdout:
        if (told := json.loads(line))["event"] == event:
            return dict(told)
    raise AssertionError(f"it ended without {event}: {process.stderr.read()}")


def reason(events: tuple[Event, ...]) -> str:
    """Why it failed, by its last word."""
    return str(events[-1]["reason"]) if events[-1]["event"] == "failure" else ""
