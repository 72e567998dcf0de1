"""Fixes in the words of the launcher: a setting must reach the workers, not only a shell. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from ncclcheck.logs.launcher import Launcher
from ncclcheck.model import Finding, Fix
from ncclcheck.printable import shell_word


def in_launchers_words(finding: Finding, launcher: Launcher) -> Finding:
    """The finding with the launcher's own way added to every fix that sets something."""
    return replace(finding, fixes=tuple(_added(fix, launcher) for fix in finding.fixes))


def _added(fix: Fix, launcher: Launcher) -> Fix:
    return replace(fix, commands=(*fix.commands, *_commands(fix, launcher))) if fix.env else fix


def _commands(fix: Fix, launcher: Launcher) -> Iterator[str]:
    for name, value in fix.env:
        for command in launcher.commands:
            environment = shell_word(json.dumps({"env_vars": {name: value}}))
            yield command.format(name=name, value=shell_word(value), environment=environment)
