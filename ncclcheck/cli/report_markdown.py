"""A diagnosis as Markdown for an issue tracker. Pure.

Names and lines come from strangers' logs: whatever would be markup, a mention or a link there is shown as text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ncclcheck.markdown import fence, text_of
from ncclcheck.model import Diagnosis, Finding, Fix, Severity, Unknown, Verdict, Where
from ncclcheck.printable import shell_word

_HEADLINES = {
    Verdict.PROBLEM: "Problem found",
    Verdict.HEALTHY: "Nothing wrong in these lines",
    Verdict.UNKNOWN: "Cannot tell from these lines",
}
_SCOPES = {"this-node": "on this node", "all-nodes": "on every node", "launcher": "where the job is started"}
_MOST_LINES = 6
_LONGEST = 300


def diagnosis_markdown(diagnosis: Diagnosis, texts: Mapping[Where, str]) -> str:
    """The answer; ``texts`` are the evidence lines, read again."""
    blocks = [f"## ncclcheck: {_HEADLINES[diagnosis.verdict]}", *_job(diagnosis)]
    for finding in diagnosis.findings:
        if finding.severity > Severity.INFO:
            blocks += _finding(finding, texts)
    if diagnosis.unknown:
        blocks.append("### What these lines cannot settle")
        blocks.append("\n".join(map(_unknown, diagnosis.unknown)))
    if notes := [finding for finding in diagnosis.findings if finding.severity is Severity.INFO]:
        blocks.append("### Notes")
        blocks.append("\n".join(f"- {text_of(note.title)} ({note.rule})" for note in notes))
    return "\n\n".join(blocks)


def _unknown(unknown: Unknown) -> str:
    return f"- {text_of(unknown.question)}\n  - would settle it: {text_of(unknown.missing)}"


def _job(diagnosis: Diagnosis) -> Iterator[str]:
    versions = sorted({rank.nccl for rank in diagnosis.job.ranks if rank.nccl})
    hosts = sorted({rank.host for rank in diagnosis.job.ranks if rank.host})
    said = [
        f"NCCL {', '.join(map(text_of, versions))}" if versions else "",
        f"hosts: {', '.join(map(text_of, hosts))}" if hosts else "",
        f"world size {diagnosis.job.world_size}" if diagnosis.job.world_size else "",
    ]
    if any(said):
        yield " · ".join(text for text in said if text)


def _finding(finding: Finding, texts: Mapping[Where, str]) -> Iterator[str]:
    yield f"### {finding.rule}: {text_of(finding.title)}"
    yield f"{finding.severity.name.capitalize()}, {finding.confidence.name.lower()}; cause: `{finding.cause}`"
    yield text_of(finding.explanation)
    if finding.evidence:
        yield "How we know:"
        yield fence(_cited(where, texts) for where in finding.evidence[:_MOST_LINES])
    for number, fix in enumerate(finding.fixes):
        yield from _fix(fix, "What to do" if number == 0 else "Or")
    if finding.not_proof_of:
        yield f"Not proved: {text_of(finding.not_proof_of)}"


def _cited(where: Where, texts: Mapping[Where, str]) -> str:
    return f"{where.source}:{where.line}: {texts.get(where, '').strip()[:_LONGEST]}"


def _fix(fix: Fix, lead: str) -> Iterator[str]:
    yield f"**{lead}** ({_SCOPES[fix.scope.value]}): {text_of(fix.title)}"
    lines = [f"export {name}={shell_word(value)}" for name, value in fix.env] + list(fix.typed)
    if lines:
        yield fence(lines, "sh")
    for file in fix.files:
        yield f"or in {text_of(file.path)}, nothing else on the line:"
        yield fence(file.content.splitlines())
