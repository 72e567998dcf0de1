"""What is wrong, how we know, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum

from ncclcheck.model.log import Job
from ncclcheck.model.place import Unknown, Where


class Severity(IntEnum):
    """How bad it is; only warning and error make a verdict."""

    INFO = 0
    WARNING = 1
    ERROR = 2


class Confidence(IntEnum):
    """How sure we are."""

    POSSIBLE = 0
    LIKELY = 1
    CERTAIN = 2


class Scope(Enum):
    """Where a fix has to be made."""

    THIS_NODE = "this-node"
    ALL_NODES = "all-nodes"
    LAUNCHER = "launcher"


class Risk(Enum):
    """What a fix may cost: only safe ones are ever applied by us, and only after a yes."""

    SAFE = "safe"
    DISRUPTIVE = "disruptive"
    MANUAL = "manual"


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file as it should be."""

    path: str
    content: str


@dataclass(frozen=True, slots=True)
class Launch:
    """How one launcher hands the settings of a fix to the job's processes."""

    launcher: str
    lines: tuple[str, ...]
    """Commands, or lines of its own kind of file."""
    seen: bool = False
    """Whether the log shows that it started the job."""


@dataclass(frozen=True, slots=True)
class Fix:
    """What to do, with this job's names filled in."""

    title: str
    scope: Scope
    risk: Risk
    env: tuple[tuple[str, str], ...] = ()
    """Settings to make, name and value."""
    commands: tuple[str, ...] = ()
    files: tuple[FileContent, ...] = ()
    hosts: tuple[str, ...] = ()
    """Hosts it is for; empty means all of the scope."""
    launches: tuple[Launch, ...] = ()
    """The settings in the words of each launcher; the one that was seen comes first."""

    @property
    def typed(self) -> tuple[str, ...]:
        """All lines to type, those of the launcher that was seen among them."""
        return self.commands + tuple(line for launch in self.launches if launch.seen for line in launch.lines)


@dataclass(frozen=True, slots=True)
class Finding:
    """A cause, named by a rule, with the places that prove it."""

    rule: str
    cause: str
    severity: Severity
    confidence: Confidence
    title: str
    explanation: str
    not_proof_of: str
    subject: tuple[tuple[str, str], ...]
    ranks: tuple[int, ...]
    evidence: tuple[Where, ...]
    fixes: tuple[Fix, ...]
    explains: tuple[str, ...] = ()
    """Rules whose findings are this one's echo and were folded under it."""


class Verdict(Enum):
    """The answer in one word; unknown always says what is missing."""

    PROBLEM = "problem"
    HEALTHY = "healthy"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The answer to "what is wrong?"."""

    verdict: Verdict
    findings: tuple[Finding, ...]
    unknown: tuple[Unknown, ...]
    job: Job
    lines: int
    bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Edit:
    """A file as it is and as it will be; nothing has been written yet."""

    path: str
    before: bytes | None
    """``None`` where the file does not exist yet."""
    after: bytes | None
    """``None`` where the file will go."""


@dataclass(frozen=True, slots=True)
class Applied:
    """A change that was made, with all that is needed to undo it."""

    path: str
    backup: str | None
    """``None`` where there was no file before."""
    time: str
    """ISO 8601, UTC."""
    digest: str = ""
    """SHA-256 of what was written (empty where the file went), so that undo throws nobody's later edit away."""
