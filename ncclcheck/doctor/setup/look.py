"""What a setup looks at on this node, besides what is between nodes. [effects]"""

from __future__ import annotations

import os
import subprocess

from ncclcheck.doctor.fix import default_path, revise, version_here
from ncclcheck.doctor.measure import HERE, training_python
from ncclcheck.doctor.scan import scan
from ncclcheck.doctor.setup.steps import Looked
from ncclcheck.errors import SpeedError
from ncclcheck.fixes.plan import Change
from ncclcheck.model import Edit, Facts
from ncclcheck.node.environment import ENVIRONMENT, here

_CUDA = "import torch; print(torch.cuda.device_count())"
_LIMIT = 60.0
"""Seconds: torch on a slow network file system takes many."""


def look(python: str | None, *, gpus: bool) -> Looked:
    """This node as it is now; ``gpus`` also asks the training's Python for its CUDA devices."""
    facts = scan(HERE, python=python)
    return Looked(
        facts, cuda_devices(python) if gpus else None, default_path(here(os.environ), version_here(os.environ))
    )


def cuda_devices(python: str | None) -> int | None:
    """How many CUDA devices the training's Python sees; ``None`` where it cannot be asked."""
    try:
        command = [training_python(python).python, "-c", _CUDA]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT, check=False)
        return int(done.stdout)
    except (SpeedError, OSError, ValueError, subprocess.TimeoutExpired):
        return None


def repairs(facts: Facts) -> tuple[Edit, ...]:
    """What would put right the lines that NCCL misreads, in the files that it reads here."""
    paths = dict.fromkeys(one.path for one in facts.conf_troubles if one.path != ENVIRONMENT)
    return tuple(edit for path in paths for edit in revise(Change(repair=True), path).edits)
