"""What the rules make of a log, for those who write rules. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from ncclcheck.doctor.trial import Hits, Trial

_MOST = 40
_WIDTH = 150


def trial_text(trial: Trial) -> str:
    """Findings, events, and lines that nothing knows."""
    return "\n".join(_lines(trial))


def _lines(trial: Trial) -> Iterator[str]:
    yield f"Rules ({len(trial.diagnosis.findings)}):"
    for finding in trial.diagnosis.findings:
        sure = f"{finding.severity.name.lower()}, {finding.confidence.name.lower()}"
        hidden = f"; hides {', '.join(finding.explains)}" if finding.explains else ""
        yield f"  {finding.rule}  {sure:<17}  {finding.title}{hidden}"
    yield f"Events ({len(trial.events)} kinds):"
    yield from map(_hits, trial.events)
    yield f"NCCL lines that nothing knows ({len(trial.strangers)} kinds):"
    yield from map(_hits, trial.strangers[:_MOST])
    if len(trial.strangers) > _MOST:
        yield f"  … and {len(trial.strangers) - _MOST} more"


def _hits(hits: Hits) -> str:
    return f"  {hits.count:>6}  {hits.name[:_WIDTH]}  ({hits.first.source}:{hits.first.line})"
