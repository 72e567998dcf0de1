"""A diagnosis for people: what is wrong, how we know, what to do, in that order. Pure; the writer escapes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping

from ncclcheck.model import Confidence, Diagnosis, Finding, Fix, Severity, Verdict, Where
from ncclcheck.printable import shell_word

_WIDTH = 96
_MOST_LINES = 6
_SURE = {Confidence.CERTAIN: "certain", Confidence.LIKELY: "likely", Confidence.POSSIBLE: "possible"}
_SCOPES = {"this-node": "on this node", "all-nodes": "on every node", "launcher": "where the job is started"}
_BETWEEN = {
    Verdict.HEALTHY: "HEALTHY: the nodes reach each other over these interfaces, in every direction.",
    Verdict.UNKNOWN: "CANNOT TELL: nothing wrong found by what the nodes are.",
}


def findings_text(diagnosis: Diagnosis, texts: Mapping[Where, str] | None = None) -> str:
    """The answer as text; ``texts`` are the evidence lines, read again."""
    blocks = [_headline(diagnosis)]
    serious = [finding for finding in diagnosis.findings if finding.severity > Severity.INFO]
    blocks += ["\n".join(_finding(finding, texts or {})) for finding in serious]
    if diagnosis.unknown:
        blocks.append("\n".join(_unknown(diagnosis)))
    if notes := [finding for finding in diagnosis.findings if finding.severity is Severity.INFO]:
        blocks.append("\n".join(("Notes (nothing to do about them):", *map(_note, notes))))
    return "\n\n".join(blocks)


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


def _finding(finding: Finding, texts: Mapping[Where, str]) -> Iterator[str]:
    yield f"{finding.severity.name.lower()}[{finding.rule}] {finding.title}"
    yield f"  ({_SURE[finding.confidence]}; cause: {finding.cause})"
    yield from _wrapped(finding.explanation)
    if finding.evidence:
        yield "  how we know:"
    for where in finding.evidence[:_MOST_LINES]:
        yield f"    {where.source}:{where.line}: {texts.get(where, '').strip()[:200]}".rstrip(": ")
    for number, fix in enumerate(finding.fixes):
        yield from _fix(fix, "what to do" if number == 0 else "or")
    yield from _wrapped(f"not proved: {finding.not_proof_of}")
    if finding.explains:
        yield f"  explains also: {', '.join(finding.explains)}"


def _note(finding: Finding) -> str:
    where = f" ({finding.evidence[0].source}:{finding.evidence[0].line})" if finding.evidence else ""
    return f"  [{finding.rule}] {finding.title}{where}"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(" ".join(text.split()), _WIDTH, initial_indent="  ", subsequent_indent="  ")


def _fix(fix: Fix, lead: str) -> Iterator[str]:
    yield f"  {lead} ({_SCOPES[fix.scope.value]}): {fix.title}"
    for name, value in fix.env:
        yield f"    export {name}={shell_word(value)}"
    for file in fix.files:
        yield f"    or, in {file.path} (nothing else on the line):"
        yield from (f"      {line}" for line in file.content.splitlines())
    for command in fix.commands:
        yield f"    {command}"


def _unknown(diagnosis: Diagnosis) -> Iterator[str]:
    yield "What is not settled yet:" if diagnosis.job.sides else "What these lines cannot settle:"
    for item in diagnosis.unknown:
        yield f"  {item.question}"
        yield f"    would settle it: {item.missing}"
