"""Where the rule files are."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from pathlib import Path

from ncclcheck.errors import RuleError

_PACKAGE = Path(__file__).parent.parent


@lru_cache(maxsize=1)
def builtin_folder() -> Path:
    """The rules that come with the program: packaged, or beside the package in a checkout (editable install)."""
    for candidate in (_PACKAGE / "_rules", _PACKAGE.parent / "rules"):
        if (candidate / "events").is_dir():
            return candidate
    raise RuleError("the rules are not installed", place=str(_PACKAGE), next_step="install ncclcheck again")


def user_folder() -> Path:
    """The user's own rules, in the platform's configuration folder; it need not exist."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "ncclcheck" / "rules"
    config = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(config) / "ncclcheck" / "rules"
