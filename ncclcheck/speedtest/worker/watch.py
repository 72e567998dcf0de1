"""Ends this process in time and with a reason, whatever torch is blocked in.

Two threads: a clock that never waits for anybody (time limit, signals, the process that started this one, NCCL's log),
and an ear at the store, which is blocked for as long as the store's machine is.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
import time
from collections.abc import Callable
from typing import Any, NoReturn

from .company import Company
from .nccl_log import Log
from .voice import Voice
from .words import Asked

TICK = 0.1
QUIET = 10.0
"""Seconds without any sign of life after which a side counts as gone."""
DAMAGED, UNFINISHED, NO_TORCH = 1, 3, 4
_SIGNALS = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "a request to end (SIGTERM)"}


class Watch:
    """Knows what this side is doing, and says it when it has to end."""

    def __init__(self, asked: Asked, voice: Voice, log: Log, attached: bool) -> None:
        self.asked, self.voice, self.log = asked, voice, log
        self.stage = "starting"
        self.deadline = time.monotonic() + asked.limit
        self.farewell: Callable[[dict[str, Any]], None] | None = None
        """How the others hear of this side's end, until there is a store for that."""
        self._connect: Callable[[], Company] | None = None
        self._parent = os.getppid() if attached else None
        self._heard = 0.0
        self._quiet = False
        self._silent = 0
        self._once = threading.Lock()
        self._wake, self._alarm = os.pipe()

    def start(self) -> None:
        """Begin with what needs no other side."""
        os.set_blocking(self._alarm, False)
        # The C level of the handler writes to the pipe at once; Python's level would wait for torch to return.
        signal.set_wakeup_fd(self._alarm, warn_on_full_buffer=False)
        for number in _SIGNALS:
            signal.signal(number, lambda *_: None)
        threading.Thread(target=self._tick, daemon=True).start()

    def listen(self, connect: Callable[[], Company]) -> None:
        """Hear and tell the other sides from now on, by a connection to the store of this thread's own."""
        self._connect, self._heard = connect, time.monotonic()
        threading.Thread(target=self._hear, args=(connect(),), daemon=True).start()

    def close(self) -> None:
        """Nobody's end is a failure any more."""
        self._quiet = True

    def left(self) -> float:
        """Seconds until the limit."""
        return self.deadline - time.monotonic()

    def _tick(self) -> None:
        while True:
            ready, _, _ = select.select([self._wake], [], [], TICK)
            if ready:
                self._stopped(os.read(self._wake, 1)[0])
            self.tell_log()
            if self._parent is not None and os.getppid() != self._parent:
                self.fail("whoever started this side is gone")
            # One second later than what looks at the limit itself and knows more.
            if time.monotonic() > self.deadline + 1.0:
                self.fail(f"the time limit of {self.asked.limit:g} s passed while {self.stage}")
            if self._connect and not self._quiet and time.monotonic() - self._heard > QUIET:
                self._connect = None
                self.fail(self._silence("rank 0's machine"))

    def _stopped(self, number: int) -> None:
        if number in _SIGNALS:
            self.fail(f"it was stopped by {_SIGNALS[signal.Signals(number)]} while {self.stage}")

    def _silence(self, who: str) -> str:
        return f"{who} gave no sign of life for {QUIET:g} s while {self.stage}; is it stopped, or its network gone?"

    def tell_log(self) -> None:
        """Say what NCCL has printed since the last time."""
        lines = self.log.more()
        if lines:
            self.voice.say("log", lines=lines)

    def _hear(self, company: Company) -> None:
        """Look at the store five times a second; tell of ourselves once a second."""
        beats, changed, told = -1, time.monotonic(), 0.0
        while not self._quiet:
            try:
                if failed := company.failure():
                    self.fail(f"rank {failed['rank']} failed: {failed['reason']}", told=failed)
                now = time.monotonic()
                if now - told >= 1.0:
                    company.beat()
                    told = now
                seen = company.beats()
            except RuntimeError:
                self._lost()
                return
            beats, changed = (beats, changed) if seen == beats else (seen, time.monotonic())
            self._heard = time.monotonic()
            # Before its first sign of life it has not come yet.
            if beats > 0 and self._heard - changed > QUIET and company.ranks > 1 and not self._quiet:
                # Nobody waits for it to hear of its own end.
                self._silent = 1
                self.fail(self._silence(f"rank {company.neighbour()}"))
            time.sleep(2 * TICK)

    def _lost(self) -> None:
        if not self._quiet:
            self._connect = None
            self.fail(f"rank 0 went away while {self.stage}")

    def give_way(self) -> None:
        """An error of torch's own is often only the echo of what another side is about to tell: wait for that."""
        if self._connect:
            time.sleep(1.0)

    def fail(self, reason: str, *, told: dict[str, Any] | None = None, code: int = UNFINISHED) -> NoReturn:
        """Say why, tell the other sides, and end; the first reason counts.

        ``told`` is what another side said of its own end, which was the first.
        """
        self._once.acquire()
        self._quiet = True
        self.tell_log()
        self.voice.last("failure", reason=reason, stage=self.stage)
        # In a thread of its own, as nobody may ever answer.
        words = told or {"rank": self.asked.rank, "reason": reason}
        # All ranks see damage for themselves, each with that exit code.
        words = {} if code == DAMAGED else words
        telling = threading.Thread(target=self._leave, args=(self._connect, self.farewell, words), daemon=True)
        telling.start()
        telling.join(3.0)
        os._exit(code)

    def _leave(
        self,
        connect: Callable[[], Company] | None,
        farewell: Callable[[dict[str, Any]], None] | None,
        words: dict[str, Any],
    ) -> None:
        """Leave the reason where the others look; in a store of ours, stay until they have heard."""
        if farewell:
            farewell(words)
        if connect:
            # A store that has gone took along those who were to be told.
            with contextlib.suppress(RuntimeError):
                self._stay(connect(), words)

    def _stay(self, company: Company, words: dict[str, Any]) -> None:
        if words:
            company.fail(words, self.stage)
        if not company.owner:
            company.count("heard", 1)
        end = time.monotonic() + 1.0
        while company.owner and company.count("heard") < company.here() - 1 - self._silent and _before(end):
            time.sleep(TICK / 2)


def _before(end: float) -> bool:
    return time.monotonic() < end
