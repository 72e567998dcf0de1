"""The use case "make a rule from this line": written where the user's own rules are, and in force at once."""

from __future__ import annotations

from pathlib import Path

from ncclcheck.doctor import diagnose
from ncclcheck.rulebook.library import user_folder
from ncclcheck.rulebook.own import OwnRule, save


def keep(rule: OwnRule, folder: Path | None = None) -> tuple[Path, Path]:
    """Write the rule, by default into the user's folder; the paths of its line shape and of itself.

    Raises RuleError where the rule does not pass its check, or can't be written.
    """
    paths = save(rule, folder or user_folder())
    diagnose.of_logs.cache_clear()
    diagnose.rulebook.cache_clear()
    return paths
