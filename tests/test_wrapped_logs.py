"""The same answer whatever a launcher, a collector or a mail program puts round every line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ncclcheck.doctor.diagnose import diagnose_sources
from ncclcheck.logs.sources import Source, pasted
from tests.cases import FIXTURES, Case, faults

Wrapper = Callable[[str, int, int], str]
"""A line, the number of its log, and its own number → what somebody pastes."""

WRAPPERS: dict[str, Wrapper] = {
    "kubernetes": lambda line, log, number: f"2026-03-04T05:06:{number % 60:02d}.123456789Z stdout F {line}",
    "stern": lambda line, log, number: f"trainer-{log} › pytorch | {line}",
    "kubectl --prefix": lambda line, log, number: f"[pod/trainer-{log}/pytorch] {line}",
    "JSON lines": lambda line, log, number: json.dumps({"log": f"{line}\n", "stream": "stderr"}),
    "CloudWatch": lambda line, log, number: f"2026-03-04T05:06:07.000Z\t{line}",
    "journal": lambda line, log, number: f"Mar 04 05:06:07 box{log} train[99]: {line}",
    "compose": lambda line, log, number: f"node{log}-1  | {line}",
    "torchrun --tee": lambda line, log, number: f"[default0]:{line}",
    "mpirun": lambda line, log, number: f"[1,{log}]<stdout>:{line}",
    "srun": lambda line, log, number: f"{log}: {line}",
    "Ray": lambda line, log, number: f"(RayTrainWorker pid={100 + log}, ip=10.9.0.{log}) {line}",
    "Python logging": lambda line, log, number: f"[2026-03-04 05:06:07,123][INFO] {line}",
    "pytest": lambda line, log, number: f"E   {line}",
    "line numbers": lambda line, log, number: f"{number + 1:>5}  {line}",
    "grep -n": lambda line, log, number: f"{number + 1}: {line}",
    "quoted": lambda line, log, number: f"> {line}",
    "colour": lambda line, log, number: f"\x1b[32m{line}\x1b[0m",
    "a box": lambda line, log, number: f"│ {line} │",
    "tab": lambda line, log, number: f"\t{line}",
    "twice": lambda line, log, number: f"2026-03-04T05:06:07Z [default0]:\x1b[2m{line}\x1b[0m",
}
CASES = [case for case in FIXTURES if not case.unknown and case.name.split("/")[1][0] == "2"][::3]


def wrapped(case: Case, wrapper: Wrapper) -> list[Source]:
    """The case's logs with every line wrapped."""
    sources = []
    for number, log in enumerate(case.logs):
        lines = Path(log).read_bytes().decode().removesuffix("\n").split("\n")
        sources.append(pasted("\n".join(wrapper(line, number, i) for i, line in enumerate(lines)), log))
    return sources


@pytest.mark.parametrize("wrapper", WRAPPERS.values(), ids=WRAPPERS)
def test_a_wrapper_changes_no_answer(wrapper: Wrapper) -> None:
    wrong = {case.name: faults(case, diagnose_sources(wrapped(case, wrapper))) for case in CASES}
    assert {name: found for name, found in wrong.items() if found} == {}
