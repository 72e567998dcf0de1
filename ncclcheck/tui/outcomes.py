"""What happens in the background, as values: what workers post and the snapshot takes up. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ncclcheck.model import Applied, Diagnosis, Edit, Facts, Fix, Judgement, Node, Probe, SpeedTest
from ncclcheck.speedtest.reports import Progress
from ncclcheck.tui.outcomes_told import Ahead, Chose, Foresaw
from ncclcheck.tui.pairing import Way
from ncclcheck.tui.rule_trial import RuleOutcome
from ncclcheck.tui.setup.values import GuideOutcome
from ncclcheck.tui.text.document import Document

if TYPE_CHECKING:
    from ncclcheck.doctor.history import Made
    from ncclcheck.doctor.ranks import Roll
    from ncclcheck.doctor.steps import Step
    from ncclcheck.speedtest.history import Run


class Activity(Enum):
    """What can go on in the background; the value names the worker group."""

    SCAN = "scan"
    PROBE = "probe"
    DIAGNOSE = "diagnose"
    INDEX = "index"
    FIX = "fix"
    SPEED = "speed"
    COPY = "copy"
    PAIR = "pair"
    HISTORY = "history"
    WHAT_IF = "what if"
    RANKS = "ranks"
    RULE = "rule"
    TRIAL = "trial"
    GUIDES = "guides"
    SETUP = "setup"


@dataclass(frozen=True, slots=True)
class NodeEdits:
    """What a fix would change on one node."""

    node: Node
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class NodeApplied:
    """What a fix did change on one node."""

    node: Node
    applied: tuple[Applied, ...]


@dataclass(frozen=True, slots=True)
class Began:
    """An activity starts afresh."""

    activity: Activity


@dataclass(frozen=True, slots=True)
class Doing:
    """The activity goes on to its next step."""

    activity: Activity
    text: str


@dataclass(frozen=True, slots=True)
class Noted:
    """How the running step is going."""

    activity: Activity
    note: str


@dataclass(frozen=True, slots=True)
class Scanned:
    """One node was looked at."""

    node: Node
    facts: Facts


@dataclass(frozen=True, slots=True)
class Probed:
    """The real NCCL answered on these nodes."""

    probes: tuple[Probe, ...]


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """The answer, and the text that it is about."""

    diagnosis: Diagnosis
    document: Document
    of_nodes: bool = False
    """Whether it is about our own nodes, by a probe, rather than about a text from anywhere."""


@dataclass(frozen=True, slots=True)
class Opened:
    """There is another text to look at; its diagnosis is on the way."""

    document: Document


@dataclass(frozen=True, slots=True)
class Grew:
    """How far a text is known by now."""

    document: Document


@dataclass(frozen=True, slots=True)
class Renewed:
    """The answer by a text that went on."""

    diagnosis: Diagnosis
    document: Document


@dataclass(frozen=True, slots=True)
class Replaced:
    """What was read is not there any more: a log was truncated, or another one has its name."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Previewed:
    """What a fix would change; nothing is written yet."""

    fix: Fix
    plan: tuple[NodeEdits, ...]


@dataclass(frozen=True, slots=True)
class Changed:
    """A fix was made on one node."""

    change: NodeApplied


@dataclass(frozen=True, slots=True)
class Undone:
    """A change that a fix had made was taken back on its node."""

    change: NodeApplied


@dataclass(frozen=True, slots=True)
class Measures:
    """A speed test begins."""


@dataclass(frozen=True, slots=True)
class Ticked:
    """A running speed test told something."""

    activity: Activity
    tick: Progress


@dataclass(frozen=True, slots=True)
class Measured:
    """A speed test ended, well or not."""

    speed: SpeedTest
    judgement: Judgement | None = None
    warning: str = ""
    """Why it is not in the history."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """The latest runs of the speed test that were kept, the latest last."""

    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Listed:
    """The changes that were made by fixes and not taken back, the newest first."""

    made: tuple[Made, ...]


@dataclass(frozen=True, slots=True)
class Called:
    """The ranks of the diagnosed job, and how far each came."""

    roll: Roll


@dataclass(frozen=True, slots=True)
class Meets:
    """Nodes begin to be compared, in this way; what is known of an earlier pairing is over."""

    way: Way


@dataclass(frozen=True, slots=True)
class Stepped:
    """Something happened between nodes."""

    step: Step


@dataclass(frozen=True, slots=True)
class Answered:
    """Our own user said yes or no to what a pairing would change here."""

    yes: bool


@dataclass(frozen=True, slots=True)
class Copied:
    """A text was saved to be copied from there."""

    text: str
    path: str


@dataclass(frozen=True, slots=True)
class Read:
    """Somebody read what had failed, and wants it out of the way."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The activity is over."""

    activity: Activity


@dataclass(frozen=True, slots=True)
class Stopped:
    """Somebody stopped the activity."""

    activity: Activity


@dataclass(frozen=True, slots=True)
class Failed:
    """The activity ended in an error that a user can mend."""

    activity: Activity
    problem: str


Outcome = (
    Began
    | Ahead
    | Doing
    | Noted
    | Scanned
    | Probed
    | Diagnosed
    | Opened
    | Grew
    | Renewed
    | Replaced
    | Previewed
    | Changed
    | Undone
    | Measures
    | Ticked
    | Measured
    | Remembered
    | Listed
    | Called
    | Meets
    | Stepped
    | Answered
    | Copied
    | Foresaw
    | Chose
    | RuleOutcome
    | GuideOutcome
    | Read
    | Ended
    | Stopped
    | Failed
)
