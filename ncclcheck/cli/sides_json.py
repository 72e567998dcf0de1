"""What was found out between nodes, and the steps on the way, as JSON; scripts and ``doctor.between`` read it."""

from __future__ import annotations

from typing import Any

import msgspec

from ncclcheck.cli.report_json import diagnosis_json
from ncclcheck.doctor.conclude import Conclusion
from ncclcheck.doctor.steps import Concluded, Step
from ncclcheck.doctor.steps_json import encoded


def conclusion_json(known: Conclusion) -> dict[str, Any]:
    """The contract of a diagnosis, with nodes, match and matrix beside it."""
    return {
        **diagnosis_json(known.diagnosis, {}),
        "nodes": msgspec.to_builtins(known.nodes),
        "sides": msgspec.to_builtins(known.sides),
        "settled": known.settled,
    }


def step_json(step: Step) -> dict[str, Any]:
    """A step with its name; ``doctor.steps_json`` reads it again."""
    return encoded(step) | (conclusion_json(step.conclusion) if isinstance(step, Concluded) else {})
