"""How slow this machine is now, so that a limit in seconds asks the same of us on every machine.

A limit holds on an ordinary machine, which is one that does a fixed piece of work in ``ORDINARY`` seconds: it starts
Python, imports what others wrote and we need, makes classes, compiles patterns and reads TOML, which is what a short
answer of ours spends its time with too. A machine that takes longer for it has longer for ours, in proportion; one that
is quicker has no less. The work holds nothing of ours, so nothing that we make slower makes it slower.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import pytest

T = TypeVar("T")

ORDINARY = 0.18
"""Seconds of a lap on an ordinary machine.

Measured when ``analyze`` of 200 lines took 1.16 laps: the best of 12 each, in turns, 20 times over, on two virtual
cores whose speed came and went (0.120 s against 0.100 s in quick times, 0.24 s against 0.21 s in slow ones). So on an
ordinary machine it takes 0.21 s, and its limit of 0.25 s leaves a fifth. Best against best of 12 strayed by a sixth at
most, with other work on both cores; so the limit can be kept under load, and nine times in ten not by something
that takes 30 % more than now.
"""
_TRIES = 3
_ROUNDS = 12
_WORK = r"""
import argparse, contextlib, dataclasses, ipaddress, json, pathlib, re, shutil, zlib
import msgspec, tomli
names = [f"field{n}" for n in range(6)]
kinds = [dataclasses.make_dataclass(f"Kind{n}", names, frozen=True) for n in range(45)]
patterns = [re.compile(rf"(?P<host>[^\s:|>\]]*):(?P<pid>\d+):(?P<tid>\d+)\s+kind {n}(?: |$)") for n in range(90)]
event = '[[event]]\nkind = "kind"\nwords = ["a", "b", 7]\nwhere = { a = "b", c = 7 }\n'
assert len(tomli.loads(event * 600)["event"]) == 600
assert sum(len(pattern.findall("node-a:1:1 kind 7 " * 50)) for pattern in patterns) == 50
"""


def lap() -> float:
    """Seconds that the work takes once, start of the interpreter and all."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", _WORK], check=True)
    return time.perf_counter() - began


def slowness(laps: Sequence[float]) -> float:
    """How many times slower than an ordinary machine this one was in these laps, by the best of them; at least 1."""
    return max(1.0, min(laps) / ORDINARY)


def best_in_time(measure: Callable[[], float], limit: float) -> None:
    """Fail where what is measured takes more than ``limit`` seconds of an ordinary machine.

    Best against best, in turns, so that whatever else the machine does hits both; thrice as many where that was unfair.
    It should be about as long as a lap: a long one is never undisturbed on a busy machine.
    """
    seconds: list[float] = []
    laps: list[float] = []
    for _ in range(_TRIES):
        for _ in range(_ROUNDS):
            seconds.append(measure())
            laps.append(lap())
        if min(seconds) <= limit * slowness(laps):
            return
    best = f"{min(seconds):.3f} s at best, and a lap {min(laps):.3f} s"
    pytest.fail(f"it took {best}: more than {limit} s where a lap takes {ORDINARY} s")


def within(limit: float, seconds: float) -> bool:
    """Whether what was measured just now is no more than ``limit`` seconds of an ordinary machine."""
    return seconds <= limit or seconds <= limit * slowness([lap() for _ in range(_TRIES)])


def in_time(act: Callable[[], T], limit: float) -> T:
    """What ``act`` gives; it fails where that takes more than ``limit`` seconds of an ordinary machine.

    The best of three, and the yardstick right after each that is late: other work on the machine hits both.
    """
    late = []
    for _ in range(_TRIES):
        began = time.perf_counter()
        found = act()
        seconds = time.perf_counter() - began
        if within(limit, seconds):
            return found
        late.append(round(seconds, 2))
    return pytest.fail(f"it took {late} s each time, where an ordinary machine may take {limit} s")
