"""The use case "is this bandwidth normal?": a run is kept as it goes, and judged by what really carried it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ncclcheck.doctor.diagnose import diagnose_text
from ncclcheck.doctor.transport import transport_of
from ncclcheck.model import Facts, Judgement, Speed, SpeedTest
from ncclcheck.speedtest.history import Keeper, Run, begin, runs
from ncclcheck.speedtest.judge import judge
from ncclcheck.speedtest.reports import Measured, Progress

_RANK = re.compile(r"rank \d+: ")


@dataclass(frozen=True, slots=True)
class Judged:
    """A run at its end, with what carried it and what its figure means."""

    test: SpeedTest
    judgement: Judgement
    run: str
    """Its id in the history; empty where it is not kept."""
    warning: str = ""
    """Why it is not kept."""


def judged(test: SpeedTest, facts: Facts) -> tuple[SpeedTest, Judgement]:
    """The test with its transport, by NCCL's own lines, and what its figure means on this node."""
    lines = [_RANK.sub("", line, count=1) for line in test.log]
    job = diagnose_text("\n".join(lines), name="speed test").job
    carried = replace(test, transport=transport_of(job, test.backend, test.interface))
    rdma = facts.machine.rdma if facts.machine else ()
    return carried, judge(carried, facts.interfaces, rdma)


def kept(
    values: Iterator[Progress | SpeedTest], command: Sequence[str], facts: Facts, label: str = ""
) -> Iterator[Progress | Judged]:
    """The values of a running test, each result written down at once; the last one is the judged test.

    A test that could not even begin (no torch, say) is none that happened, and leaves nothing in the history.
    """
    keeper: Keeper | None = None
    seen: set[Speed] = set()
    for value in values:
        if not isinstance(value, (SpeedTest, Measured)):
            yield value
            continue
        keeper = keeper or begin(command, facts.host, label=label)
        if isinstance(value, SpeedTest):
            test, judgement = judged(value, facts)
            keeper.end(replace(test, log=()), judgement)
            yield Judged(test, judgement, keeper.id, keeper.warning)
            continue
        # While nothing new comes, the last progress is said again.
        if value.speed not in seen:
            seen.add(value.speed)
            keeper.add(value.speed)
        yield value


def history() -> tuple[Run, ...]:
    """All runs that were kept, the oldest first."""
    return runs()
