"""Signs that something alarming was got over. Pure."""

from __future__ import annotations

from ncclcheck.model import Event, Job, Rank, Stage
from ncclcheck.rulebook.subject import Value


def came_up(job: Job) -> bool:
    """Whether some communicator was completed: what went wrong before it did not stop the job."""
    return any(rank.stage >= Stage.COMPLETE for rank in job.ranks)


def in_ras(rank: Rank, event: Event) -> dict[str, Value]:
    """For a failed system call, whether RAS made it (its chain passes ``ras/``): NCCL goes on without RAS."""
    if event.kind != "system.call-failed":
        return {}
    place = event.get("location").startswith("ras/")
    after = rank.events[rank.events.index(event) + 1 :][:4]
    chain = any(other.kind == "trace" and other.get("file").startswith("ras/") for other in after)
    said = any(other.kind == "ras.listen-failed" for other in after)
    return {"in_ras": place or chain or said}
