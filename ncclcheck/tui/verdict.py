"""The answer in one line, whichever is the newest: of a log, of a probe, or of what lies between nodes. Pure."""

from __future__ import annotations

from ncclcheck.model import Diagnosis, Severity, Verdict
from ncclcheck.tui import peers, wording
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.text.document import Document
from ncclcheck.tui.wording import Said, Tone


def verdict(now: Snapshot) -> Said:
    """The answer in one line."""
    if now.newest_between:
        return peers.verdict(now)
    if now.diagnosis is None and now.document.texts:
        return Said("…", f"Reading {wording.line(now.document.title)}", Tone.MUTED)
    if now.diagnosis is None:
        return Said("?", "Not checked yet: p asks the real NCCL here, or paste a log", Tone.WARNING)
    both = now.comparison
    if both is not None and both.proved and now.of_nodes and now.diagnosis.verdict is not Verdict.PROBLEM:
        rates = wording.rates(both.after)
        return Said("✓", f"Fixed and proved: the speed test that failed now reports {rates}", Tone.GOOD)
    return _verdict_of(now.diagnosis, now.document)


def _verdict_of(diagnosis: Diagnosis, text: Document) -> Said:
    if diagnosis.verdict is Verdict.PROBLEM and diagnosis.findings:
        more = sum(finding.severity is not Severity.INFO for finding in diagnosis.findings[1:])
        title = wording.line(diagnosis.findings[0].title)
        return Said("✗", title + (f" (and {more} more)" if more else ""), Tone.BAD)
    if diagnosis.verdict is Verdict.HEALTHY:
        return Said("✓", f"Nothing wrong found in {wording.line(text.title)}", Tone.GOOD)
    first, more = next(iter(diagnosis.unknown), None), len(diagnosis.unknown) - 1
    missing = wording.unknown(first) if first else "the text says nothing about NCCL's network"
    return Said("?", f"Cannot tell yet: {missing}" + (f" (and {more} more)" if more > 0 else ""), Tone.WARNING)


def summary(now: Snapshot) -> str:
    """The overview as plain text, where there is no finding to copy."""
    answer = verdict(now)
    parts = [f"{answer.sign} {answer.text}"]
    for facts in now.facts:
        parts.append(f"{facts.host}: NCCL {wording.choice(facts.choice, seen=False)}")
        parts += ["  " + "  ".join(wording.link(interface)) for interface in facts.interfaces]
    return "\n".join(parts) + "\n"
