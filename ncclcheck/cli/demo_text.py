"""The demo's story in words, one step at a time. Pure."""

from __future__ import annotations

from dataclasses import replace

from ncclcheck.cli.handshake_text import handshake_text
from ncclcheck.cli.report_text import findings_text
from ncclcheck.cli.speed_text import comparison_text, test_text
from ncclcheck.doctor.demo import Changed, Chapter, Diagnosed, Measured, NothingToFix, Planned, Probed, ShookHands, Step
from ncclcheck.model import Comparison, Severity, Where
from ncclcheck.speedtest.reports import Progress

_NODES = 2
"""The story is that of two."""


def step_text(step: Step) -> str:
    """What a step tells."""
    if isinstance(step, Chapter):
        return f"\n== {step.title}"
    if isinstance(step, Probed):
        return _probed(step)
    if isinstance(step, Diagnosed):
        return _diagnosed(step)
    if isinstance(step, ShookHands):
        # The probes have shown NCCL's own lines already.
        return handshake_text(replace(step.handshake, log=()), _NODES)
    if isinstance(step, Comparison):
        return comparison_text(step)
    return _deed(step)


def _deed(step: Progress | Measured | Planned | Changed | NothingToFix) -> str:
    if isinstance(step, Progress):
        return f"{step.seconds:6.1f} s  {step.text}"
    if isinstance(step, Measured):
        return test_text(step.test)
    if isinstance(step, Planned):
        return f"{step.node.name} will change:\n{_indented(step.diff)}"
    if isinstance(step, Changed):
        return "\n".join(f"{step.node.name}: {applied.path} written" for applied in step.applied)
    return "NOT proved: no finding brings a fix that may be applied without a person."


def _probed(step: Probed) -> str:
    probe = step.probe
    taken = f"{probe.seen.interface}, {probe.seen.address}" if probe.seen.interface else "no interface"
    return f"{step.node.name}: NCCL {probe.nccl} takes {taken}\n{_indented(chr(10).join(probe.log))}"


def _diagnosed(step: Diagnosed) -> str:
    """The findings with their lines; a probe that shows nothing wrong is no proof of health, and is not called one."""
    if not any(finding.severity > Severity.INFO for finding in step.diagnosis.findings):
        return "Nothing wrong in what NCCL printed; whether the nodes reach each other, the speed test shows."
    logs = {probe.host: probe.log for probe in step.probes}
    evidence = {where for finding in step.diagnosis.findings for where in finding.evidence}
    return findings_text(step.diagnosis, {where: _line(logs, where) for where in evidence})


def _line(logs: dict[str, tuple[str, ...]], where: Where) -> str:
    log = logs.get(where.source, ())
    return log[where.line - 1] if 0 < where.line <= len(log) else ""


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())
