"""How the ranks find each other at HOST:PORT before torch has any part in it.

torch's own store hangs where the versions of torch differ too much (2.13 at the one of 1.13), and tells nobody why a
side has to wait. So rank 0 first takes everybody's hello at the same port, in lines of JSON over plain TCP, compares
them, and says when all are there.
"""

from __future__ import annotations

import contextlib
import errno
import json
import select
import socket
import time
from typing import Any

from .voice import Failure
from .watch import TICK, Watch
from .words import show

_LONGEST = 65536
_ANSWER = 10.0
"""Seconds within which rank 0 answers a hello."""


def resolve(place: tuple[str, int]) -> tuple[int, Any]:
    """Family and socket address of the host."""
    try:
        found = socket.getaddrinfo(place[0], place[1], type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise Failure(f"the host {place[0]} is not known here ({error.strerror}); give its address instead") from None
    return found[0], found[4]


def different(rank: int, hello: dict[str, Any], other: int, theirs: dict[str, Any]) -> str:
    """In what two sides mean different tests, in a sentence; empty where they mean the same."""
    for name, ours in hello.items():
        if ours != theirs.get(name):
            advice = "; use the same environment on both" if name in ("torch", "NCCL") else ""
            both = f"rank {rank} has {ours}, rank {other} has {theirs.get(name)}"
            return f"the two sides differ in {name}: {both}{advice}"
    return ""


class Waiting:
    """Says whom this side waits for, once for each, and gives up at the time limit."""

    def __init__(self, watch: Watch) -> None:
        self._watch, self._said = watch, ""

    def on(self, rank: int, reason: str, advice: str) -> None:
        """Still nothing of this rank."""
        watch, at = self._watch, show(self._watch.asked.place)
        watch.stage = f"waiting for rank {rank} at {at}"
        if f"{rank} {reason}" != self._said:
            self._said = f"{rank} {reason}"
            watch.voice.say("waiting", peer=rank, at=at, reason=reason)
        if watch.left() <= 0:
            raise Failure(advice)


class Line:
    """One end of a connection that carries JSON objects, one a line."""

    def __init__(self, end: socket.socket) -> None:
        self.end, self._rest, self.over = end, b"", False

    def fileno(self) -> int:
        """For select()."""
        return self.end.fileno()

    def say(self, words: dict[str, Any]) -> None:
        """Send them; that nobody listens any more shows when reading."""
        with contextlib.suppress(OSError):
            self.end.sendall(json.dumps(words).encode() + b"\n")

    def read(self) -> list[dict[str, Any]]:
        """What has come; ``over`` is set at the end, and at what is none of our language."""
        try:
            got = self.end.recv(_LONGEST)
        except BlockingIOError:
            return []
        except OSError:
            got = b""
        *lines, self._rest = (self._rest + got).split(b"\n")
        self.over = not got or len(self._rest) > _LONGEST
        try:
            told = [json.loads(line) for line in lines]
        except ValueError:
            told = [None]
        self.over = self.over or not all(isinstance(words, dict) for words in told)
        return [words for words in told if isinstance(words, dict)]


class Door:
    """Rank 0's part: open until all have come."""

    def __init__(self, watch: Watch, hello: dict[str, Any]) -> None:
        self._watch, self._hello = watch, hello
        self._strangers: list[Line] = []
        self._known: dict[int, Line] = {}

    def gather(self) -> None:
        """Wait for all others; Failure where one means another test, goes away, or does not come in time."""
        watch, ranks = self._watch, range(1, self._watch.asked.ranks)
        listener = _listening(watch.asked.place)
        watch.farewell = self._tell
        waiting = Waiting(watch)
        try:
            while missing := [rank for rank in ranks if rank not in self._known]:
                waiting.on(missing[0], "not there yet", self._absent(missing[0]))
                self._look(listener)
            self._tell({"go": True})
        except Failure as failure:
            self._tell(failure.told or {"rank": 0, "reason": str(failure)})
            raise
        finally:
            watch.farewell = None
            for line in (*self._strangers, *self._known.values()):
                line.end.close()
            listener.close()

    def _tell(self, words: dict[str, Any]) -> None:
        for line in list(self._known.values()):
            line.say(words)

    def _absent(self, rank: int) -> str:
        asked = self._watch.asked
        come = f"rank {rank} did not come to {show(asked.place)} within {asked.limit:g} s; start it on its machine with"
        return f"{come} the same HOST:PORT and SIZE, and see that this address can be reached from there"

    def _look(self, listener: socket.socket) -> None:
        ends: list[Any] = [listener, *self._strangers, *self._known.values()]
        ready, _, _ = select.select(ends, [], [], TICK)
        if listener in ready:
            with contextlib.suppress(OSError):
                self._strangers.append(Line(listener.accept()[0]))
                self._strangers[-1].end.setblocking(False)
        for line in [line for line in self._strangers if line in ready]:
            self._greet(line)
        for rank, line in [known for known in self._known.items() if known[1] in ready]:
            self._hear(rank, line)

    def _greet(self, line: Line) -> None:
        """Somebody said something, or went away: a scanner or a browser does no harm."""
        told = line.read()
        if not (told or line.over):
            return
        self._strangers.remove(line)
        hello = told[0].get("hello") if told else None
        rank = told[0].get("rank") if told else None
        if not isinstance(hello, dict) or not isinstance(rank, int):
            line.end.close()
        elif rank == 0 or rank in self._known:
            reason = f"there already is a rank {rank} at {show(self._watch.asked.place)}"
            line.say({"rank": 0, "reason": reason, "yours": True})
            line.end.close()
        else:
            self._known[rank] = line
            if wrong := different(0, self._hello, rank, hello):
                raise Failure(wrong)
            line.say({"welcome": True})

    def _hear(self, rank: int, line: Line) -> None:
        """Nobody who is known says anything until all are there, but that it ends."""
        for words in line.read():
            raise Failure(f"rank {rank} failed: {words.get('reason')}", told=words)
        if line.over:
            raise Failure(f"rank {rank} went away while {self._watch.stage}")


def _listening(place: tuple[str, int]) -> socket.socket:
    """Where the others come to; torch would say what is wrong with a place only in the middle of a long traceback."""
    family, address = resolve(place)
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(128)
    except OSError as error:
        listener.close()
        reasons = {
            errno.EADDRNOTAVAIL: f"{place[0]} is no address of this machine; HOST must be one of rank 0's own",
            errno.EADDRINUSE: f"port {place[1]} is in use on this machine; take another one, on both sides",
        }
        other = f"cannot listen at {show(place)}: {error.strerror}"
        raise Failure(reasons.get(error.errno or 0, other)) from None
    return listener


def knock(watch: Watch) -> socket.socket:
    """A connection to rank 0, as soon as there is one to be had."""
    asked, waiting = watch.asked, Waiting(watch)
    family, address = resolve(asked.place)
    while True:
        end = socket.socket(family, socket.SOCK_STREAM)
        end.settimeout(1.0)
        try:
            end.connect(address)
        except OSError as error:
            end.close()
            reason = (error.strerror or str(error)).lower()
        else:
            return end
        nobody = f"rank 0 did not answer at {show(asked.place)} within {asked.limit:g} s ({reason})"
        where = f"start rank 0 there, and see that {address[0]} can be reached from this machine"
        waiting.on(0, reason, f"{nobody}; {where}")
        time.sleep(TICK)


def come(watch: Watch, hello: dict[str, Any]) -> None:
    """Another rank's part: say hello, and wait until all have; Failure where that will not be."""
    asked = watch.asked
    while True:
        with knock(watch) as end:
            line = Line(end)
            line.say({"rank": asked.rank, "hello": hello})
            watch.farewell = line.say
            try:
                if _answered(watch, line):
                    return
            finally:
                watch.farewell = None
        time.sleep(TICK)


def _answered(watch: Watch, line: Line) -> bool:
    """Whether all are there; False where rank 0 went away before it knew us, so that it may come again."""
    welcome, until = False, time.monotonic() + _ANSWER
    while not line.over:
        for words in line.read() if select.select([line], [], [], TICK)[0] else []:
            if "go" in words:
                return True
            welcome = _welcomed(words) or welcome
        _go_on(watch, welcome or time.monotonic() < until)
        if welcome:
            watch.stage = f"waiting at {show(watch.asked.place)} until all ranks have come"
    if welcome:
        raise Failure(f"rank 0 went away while {watch.stage}")
    return False


def _welcomed(words: dict[str, Any]) -> bool:
    """Whether rank 0 knows us now; Failure where it says why it ends."""
    if "reason" not in words:
        return "welcome" in words
    reason = str(words["reason"])
    raise Failure(reason if words.get("yours") else f"rank {words.get('rank')} failed: {reason}", told=words)


def _go_on(watch: Watch, patient: bool) -> None:
    at = show(watch.asked.place)
    if not patient:
        raise Failure(f"whoever listens at {at} does not answer as this test does; is that port another program's?")
    if watch.left() <= 0:
        raise Failure(f"the time limit of {watch.asked.limit:g} s passed while {watch.stage}")
