"""The answer in one word, and what is missing where there is none. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ncclcheck.model import Finding, Job, Rank, Severity, Stage, Unknown, Verdict

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


def unknowns(job: Job, answer: Verdict) -> tuple[Unknown, ...]:
    """What these logs can't settle, and what would."""
    return tuple(_unknowns(job)) if answer is Verdict.UNKNOWN else ()


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
