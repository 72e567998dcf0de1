"""The values that pass from room to room: frozen, typed, and without a single import of ours.

``Line → Event → Job → Finding → Fix → Applied → Speed → Comparison``, with ``Facts`` beside them. A type that only
one room uses lives in that room. Absent knowledge is ``None``; it never means "fine".
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ncclcheck.model.finding import (
    Applied,
    Confidence,
    Diagnosis,
    Edit,
    FileContent,
    Finding,
    Fix,
    Launch,
    Risk,
    Scope,
    Severity,
    Verdict,
)
from ncclcheck.model.log import Attempt, Endpoint, Event, Job, Process, Rank, Stage
from ncclcheck.model.place import Unknown, Where

if TYPE_CHECKING:
    from ncclcheck.model.lint import FileKind, FileLint
    from ncclcheck.model.machine import (
        Caller,
        Gid,
        Gpu,
        Hint,
        Limit,
        Machine,
        NameLookup,
        RdmaDevice,
        RdmaPort,
        Route,
    )
    from ncclcheck.model.node import (
        Address,
        Candidate,
        Change,
        Choice,
        ConfLine,
        Facts,
        Interface,
        Library,
        LinkKind,
        Node,
        Probe,
        Processes,
        RunningProcess,
        Setting,
        Trouble,
        WhatIf,
    )
    from ncclcheck.model.peer import (
        Cell,
        Contact,
        Handshake,
        Leg,
        Match,
        Meeting,
        NetworkMember,
        Outcome,
        SharedNetwork,
        Sides,
        Use,
    )
    from ncclcheck.model.speed import (
        Baseline,
        Comparison,
        DdpProof,
        Judgement,
        Pattern,
        Rating,
        Speed,
        SpeedTest,
        Transport,
        Trend,
    )

__all__ = [
    "Address",
    "Applied",
    "Attempt",
    "Baseline",
    "Caller",
    "Candidate",
    "Cell",
    "Change",
    "Choice",
    "Comparison",
    "ConfLine",
    "Confidence",
    "Contact",
    "DdpProof",
    "Diagnosis",
    "Edit",
    "Endpoint",
    "Event",
    "Facts",
    "FileContent",
    "FileKind",
    "FileLint",
    "Finding",
    "Fix",
    "Gid",
    "Gpu",
    "Handshake",
    "Hint",
    "Interface",
    "Job",
    "Judgement",
    "Launch",
    "Leg",
    "Library",
    "Limit",
    "LinkKind",
    "Machine",
    "Match",
    "Meeting",
    "NameLookup",
    "NetworkMember",
    "Node",
    "Outcome",
    "Pattern",
    "Probe",
    "Process",
    "Processes",
    "Rank",
    "Rating",
    "RdmaDevice",
    "RdmaPort",
    "Risk",
    "Route",
    "RunningProcess",
    "Scope",
    "Setting",
    "Severity",
    "SharedNetwork",
    "Sides",
    "Speed",
    "SpeedTest",
    "Stage",
    "Transport",
    "Trend",
    "Trouble",
    "Unknown",
    "Use",
    "Verdict",
    "WhatIf",
    "Where",
]

_LATE = ("node", "machine", "lint", "peer", "speed")
"""What a log's answer does without: making some seventy frozen types takes a twelfth of a second."""


def __getattr__(name: str) -> Any:
    """A type of the late modules, at its first use."""
    if name in __all__:
        for module in (import_module(f"{__name__}.{late}") for late in _LATE):
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
