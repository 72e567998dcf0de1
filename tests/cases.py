"""Logs whose cause is known: those in fixtures/logs, and a larger corpus beside the checkout where there is one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tomli

from ncclcheck.model import Confidence, Diagnosis, Finding, Severity, Verdict

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Case:
    """A folder with logs, and what must be said about them."""

    name: str
    logs: tuple[str, ...]
    causes: tuple[str, ...] = ()
    """The first cause is one of these."""
    also: tuple[str, ...] = ()
    """Further causes that may be named."""
    contain: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    """One of these is among the evidence: ``name.log:14``."""
    healthy: bool = False
    unknown: bool = False


def cases(folder: Path) -> tuple[Case, ...]:
    """The cases below a folder."""
    return tuple(_case(path) for path in sorted(folder.rglob("expect.toml")))


def _case(path: Path) -> Case:
    told: dict[str, Any] = tomli.loads(path.read_text(encoding="utf-8"))
    parts = {key: tuple(value) if isinstance(value, list) else value for key, value in told.items()}
    logs = tuple(str(log) for log in sorted(path.parent.glob("*.log")))
    return Case(name="/".join(path.parts[-3:-1]), logs=logs, **parts)


FIXTURES = cases(ROOT / "fixtures" / "logs")
CORPUS = cases(ROOT.parent / "shared" / "corpus")


def serious(diagnosis: Diagnosis) -> list[Finding]:
    """Findings that say something is wrong."""
    return [finding for finding in diagnosis.findings if finding.severity > Severity.INFO]


def faults(case: Case, diagnosis: Diagnosis) -> list[str]:
    """What is wrong with the answer; nothing where it is right."""
    return list(_faults(case, diagnosis))


def _faults(case: Case, diagnosis: Diagnosis) -> Iterator[str]:
    found = serious(diagnosis)
    if case.healthy or case.unknown:
        yield from (f"says {finding.cause}" for finding in found if finding.cause not in case.also)
        wrong = Verdict.PROBLEM if case.healthy else Verdict.HEALTHY
        if diagnosis.verdict is wrong and (case.unknown or not found):
            yield f"calls it {wrong.value}"
        return
    if not found:
        yield "says nothing"
        return
    if found[0].cause not in case.causes:
        yield f"says {found[0].cause} first"
    yield from (f"says {other.cause} too" for other in found[1:] if other.cause not in (*case.causes, *case.also))
    text, fixes = " ".join(map(_said, found)), " ".join(map(_advised, found))
    yield from (f"does not say {wanted}" for wanted in case.contain if wanted not in text)
    yield from (f"advises {unwanted}" for unwanted in case.avoid if unwanted in fixes)
    shown = {f"{Path(where.source).name}:{where.line}" for where in found[0].evidence}
    if case.lines and not shown & set(case.lines):
        yield f"shows {sorted(shown)}"


def overconfident(case: Case, diagnosis: Diagnosis) -> list[str]:
    """Wrong causes called certain, and any cause where all is well."""
    return [
        finding.cause
        for finding in serious(diagnosis)
        if finding.cause not in (*case.causes, *case.also)
        and (case.healthy or finding.confidence is Confidence.CERTAIN)
    ]


def certain_and_wrong(case: Case, diagnosis: Diagnosis) -> list[str]:
    """Wrong causes called certain: a healthy job's log that was cut off may look like one that hangs."""
    return overconfident(replace(case, healthy=False), diagnosis)


def _said(finding: Finding) -> str:
    subject = " ".join(f"{name}={value}" for name, value in finding.subject)
    return " ".join((finding.title, finding.explanation, finding.not_proof_of, subject, _advised(finding)))


def _advised(finding: Finding) -> str:
    return " ".join(
        part
        for fix in finding.fixes
        for part in (fix.title, *fix.commands, *(f"{name}={value}" for name, value in fix.env))
    )
