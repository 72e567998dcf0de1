"""Where a check that failed lands: what was found out here, with its fix, comes before a rule's page. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from ncclcheck.doctor.diagnose import diagnose_text
from ncclcheck.doctor.setup.checks import Answer
from ncclcheck.doctor.setup.evidence import Evidence
from ncclcheck.doctor.setup.state import Remedy
from ncclcheck.model import Finding, Fix, Risk, Scope, Severity, SpeedTest
from ncclcheck.rulebook.guide_fill import fill
from ncclcheck.rulebook.guide_schema import Check, CheckKind

REPAIR = "ncclcheck fix --repair --apply"

Findings = tuple[Finding, ...]


def remedy(check: Check, answer: Answer, evidence: Evidence, values: Mapping[str, str]) -> Remedy:
    """What to do about this check; ``answer`` is what it saw."""
    problem = fill(check.fails, values) if answer.passed is False else "This could not be checked."
    plain = Remedy(problem, answer.said, check.remedy, check.step)
    if check.kind == "conf-clean":
        return replace(plain, fixes=(Fix("Put the lines right", Scope.THIS_NODE, Risk.SAFE, commands=(REPAIR,)),))
    found = _FOUND.get(check.kind, _nothing)(evidence)
    best = next((one for one in found if one.rule == check.remedy), found[0] if found else None)
    if best is None:
        return plain
    return replace(plain, rule=best.rule, title=best.title, explanation=best.explanation, fixes=best.fixes)


def _nothing(_: Evidence) -> Findings:
    return ()


def _between(evidence: Evidence) -> Findings:
    """What is wrong between the nodes; settings that are to be changed come last, for they are mended last."""
    found = evidence.known.diagnosis.findings if evidence.known else ()
    return tuple(sorted(_alarming(found), key=_is_setting))


def _settings(evidence: Evidence) -> Findings:
    """The other way round, and that of the node which has not made its fix first."""
    host = evidence.refused.host if evidence.refused else evidence.own_name
    return tuple(sorted(_between(evidence), key=lambda one: (not _is_for(one, host), not _is_setting(one))))


def _handshake(evidence: Evidence) -> Findings:
    log = evidence.shook.log if evidence.shook else ()
    return _between(evidence) or _of_log(log)


def _speed(evidence: Evidence) -> Findings:
    return _of_test(evidence.test)


def _ddp(evidence: Evidence) -> Findings:
    return _of_test(evidence.ddp)


def _of_test(test: SpeedTest | None) -> Findings:
    return _of_log(test.log) if test else ()


def _of_log(lines: tuple[str, ...]) -> Findings:
    return _alarming(diagnose_text("\n".join(lines), name="setup").findings) if lines else ()


def _alarming(findings: Findings) -> Findings:
    return tuple(one for one in findings if one.severity > Severity.INFO)


def _is_for(finding: Finding, host: str) -> bool:
    return any(fix.hosts == (host,) and fix.env for fix in finding.fixes)


def _is_setting(finding: Finding) -> bool:
    return any(fix.env for fix in finding.fixes)


_FOUND: Mapping[CheckKind, Callable[[Evidence], Findings]] = {
    "shared-network": _between,
    "settled": _settings,
    "handshake": _handshake,
    "speed": _speed,
    "ddp": _ddp,
}
