"""Options that say which rules are run, shared by the commands that run rules."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ncclcheck.cli.diagnostics import note

if TYPE_CHECKING:
    from ncclcheck.rulebook.load import Rulebook


def add_rule_options(parser: argparse.ArgumentParser) -> None:
    """``--rules``, ``--select`` and ``--ignore``."""
    parser.add_argument(
        "--rules",
        metavar="DIR",
        type=Path,
        action="append",
        default=[],
        help="further rules, in DIR/events and DIR/causes",
    )
    names = "RULE,…"
    parser.add_argument(
        "--select", metavar=names, type=_names, default=(), help="only these: ids, NC2 for NC2xx, causes"
    )
    parser.add_argument("--ignore", metavar=names, type=_names, default=(), help="all but these")


def chosen_rules(options: argparse.Namespace, *, but: str = "") -> Rulebook:
    """The rulebook that the options ask for; broken rules are reported and left out.

    Built-in ones whose id begins with ``but`` are only there where the options name rules. Raises RuleError for a name
    that is no rule's and for a folder that is not there.
    """
    from ncclcheck.errors import RuleError
    from ncclcheck.rulebook.library import builtin_folder, user_folder
    from ncclcheck.rulebook.load import load
    from ncclcheck.rulebook.select import selected

    for folder in options.rules:
        if not folder.is_dir():
            raise RuleError(
                "is no folder", place=str(folder), next_step="name the folder that holds events/ and causes/"
            )
    named = options.select or options.ignore
    book = load((builtin_folder(), user_folder(), *options.rules), but="" if named else but)
    for broken in book.broken:
        note(f"left out a broken rule: {broken}")
    return selected(book, options.select, options.ignore)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for name in text.replace(",", " ").split() if name)
