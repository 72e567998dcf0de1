"""Everything that can go wrong by no fault of ours.

NcclcheckError            what a user can meet; each says where, and the next step
├── SourceError           a log that cannot be read
├── RuleError             a rule file that is broken
├── ProbeError            the probe could not be run or gave no answer
├── NodeError             this machine could not be looked at
├── ApplyError            a fix could not be applied or undone
├── PeerError             the other node could not be reached, or is not who it should be
├── SpeedError            the speed test could not be run or did not finish
└── LabError              no lab can be built here

A finding is never an exception, and neither is an answer that is unknown.
"""

from __future__ import annotations


class NcclcheckError(Exception):
    """Something a user can mend: ``place`` says where it is, ``next_step`` what to do about it."""

    def __init__(self, problem: str, *, place: str = "", next_step: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.place = place
        self.next_step = next_step

    def __str__(self) -> str:
        head = f"{self.place}: {self.problem}" if self.place else self.problem
        return f"{head}\n  {self.next_step}" if self.next_step else head


class SourceError(NcclcheckError):
    """A log that cannot be read."""


class RuleError(NcclcheckError):
    """A rule file that is broken; ``place`` is file and key."""


class ProbeError(NcclcheckError):
    """The probe could not be run or gave no answer."""


class NodeError(NcclcheckError):
    """This machine could not be looked at."""


class ApplyError(NcclcheckError):
    """A fix could not be applied or undone; the file is as it was before."""


class PeerError(NcclcheckError):
    """The other node could not be reached, is not who it should be, or says what nobody can read."""


class SpeedError(NcclcheckError):
    """The speed test could not be run or did not finish."""


class LabError(NcclcheckError):
    """No lab can be built here; ``next_step`` says what is missing."""
