"""Starts workers for real, over loopback, and reads what they print.

They come from a server that has torch loaded already and is forked for each, so that a test is not mostly waiting for
``import torch``; the worker's own start is tested where it is the point.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

Event = dict[str, Any]
_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(["torch", "torch.distributed", "ncclcheck.speedtest.worker.session"])


def free_port(address: str = "127.0.0.1") -> int:
    """A port that nobody listens on just now."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        trial.bind((address, 0))
        return int(trial.getsockname()[1])


def _be_a_worker(words: list[str], output: str, env: dict[str, str], code: str) -> None:
    from ncclcheck.speedtest.worker import ddp, meeting, session, sweep, watch, wire

    target = os.open(output, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.dup2(target, 1)
    os.dup2(target if output == "/dev/full" else os.open(f"{output}.err", os.O_WRONLY | os.O_CREAT), 2)
    os.environ.update(env)
    exec(code, {"ddp": ddp, "meeting": meeting, "session": session, "sweep": sweep, "watch": watch, "wire": wire})
    os._exit(session.main(words))


class Worker:
    """A worker that runs, or has ended."""

    def __init__(self, words: tuple[object, ...], output: Path, env: dict[str, str], code: str, stdout: str) -> None:
        self._output, self._seen = output, 0
        self.process = _SERVER.Process(
            target=_be_a_worker, args=(list(map(str, words)), stdout or str(output), env, code), daemon=True
        )
        self.process.start()
        self.pid = int(self.process.pid or 0)

    @property
    def events(self) -> tuple[Event, ...]:
        """What it has told so far."""
        text = self._output.read_text() if self._output.exists() else ""
        return tuple(json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n"))

    @property
    def errors(self) -> str:
        """Its standard error."""
        return Path(f"{self._output}.err").read_text()

    def until(self, event: str, wanted: Callable[[Event], bool] = lambda _: True) -> Event:
        """Wait until it tells of this event."""
        end = time.monotonic() + 30
        while time.monotonic() < end:
            for told in self.events:
                if told["event"] == event and wanted(told):
                    return told
            if not self.process.is_alive():
                break
            time.sleep(0.01)
        raise AssertionError(f"it gave no {event}: {self.events[-3:]} {self.errors}")

    def finish(self) -> tuple[int, tuple[Event, ...]]:
        """Its exit code and events, once it has ended."""
        self.process.join(60)
        assert self.process.exitcode is not None, self.events[-3:]
        return self.process.exitcode, self.events


@contextmanager
def worker_of(*words: object, env: dict[str, str] | None = None, code: str = "", stdout: str = "") -> Iterator[Worker]:
    """A running worker; ``code`` is run before its main(), with its modules by their names."""
    with tempfile.TemporaryDirectory() as folder:
        worker = Worker(words, Path(folder) / "events", env or {}, code, stdout)
        try:
            yield worker
        finally:
            worker.process.kill()
            worker.process.join()
            worker.process.close()


@contextmanager
def workers(*sides: tuple[object, ...], code: tuple[str, ...] = (), place: str = "") -> Iterator[list[Worker]]:
    """One worker for each rank: its words after HOST:PORT and before RANK are the first, then come options."""
    place = place or f"127.0.0.1:{free_port()}"
    with ExitStack() as stack:
        yield [
            stack.enter_context(worker_of(place, side[0], rank, *side[1:], code=code[rank] if rank < len(code) else ""))
            for rank, side in enumerate(sides)
        ]


def run(*sides: tuple[object, ...], code: tuple[str, ...] = (), place: str = "") -> list[tuple[int, tuple[Event, ...]]]:
    """Exit codes and events of all ranks."""
    with workers(*sides, code=code, place=place) as running:
        return [worker.finish() for worker in running]


def named(events: tuple[Event, ...], event: str) -> list[Event]:
    """The events of this name."""
    return [told for told in events if told["event"] == event]


def reason(events: tuple[Event, ...]) -> str:
    """Why it failed, by its last word."""
    return str(events[-1]["reason"]) if events and events[-1]["event"] == "failure" else ""


PYTHON = sys.executable
QUICK = ("--interface", "lo", "--no-baseline", "--seconds", "0.3")
