"""What happens in a setup besides the steps of its pairing, one frozen value a step; both front ends show them."""

from __future__ import annotations

from dataclasses import dataclass

from ncclcheck.doctor.setup.state import Setup
from ncclcheck.model import Applied, Facts


@dataclass(frozen=True, slots=True)
class Opened:
    """A setup begins, or goes on where it was left."""

    setup: Setup
    resumed: bool = False


@dataclass(frozen=True, slots=True)
class Answered:
    """The person said what only they know."""

    name: str
    """Of the guide's question; ``script`` for the training script."""
    value: str


@dataclass(frozen=True, slots=True)
class Looked:
    """This node was looked at."""

    facts: Facts
    cuda: int | None
    """CUDA devices that the training's Python sees; ``None`` where nobody asked, or it could not tell."""
    conf_path: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """What the person says of steps that no check can tell of."""

    done: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    """Each with its reason."""


@dataclass(frozen=True, slots=True)
class Repaired:
    """Lines of nccl.conf that NCCL misreads were put right."""

    applied: tuple[Applied, ...]
    problem: str = ""
    """Why they were not, where they could not be written."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """The person leaves a step out."""

    stage: str
    reason: str


@dataclass(frozen=True, slots=True)
class Undone:
    """What was written on this node is taken back."""

    applied: tuple[Applied, ...]
    problem: str = ""
    """Why it is not, where it could not be."""


@dataclass(frozen=True, slots=True)
class Broke:
    """The other node went away in the middle; it is waited for."""

    problem: str


@dataclass(frozen=True, slots=True)
class Missed:
    """The other node did not come, or not again."""

    problem: str


@dataclass(frozen=True, slots=True)
class Again:
    """Everything between the nodes is looked at again."""

    stage: str = ""
    """From which step on what was measured counts no more; empty where it all still counts."""


@dataclass(frozen=True, slots=True)
class Ready:
    """All is proved: the command lines for the person's own script can be given."""


@dataclass(frozen=True, slots=True)
class Closed:
    """The last step of a setup."""

    setup: Setup
    warning: str = ""
    """Why it is not kept, where it is not."""


SetupStep = (
    Opened | Answered | Looked | Prepared | Repaired | Skipped | Undone | Broke | Missed | Again | Ready | Closed
)
