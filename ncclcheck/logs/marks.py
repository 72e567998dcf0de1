"""What only a log says. Pure."""

from __future__ import annotations

import re

_OF_A_LOG = re.compile(
    r"NCCL (?:INFO|WARN|TRACE|ERROR|ABORT)\b|Traceback \(most recent call last\)|DistBackendError|ProcessGroupNCCL"
    r"|terminate called after|^(?:slurmstepd|srun|prted?|mpirun): |^\[?(?:rank ?)?\d+\]?: (?![\w.@-]+: <)",
    re.MULTILINE,
)


def is_log(text: str) -> bool:
    """Whether there is a line that only a job prints; without one a text may be a log all the same."""
    return _OF_A_LOG.search(text) is not None
