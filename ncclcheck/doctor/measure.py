"""How fast is it? Both sides of a speed test on two nodes, or this machine's side alone."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from ncclcheck.errors import NcclcheckError, SpeedError
from ncclcheck.model import Node, SpeedTest
from ncclcheck.node.interpreter import Interpreter, ask_if_it_runs, candidates, named
from ncclcheck.speedtest.plan import Side
from ncclcheck.speedtest.reports import Progress
from ncclcheck.speedtest.run import run

HERE = Node("this machine")


def measure(
    nodes: tuple[Node, Node],
    *,
    address: str,
    port: int,
    size: int,
    interfaces: tuple[str, str],
    limit: float = 60.0,
    python: str | None = None,
) -> Iterator[Progress | SpeedTest]:
    """Run both sides at once, rank 0 on the first node; the last value is the result, also of a test that failed.

    ``address`` is the first node's, ``size`` in bytes a round, ``limit`` in seconds. Over gloo each side uses its
    interface of ``interfaces`` (an empty name leaves it to gloo); NCCL chooses its own. Raises SpeedError where no
    interpreter has torch.
    """
    sides = [
        Side((address, port), size, rank, interface=interface or None, limit=limit)
        for rank, interface in enumerate(interfaces)
    ]
    yield from run(nodes, sides, training_python(python).python)


def measure_here(side: Side, python: str | None = None) -> Iterator[Progress | SpeedTest]:
    """Run one side on this machine; somebody starts the other one elsewhere."""
    yield from run((HERE,), (side,), training_python(python).python)


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
