"""The answer in one word, and what is missing where there is none. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from ncclcheck.model import Finding, Job, Rank, Severity, Stage, Unknown, Verdict

if TYPE_CHECKING:
    from ncclcheck.logs.catalogue import Catalogue

# Seen with 2.26.2, 2.28.9 and 2.30.7: C's buffer is lost with the process when standard output is a pipe or a file.
_EMPTY = Unknown(
    "why is the log empty? (a process that is killed loses what it has not yet written to a pipe or a file)",
    "a run with NCCL_DEBUG=INFO and NCCL_DEBUG_FILE=nccl.%h.%p.log, or started through stdbuf -oL",
)
_MOST_CALLS = 2
_MOST_WARNINGS = 3
_LONGEST_QUOTE = 120

_WAITS = {
    Stage.SILENT: "nothing of NCCL's own was printed",
    Stage.INTERFACE: "it chose its interface and printed nothing more",
    Stage.BOOTSTRAP: "it waits in the bootstrap, where the ranks find each other",
    Stage.RING: "the bootstrap is done, the topology exchange is not",
    Stage.TOPOLOGY: "the data connections were not begun",
    Stage.CHANNELS: "the data connections were being made",
    Stage.CONNECTED: "it never printed Init COMPLETE",
}


def verdict(job: Job, findings: Sequence[Finding]) -> Verdict:
    """Problem where a finding says so; healthy only where every rank is seen to work; else unknown."""
    if any(finding.severity > Severity.INFO for finding in findings):
        return Verdict.PROBLEM
    if job.ranks and not _absent(job) and all(_works(rank) for rank in job.ranks if rank.numbers):
        return Verdict.HEALTHY if any(rank.numbers for rank in job.ranks) else Verdict.UNKNOWN
    return Verdict.UNKNOWN


def _works(rank: Rank) -> bool:
    """Init COMPLETE and something after it: a log that ends there may be a job that hangs there."""
    return rank.stage > Stage.COMPLETE


def _absent(job: Job) -> list[int]:
    seen = {number for rank in job.ranks for number in rank.numbers}
    return sorted(set(range(job.world_size or 0)) - seen)


def unknowns(job: Job, answer: Verdict, lines: int, messages: Callable[[], Catalogue]) -> tuple[Unknown, ...]:
    """What these logs can't settle, and what would; ``messages`` are read only where a warning is left over."""
    if not lines and not job.nodes:
        return (_EMPTY,)
    return (*_calls(job), *_warnings(job, messages), *_unknowns(job)) if answer is Verdict.UNKNOWN else ()


def _calls(job: Job) -> Iterator[Unknown]:
    """Connections that failed for a reason that these lines do not tell."""
    for attempt in [attempt for attempt in job.attempts if not attempt.recovered][:_MOST_CALLS]:
        called = attempt.address or "its peer"
        # 2.16 to 2.23 report every failed non-blocking connect so, whatever the reason was (NVIDIA/nccl#1515).
        why = (
            "this NCCL version hides whether it was refused or timed out"
            if attempt.result == "aborted"
            else attempt.result
        )
        yield Unknown(
            f"why could {attempt.process.host or attempt.process.source} not connect to {called} ({why})?",
            "the lines “Bootstrap … Using” and “NET/Socket : Using” of both nodes, and the log of the process called",
        )


def _warnings(job: Job, messages: Callable[[], Catalogue]) -> Iterator[Unknown]:
    """NCCL's warnings that no rule speaks of, each once, with what NCCL means by them."""
    left = {event.get("text"): rank.nccl for rank in job.ranks for event in rank.events if event.kind == "warning"}
    for text, nccl in list(left.items())[:_MOST_WARNINGS]:
        known = messages().find(text, nccl)
        meaning = " ".join(filter(None, (known.meaning, known.cause))) if known else ""
        missing = meaning or "the lines before it, on every rank"
        yield Unknown(f"what is behind NCCL's warning “{text[:_LONGEST_QUOTE]}”?", missing)


def _unknowns(job: Job) -> Iterator[Unknown]:
    if job.nodes and not job.ranks:
        missing = "the same list from the other nodes, or a log of the job run with NCCL_DEBUG=INFO"
        yield Unknown("which network do the nodes share?", missing)
        return
    if not any(rank.stage > Stage.SILENT for rank in job.ranks):
        missing = "a log of the job run with NCCL_DEBUG=INFO, of every rank"
        yield Unknown("what did NCCL do?", missing)
        return
    for number in _absent(job)[:4]:
        yield Unknown(f"did rank {number} start?", f"the log of rank {number}")
    for rank in _slowest(job):
        name = f"rank {rank.number}" if rank.number is not None else f"the process {rank.process.pid or ''}".strip()
        if rank.stage in _WAITS:
            yield Unknown(
                f"why did {name} stop? {_WAITS[rank.stage]}", "the logs of the other ranks up to the same time"
            )
        elif rank.stage is Stage.COMPLETE:
            yield Unknown(f"did {name} work after Init COMPLETE?", "what the program printed after that, on every rank")


def _slowest(job: Job) -> Sequence[Rank]:
    alive = [rank for rank in job.ranks if Stage.SILENT < rank.stage <= Stage.COMPLETE]
    least = min((rank.stage for rank in alive), default=Stage.SILENT)
    return [rank for rank in alive if rank.stage == least][:3]
