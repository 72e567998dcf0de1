"""Fixes in the words of each launcher: a setting must reach the workers, not only a shell. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import msgspec

from ncclcheck.logs.launcher import Launcher
from ncclcheck.model import Finding, Fix, Launch
from ncclcheck.printable import shell_word


def in_launchers_words(finding: Finding, launchers: Sequence[Launcher], seen: str | None = None) -> Finding:
    """The finding with every launcher's way for each fix that sets something; the one that was seen comes first."""
    ordered = sorted(launchers, key=lambda launcher: launcher.name != seen)
    return replace(finding, fixes=tuple(_worded(fix, ordered, seen) if fix.env else fix for fix in finding.fixes))


def _worded(fix: Fix, launchers: Sequence[Launcher], seen: str | None) -> Fix:
    launches = (
        Launch(launcher.title or launcher.name, tuple(_lines(fix, launcher)), seen=launcher.name == seen)
        for launcher in launchers
    )
    return replace(fix, launches=tuple(launches))


def _lines(fix: Fix, launcher: Launcher) -> Iterator[str]:
    """The launcher's lines with the settings filled in, as one word of a shell each, or of YAML."""
    quoted = [{"name": name, "value": shell_word(value), "text": _json(value)} for name, value in fix.env]
    settings = " ".join(launcher.each.format(**one) for one in quoted)
    environment = shell_word(_json({"env_vars": dict(fix.env)}))
    for line in launcher.commands:
        for one in quoted if "{name}" in line else quoted[:1]:
            yield line.format(**one, settings=settings, environment=environment)


def _json(value: object) -> str:
    # It is loaded already, and json is not.
    return msgspec.json.encode(value).decode()
