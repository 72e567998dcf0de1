"""What follows from what several nodes know of themselves and of the way between them: one answer for all. Pure.

Every paired node works it out from the same values, so all screens say the same without being told.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace

from ncclcheck.doctor.diagnose import rulebook
from ncclcheck.model import (
    Cell,
    Diagnosis,
    Facts,
    Finding,
    Fix,
    Job,
    Match,
    Meeting,
    Risk,
    Severity,
    Sides,
    Unknown,
    Verdict,
)
from ncclcheck.peer.match import match
from ncclcheck.rulebook.diagnose import findings
from ncclcheck.rulebook.launchers import in_launchers_words


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The answer over all sides."""

    nodes: tuple[Facts, ...]
    sides: Sides
    diagnosis: Diagnosis

    @property
    def settled(self) -> bool:
        """Whether NCCL takes the interface to use on every node already."""
        taken = {node.host: node.choice.interface for node in self.nodes if node.choice}
        return bool(self.sides.match.use) and all(taken.get(use.host) == use.interface for use in self.sides.match.use)

    def fix_for(self, host: str) -> Fix | None:
        """The setting that may be made on this node: one fix a node, and none where nothing is to be changed."""
        fixes = (fix for finding in self.diagnosis.findings for fix in finding.fixes)
        return next((fix for fix in fixes if fix.hosts == (host,) and fix.risk is Risk.SAFE and fix.env), None)


def conclude(nodes: tuple[Facts, ...], cells: tuple[Cell, ...] = (), meetings: tuple[Meeting, ...] = ()) -> Conclusion:
    """The match, the findings, and the answer in one word."""
    return of_sides(nodes, Sides(match(nodes, cells), cells, meetings))


def of_sides(nodes: tuple[Facts, ...], sides: Sides) -> Conclusion:
    """The same where the match is known."""
    began = time.perf_counter()
    job = Job(nodes=nodes, sides=sides)
    book = rulebook()
    found = tuple(in_launchers_words(one, book.launchers) for one in findings(job, book.rules))
    answer = _verdict(sides.match, found)
    missing = _missing(sides) if answer is Verdict.UNKNOWN else ()
    return Conclusion(nodes, sides, Diagnosis(answer, found, missing, job, 0, 0, time.perf_counter() - began))


def _verdict(found: Match, of_rules: tuple[Finding, ...]) -> Verdict:
    if any(finding.severity > Severity.INFO for finding in of_rules):
        return Verdict.PROBLEM
    return Verdict.HEALTHY if found.use and found.proved else Verdict.UNKNOWN


def _missing(sides: Sides) -> tuple[Unknown, ...]:
    if sides.cells:
        return (Unknown("which interfaces should NCCL use?", sides.match.because),)
    return (Unknown("do the nodes reach each other?", "connections between them: ncclcheck pair, on one of the nodes"),)


def distinct(nodes: tuple[Facts, ...]) -> tuple[Facts, ...]:
    """The nodes with a name each: the second of one name gets a number, since names are how they are told apart."""
    seen: Counter[str] = Counter()
    named = []
    for node in nodes:
        seen[node.host] += 1
        number = seen[node.host]
        named.append(node if number == 1 else replace(node, host=f"{node.host}-{number}"))
    return tuple(named)
