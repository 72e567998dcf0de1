"""The places and dialogs, each with its style sheet beside it; no screen computes anything.

``screens.fix`` loads that module where it is first asked for: the first paint needs one of them.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ncclcheck.tui.screens import (
        agree,
        filter,
        fix,
        guided,
        help,
        history,
        history_undo,
        join,
        log,
        open,
        overview,
        peers,
        place,
        ranks,
        rule_draft,
        setup,
        setup_dialogs,
        speed,
        speeds,
        whatif,
    )

__all__ = [
    "agree",
    "filter",
    "fix",
    "guided",
    "help",
    "history",
    "history_undo",
    "join",
    "log",
    "open",
    "overview",
    "peers",
    "place",
    "ranks",
    "rule_draft",
    "setup",
    "setup_dialogs",
    "speed",
    "speeds",
    "whatif",
]


def __getattr__(name: str) -> ModuleType:
    """A module of this folder (PEP 562)."""
    if name not in __all__:
        raise AttributeError(name)
    return import_module(f"{__name__}.{name}")
