"""A diagnosis as the JSON contract, schema 1. Stable: scripts read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ncclcheck.model import Diagnosis, Finding, Fix, Where

SCHEMA = 1


def diagnosis_json(diagnosis: Diagnosis, texts: Mapping[Where, str]) -> dict[str, Any]:
    """The whole answer; ``texts`` are the evidence lines, read again."""
    return {
        "schema": SCHEMA,
        "verdict": diagnosis.verdict.value,
        "findings": [_finding(finding, texts) for finding in diagnosis.findings],
        "job": _job(diagnosis),
        "unknown": [{"question": item.question, "missing": item.missing} for item in diagnosis.unknown],
        "stats": {"lines": diagnosis.lines, "bytes": diagnosis.bytes, "seconds": round(diagnosis.seconds, 4)},
    }


def _finding(finding: Finding, texts: Mapping[Where, str]) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "cause": finding.cause,
        "severity": finding.severity.name.lower(),
        "confidence": finding.confidence.name.lower(),
        "title": finding.title,
        "explanation": finding.explanation,
        "not_proof_of": finding.not_proof_of,
        "subject": {**dict(finding.subject), "ranks": list(finding.ranks)},
        "evidence": [
            {"source": where.source, "line": where.line, "text": texts.get(where, "")} for where in finding.evidence
        ],
        "fixes": [_fix(fix) for fix in finding.fixes],
        "explains": list(finding.explains),
    }


def _fix(fix: Fix) -> dict[str, Any]:
    return {
        "title": fix.title,
        "scope": fix.scope.value,
        "risk": fix.risk.value,
        "env": dict(fix.env),
        "commands": list(fix.typed),
        "files": [{"path": file.path, "content": file.content} for file in fix.files],
        **({"hosts": list(fix.hosts)} if fix.hosts else {}),
        **({"launchers": {launch.launcher: list(launch.lines) for launch in fix.launches}} if fix.launches else {}),
    }


def _job(diagnosis: Diagnosis) -> dict[str, Any]:
    job = diagnosis.job
    return {
        "nccl_versions": sorted({rank.nccl for rank in job.ranks if rank.nccl}),
        "hosts": sorted({rank.host for rank in job.ranks if rank.host}),
        "ranks_seen": sorted({number for rank in job.ranks for number in rank.numbers}),
        "world_size": job.world_size,
        "stages": {str(number): rank.stage.name.lower() for rank in job.ranks for number in rank.numbers},
    }
