"""What do these running processes have, and do they agree?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ncclcheck.model import Processes, RunningProcess
from ncclcheck.node import interfaces, selection
from ncclcheck.node.environment import winning
from ncclcheck.node.process import differing, look_at
from ncclcheck.node.resolve import first_address


def processes(pids: Sequence[int], *, nccl: str | None = None) -> Processes:
    """Each process with what NCCL takes in it; NodeError where one may not be looked at."""
    seen = tuple(_with_choice(look_at(pid, nccl)) for pid in dict.fromkeys(pids))
    return Processes(seen, differing(seen))


def _with_choice(process: RunningProcess) -> RunningProcess:
    """The choice is known where the process has the very interfaces that we have."""
    links = () if process.own_network else interfaces.read()[0]
    if not links:
        return process
    choice = selection.bootstrap(links, winning(process.settings), process.nccl, first_address)
    return replace(process, choice=choice)
