"""A diagnosis for people: what is wrong, how we know, what to do, in that order. Pure; the writer escapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ncclcheck.doctor.finding_text import NARROW, Room, finding_rows, plain
from ncclcheck.model import Diagnosis, Finding, Severity, Verdict, Where

_WIDEST = 96
"""Characters of a line of prose that can be read well."""
_WHOLE = 240
_BETWEEN = {
    Verdict.HEALTHY: "HEALTHY: the nodes reach each other over these interfaces, in every direction.",
    Verdict.UNKNOWN: "CANNOT TELL: nothing wrong found by what the nodes are.",
}


def findings_text(diagnosis: Diagnosis, texts: Mapping[Where, str] | None = None, room: Room = NARROW) -> str:
    """The answer as text; ``texts`` are the evidence lines, read again."""
    known = texts or {}
    blocks = [_headline(diagnosis)]
    serious = [finding for finding in diagnosis.findings if finding.severity > Severity.INFO]
    blocks += [plain(finding_rows(finding, lambda where: known.get(where, ""), room)) for finding in serious]
    if diagnosis.unknown:
        blocks.append("\n".join(_unknown(diagnosis)))
    if notes := [finding for finding in diagnosis.findings if finding.severity is Severity.INFO]:
        blocks.append("\n".join(("Notes (nothing to do about them):", *map(_note, notes))))
    return "\n\n".join(blocks)


def room(columns: int | None) -> Room:
    """What a terminal of that width has room for; without one, quoted lines are hardly cut."""
    return Room(quote=_WHOLE) if columns is None else Room(min(columns, _WIDEST), columns)


def _headline(diagnosis: Diagnosis) -> str:
    serious = [finding for finding in diagnosis.findings if finding.severity > Severity.INFO]
    if diagnosis.job.sides is not None and diagnosis.verdict in _BETWEEN:
        return _BETWEEN[diagnosis.verdict]
    if diagnosis.verdict is Verdict.HEALTHY:
        return "HEALTHY: NCCL came up on every rank and worked; nothing wrong in these lines."
    if diagnosis.verdict is Verdict.UNKNOWN and any(not attempt.recovered for attempt in diagnosis.job.attempts):
        return "CANNOT TELL: a connection failed, and these lines do not say why."
    if diagnosis.verdict is Verdict.UNKNOWN:
        return "CANNOT TELL: nothing wrong found in these lines, and nothing that shows the job working."
    return f"PROBLEM: {len(serious)} found." if len(serious) > 1 else "PROBLEM:"


def _note(finding: Finding) -> str:
    where = f" ({finding.evidence[0].source}:{finding.evidence[0].line})" if finding.evidence else ""
    return f"  [{finding.rule}] {finding.title}{where}"


def _unknown(diagnosis: Diagnosis) -> Iterator[str]:
    yield "What is not settled yet:" if diagnosis.job.sides else "What these lines cannot settle:"
    for item in diagnosis.unknown:
        yield f"  {item.question}"
        yield f"    would settle it: {item.missing}"
