"""How fast is it? Both sides of a speed test on two nodes, or this machine's side alone."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

from ncclcheck.doctor.diagnose import diagnose_text
from ncclcheck.errors import NcclcheckError, SpeedError
from ncclcheck.model import Finding, Node, Severity, SpeedTest
from ncclcheck.node.interpreter import Interpreter, ask_if_it_runs, candidates, named
from ncclcheck.speedtest.plan import BRIEF, Side
from ncclcheck.speedtest.reports import Progress, Suspected
from ncclcheck.speedtest.run import Heard, live

HERE = Node("this machine")
_APART = 3.0
"""Seconds between two looks at the log of a test that still runs."""

Clock = Callable[[], float]


def measure(
    nodes: tuple[Node, Node],
    *,
    address: str,
    port: int,
    size: int,
    interfaces: tuple[str, str],
    limit: float = 60.0,
    python: str | None = None,
    seconds: float = BRIEF,
) -> Iterator[Progress | SpeedTest]:
    """Run both sides at once, rank 0 on the first node; the last value is the result, also of a test that failed.

    ``address`` is the first node's, ``size`` in bytes of the largest message, ``limit`` in seconds for everything,
    ``seconds`` those to measure. Over gloo each side uses its interface of ``interfaces`` (an empty name leaves it to
    gloo); NCCL chooses its own. Raises SpeedError where no interpreter has torch.
    """
    sides = [
        Side((address, port), size, rank, interface=interface or None, limit=limit, seconds=seconds)
        for rank, interface in enumerate(interfaces)
    ]
    yield from suspecting(live(nodes, sides, training_python(python).python))


def measure_here(side: Side, python: str | None = None) -> Iterator[Progress | SpeedTest]:
    """Run one side on this machine; somebody starts the other one elsewhere."""
    yield from suspecting(live((HERE,), (side,), training_python(python).python))


def suspecting(
    values: Generator[Progress | Heard | SpeedTest, None, None], now: Clock = time.monotonic
) -> Iterator[Progress | SpeedTest]:
    """The values without the log, and what is wrong by it as soon as it shows: also while the test hangs.

    Of a test that did not finish the log is looked at once more before its result.
    """
    log = _Log(now)
    with closing(values):
        for value in values:
            if isinstance(value, Heard):
                log.take(value)
                continue
            ended_badly = isinstance(value, SpeedTest) and not value.passed
            seconds = value.seconds if isinstance(value, Progress) else log.seconds()
            if log.due() or (ended_badly and log.fresh):
                yield from log.suspicions(seconds)
            yield value


class _Log:
    """What NCCL has printed so far, by rank, and what was made of it."""

    def __init__(self, now: Clock) -> None:
        self._now, self._began, self._looked = now, now(), now()
        self._lines: dict[int, list[str]] = {}
        self._known: set[str] = set()
        self.fresh = False

    def take(self, heard: Heard) -> None:
        self._lines.setdefault(heard.rank, []).extend(heard.lines)
        self.fresh = True

    def seconds(self) -> float:
        return self._now() - self._began

    def due(self) -> bool:
        return self.fresh and self._now() - self._looked >= _APART

    def suspicions(self, seconds: float) -> Iterator[Suspected]:
        """Findings that were not told before."""
        text = "\n".join(line for rank in sorted(self._lines) for line in self._lines[rank])
        for finding in _alarming(diagnose_text(text, name="speed test").findings):
            if finding.rule not in self._known:
                self._known.add(finding.rule)
                yield Suspected(
                    f"the log points to this: {finding.title} [{finding.rule}]", seconds, finding.title, finding.rule
                )
        self._looked, self.fresh = self._now(), False


def _alarming(findings: Iterable[Finding]) -> Iterator[Finding]:
    return (finding for finding in findings if finding.severity >= Severity.WARNING)


def training_python(python: str | None, env: Mapping[str, str] = os.environ) -> Interpreter:
    """The interpreter asked for, or else the first likely one that has torch; SpeedError where none has."""
    if python:
        try:
            return named(python, env)
        except NcclcheckError as error:
            raise SpeedError(error.problem, place=error.place, next_step=error.next_step) from error
    tried: list[str] = []
    for path, why in candidates(env):
        found = ask_if_it_runs(path, env, why)
        if found and has_torch(found):
            return found
        tried.append(f"{path} ({why})")
    raise SpeedError(
        f"no Python here has torch; tried {', '.join(tried)}",
        next_step="Name the Python that your training uses: --python /path/to/bin/python "
        "(or install torch beside ncclcheck: pip install 'ncclcheck[torch]')",
    )


def has_torch(interpreter: Interpreter) -> bool:
    """Whether torch lies in its folders; it is not loaded."""
    return any((Path(folder) / "torch/__init__.py").is_file() for folder in interpreter.paths)
