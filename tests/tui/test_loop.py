"""No action holds up the thread that handles keys: every step of its loop is measured while all that can be done is
done, with use cases that take their time.
"""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from ncclcheck.tui.app import Doctor
from ncclcheck.tui.places import DESTINATIONS
from ncclcheck.tui.seam import UseCases
from tests.tui import fake
from tests.tui.pilots import SMALL, paste, settled
from tests.yardstick import within

LONGEST = 0.05
"""Seconds of an ordinary machine that a step may take."""
SLOW = 0.15
"""Seconds that each use case takes in the first round; on the wrong thread it could not be overlooked."""
ROUNDS = 2
BACK = "escape"
ACTIONS = (
    *((place.key,) for place in DESTINATIONS),
    ("1", "p"),
    ("p", "f"),
    ("f", BACK),
    ("w", "x", BACK),
    ("o", "x", "enter"),
    ("2", "n", "N", "e", "slash", "N", "enter", "greater_than_sign", BACK, BACK),
    ("2", "t", "enter", "t"),
    ("2", "r", BACK),
    ("3", "down", "enter", "tab", "down"),
    ("4", "i", "v"),
    ("5", "s"),
    ("7", "down", "u", BACK, "enter", BACK),
    ("c",),
    ("L",),
    ("question_mark", BACK),
    ("paste",),
)
"""What is done, each with what has to come before it; Textual's own palette of commands is not ours to measure."""


@dataclass(slots=True)
class Steps:
    """The longest step of the loop since it was last asked for."""

    cpu: float = 0.0
    """Seconds of this thread on a processor."""
    idle: float = 0.0
    """Seconds in which it waited for something."""

    def taken(self) -> tuple[float, float]:
        """And begin anew."""
        longest, self.cpu, self.idle = (self.cpu, self.idle), 0.0, 0.0
        return longest

    def add(self, cpu: float, wall: float) -> None:
        """One more."""
        self.cpu, self.idle = max(self.cpu, cpu), max(self.idle, wall - cpu)


@contextmanager
def measured(monkeypatch: pytest.MonkeyPatch) -> Iterator[Steps]:
    """Every step of the event loop: a callback, or a task up to where it waits."""
    steps, run = Steps(), asyncio.Handle._run

    def timed(handle: asyncio.Handle) -> None:
        cpu, wall = time.thread_time(), time.perf_counter()
        run(handle)
        steps.add(time.thread_time() - cpu, time.perf_counter() - wall)

    with monkeypatch.context() as patch:
        patch.setattr(asyncio.Handle, "_run", timed)
        yield steps


class Slowly:
    """Use cases that take their time, and never on the thread that handles keys."""

    def __init__(self) -> None:
        self.seconds = SLOW
        self.wrong: list[str] = []
        """What was called on that thread."""

    def cases(self, cases: UseCases) -> UseCases:
        """The same, each of which takes its time."""
        plain = {one.name: getattr(cases, one.name) for one in fields(cases)}
        return replace(cases, **{name: self._slow(name, case) for name, case in plain.items() if callable(case)})

    def _slow(self, name: str, case: Any) -> Any:
        def taking(*given: Any) -> Any:
            if threading.current_thread() is threading.main_thread():
                self.wrong.append(name)
            time.sleep(self.seconds)
            return case(*given)

        return taking


async def test_no_action_holds_up_the_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    slowly, found = Slowly(), dict[str, list[tuple[float, float]]]()
    app = Doctor(fake.LAB, cases=slowly.cases(fake.Doctor().cases()))
    with measured(monkeypatch) as steps:
        async with app.run_test(size=SMALL) as pilot:
            await settled(pilot)
            for number in range(ROUNDS):
                slowly.seconds = 0 if number else SLOW
                gc.collect()
                for action in ACTIONS:
                    steps.taken()
                    await done(pilot, action)
                    found.setdefault(" ".join(action), []).append(steps.taken())
    assert slowly.wrong == []
    waited = {name: rounds[0][1] for name, rounds in found.items()}
    assert max(waited.values()) < SLOW, {name: idle for name, idle in waited.items() if idle >= SLOW}
    # What an action takes by itself: what is loaded or laid out for the first time is in the first round alone.
    slowest = {name: min(cpu for cpu, _ in rounds) for name, rounds in found.items()}
    assert within(LONGEST, max(slowest.values())), sorted(slowest.items(), key=lambda one: -one[1])[:5]


async def done(pilot: Pilot[None], action: tuple[str, ...]) -> None:
    """Do it, and wait for what it sets off."""
    if action == ("paste",):
        await paste(pilot, "\n".join(fake.LOG * 50))
    else:
        await pilot.press(*action)
        await settled(pilot)
