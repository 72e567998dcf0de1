"""The values that pass from room to room: frozen, typed, and without a single import of ours.

``Line → Event → Job → Finding → Fix → Applied → Speed → Comparison``, with ``Facts`` beside them. A type that only
one room uses lives in that room. Absent knowledge is ``None``; it never means "fine".
"""

from ncclcheck.model.finding import (
    Applied,
    Confidence,
    Diagnosis,
    Edit,
    FileContent,
    Finding,
    Fix,
    Risk,
    Scope,
    Severity,
    Verdict,
)
from ncclcheck.model.log import Attempt, Endpoint, Event, Job, Process, Rank, Stage
from ncclcheck.model.node import (
    Address,
    Candidate,
    Choice,
    ConfLine,
    Facts,
    Interface,
    Library,
    LinkKind,
    Node,
    Probe,
    Setting,
    Trouble,
)
from ncclcheck.model.place import Unknown, Where
from ncclcheck.model.speed import Comparison, Direction, Speed, SpeedTest

__all__ = [
    "Address",
    "Applied",
    "Attempt",
    "Candidate",
    "Choice",
    "Comparison",
    "ConfLine",
    "Confidence",
    "Diagnosis",
    "Direction",
    "Edit",
    "Endpoint",
    "Event",
    "Facts",
    "FileContent",
    "Finding",
    "Fix",
    "Interface",
    "Job",
    "Library",
    "LinkKind",
    "Node",
    "Probe",
    "Process",
    "Rank",
    "Risk",
    "Scope",
    "Setting",
    "Severity",
    "Speed",
    "SpeedTest",
    "Stage",
    "Trouble",
    "Unknown",
    "Verdict",
    "Where",
]
