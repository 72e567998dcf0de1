"""Which rules are run: all, or those that a user names. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ncclcheck.errors import RuleError
from ncclcheck.rulebook.load import Rulebook
from ncclcheck.rulebook.schema import RuleSpec, nearest


def selected(book: Rulebook, select: Sequence[str], ignore: Sequence[str]) -> Rulebook:
    """The rulebook with the rules selected (all, if none are named) less those ignored.

    A rule is named by id, by the beginning of ids (``NC2``), by its name or by its cause. Raises RuleError for a name
    that fits none.
    """
    for name in (*select, *ignore):
        if not any(_fits(rule, name) for rule in book.rules):
            names = {text for rule in book.rules for text in (rule.id, rule.name, rule.cause)}
            raise RuleError(f"no rule, and no cause, is called {name}", next_step=nearest(name, names))
    kept = [rule for rule in book.rules if not select or any(_fits(rule, name) for name in select)]
    return replace(book, rules=tuple(rule for rule in kept if not any(_fits(rule, name) for name in ignore)))


def _fits(rule: RuleSpec, name: str) -> bool:
    return name in (rule.name, rule.cause) or (name != "" and rule.id.startswith(name.upper()))
