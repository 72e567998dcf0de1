"""A diagnosis as SARIF 2.1.0 (OASIS), for code review tools: each finding with file and line. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from ncclcheck import __version__
from ncclcheck.model import Diagnosis, Finding, Fix, Severity, Where

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def diagnosis_sarif(diagnosis: Diagnosis, texts: Mapping[Where, str]) -> dict[str, Any]:
    """One run with one result a finding; what stays unknown is a notification of the run."""
    rules = {finding.rule: finding for finding in diagnosis.findings}
    places = list(rules)
    driver = {"name": "ncclcheck", "version": __version__, "rules": [_rule(finding) for finding in rules.values()]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": _notifications(diagnosis)}],
        "results": [_result(finding, places.index(finding.rule), texts) for finding in diagnosis.findings],
        "properties": {"verdict": diagnosis.verdict.value},
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(finding: Finding) -> dict[str, Any]:
    return {
        "id": finding.rule,
        "name": "".join(word.capitalize() for word in finding.cause.split("-")),
        "shortDescription": {"text": finding.cause.replace("-", " ")},
        "defaultConfiguration": {"level": _LEVELS[finding.severity]},
        "properties": {"tags": [finding.cause]},
    }


def _result(finding: Finding, index: int, texts: Mapping[Where, str]) -> dict[str, Any]:
    places = [_location(where, texts.get(where, "")) for where in finding.evidence]
    related = [{"id": number, **place} for number, place in enumerate(places[1:], 1)]
    return {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": _message(finding)},
        "locations": places[:1],
        **({"relatedLocations": related} if related else {}),
        "properties": {
            "cause": finding.cause,
            "confidence": finding.confidence.name.lower(),
            "ranks": list(finding.ranks),
            "explains": list(finding.explains),
        },
    }


def _message(finding: Finding) -> str:
    advice = "".join(f"\n\nWhat to do: {_advice(fix)}" for fix in finding.fixes)
    limits = f"\n\nNot proved: {finding.not_proof_of}" if finding.not_proof_of else ""
    return f"{finding.title}\n\n{finding.explanation}{advice}{limits}"


def _advice(fix: Fix) -> str:
    settings = [f"{name}={value}" for name, value in fix.env]
    return f"{fix.title} ({fix.scope.value}){''.join(f'; {text}' for text in (*settings, *fix.typed))}"


def _location(where: Where, text: str) -> dict[str, Any]:
    region = {"startLine": where.line, **({"snippet": {"text": text}} if text else {})}
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(where.source)}, "region": region}}


def _uri(source: str) -> str:
    """A reference relative to the working folder, or a file's absolute one; standard input has a name of its own."""
    if source == "-":
        return "stdin"
    path = quote(source, errors="replace")
    return f"file://{path}" if source.startswith("/") else path


def _notifications(diagnosis: Diagnosis) -> list[dict[str, Any]]:
    return [
        {"level": "note", "message": {"text": f"{unknown.question} (would settle it: {unknown.missing})"}}
        for unknown in diagnosis.unknown
    ]
