"""The use case "what is wrong between these nodes?", where commands can be run on all of them: no person has to type.

``ncclcheck pair`` runs on the first node and ``ncclcheck join`` on the others, so what is tried is what two people
would try; all of them are ended with the generator, whatever happens. [effects]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from queue import Empty, Queue
from threading import Thread
from typing import IO, Any

import msgspec

from ncclcheck.doctor.steps import Ended, NoWay, Step, Waiting
from ncclcheck.doctor.steps_json import decoded
from ncclcheck.errors import PeerError
from ncclcheck.model import Node

_COMING = 60.0
"""Seconds that the other nodes get to join."""
_LIMIT = 240.0
"""Seconds for everything; with no person to ask it takes some fifteen."""
_LOOK = 0.25
"""Seconds between two looks at whether it is to be ended."""


@dataclass(frozen=True, slots=True)
class _Far:
    """A running ncclcheck on a node."""

    node: Node
    process: subprocess.Popen[bytes]
    complaints: IO[bytes]

    def error(self) -> PeerError:
        """Why it ended before its time, in its own words."""
        status = self.process.wait()
        self.complaints.seek(0)
        said = self.complaints.read().decode(errors="replace").strip()
        problem, _, next_step = said.partition("\n  ")
        problem = problem.removeprefix("ncclcheck: ") or f"exit status {status} and no answer"
        return PeerError(problem, place=self.node.name, next_step=next_step)


@dataclass(frozen=True, slots=True)
class _Said:
    """A line of output, of whom; without one, the end of it."""

    far: _Far
    line: bytes = b""


_Lines = Queue[_Said]


def between(
    nodes: Sequence[Node], *, python: str | None = None, stopped: Callable[[], bool] = lambda: False
) -> Iterator[Step]:
    """The steps of a pairing of these nodes, as the first one sees them; nothing is changed on any.

    The last step is Ended, or NoWay where a node finds no way to the first one; there is none once ``stopped`` says so.
    Raises PeerError with the far side's own words.
    """
    common = ["--json", *(["--python", python] if python else [])]
    asked = ["pair", "--no-fix", "--nodes", str(len(nodes)), "--limit", f"{_COMING:g}", *common]
    lines: _Lines = Queue()
    with ExitStack() as stack:
        first = stack.enter_context(_running(nodes[0], asked, lines))
        for far, step in _steps(lines, stopped):
            if far is first or isinstance(step, NoWay):
                yield step
            if isinstance(step, NoWay) or (far is first and isinstance(step, Ended)):
                return
            if far is first and isinstance(step, Waiting):
                joining = [*step.invitation.command.split()[1:], *common]
                for node in nodes[1:]:
                    stack.enter_context(_running(node, joining, lines))


@contextmanager
def _running(node: Node, arguments: Sequence[str], lines: _Lines) -> Iterator[_Far]:
    """Run ncclcheck there, its lines going into the queue; it ends with the block in any case."""
    command = [*node.prefix, sys.executable, "-m", "ncclcheck", *arguments]
    with tempfile.TemporaryFile() as complaints:
        try:
            process = subprocess.Popen(
                command,
                env={**os.environ, **dict(node.env)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=complaints,
            )
        except OSError as failed:
            raise PeerError(f"{command[0]} cannot be run: {failed.strerror}", place=node.name) from failed
        far = _Far(node, process, complaints)
        Thread(target=_read, args=(far, lines), daemon=True).start()
        try:
            yield far
        finally:
            # Its output may stay open for a while, held by whom it started; nobody waits for them.
            process.kill()
            process.wait()


def _read(far: _Far, lines: _Lines) -> None:
    assert far.process.stdout is not None
    with far.process.stdout as stream:
        for line in stream:
            lines.put(_Said(far, line))
    lines.put(_Said(far))


def _steps(lines: _Lines, stopped: Callable[[], bool]) -> Iterator[tuple[_Far, Step]]:
    """What each says, until it is to be ended; PeerError where one ends without a last word, or all take too long."""
    until = time.monotonic() + _LIMIT
    done: list[_Far] = []
    while not stopped():
        if time.monotonic() > until:
            raise PeerError(f"no end within {_LIMIT:g} s", place="pair", next_step="Try ncclcheck pair on one of them.")
        try:
            said = lines.get(timeout=_LOOK)
        except Empty:
            continue
        if said.line:
            step = decoded(_values(said))
            done += [said.far] if isinstance(step, Ended | NoWay) else []
            yield said.far, step
        elif said.far not in done:
            raise said.far.error()


def _values(said: _Said) -> dict[str, Any]:
    try:
        return msgspec.json.decode(said.line, type=dict[str, Any])
    except msgspec.DecodeError as error:
        text = said.line[:80].decode(errors="replace").strip()
        raise PeerError(f"it says {text!r}, which is no step of a pairing", place=said.far.node.name) from error
