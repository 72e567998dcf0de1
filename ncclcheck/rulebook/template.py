"""Text with placeholders: ``{interface}``, or ``{owner|host|that node}`` for the first one that is known. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ncclcheck.rulebook.subject import Value

_PLACEHOLDER = re.compile(r"\{([\w.]+(?:\|[^{}|]*)*)\}")
_BRACES = re.compile(r"\{[^{}]{0,40}\}?|\}")
_BLANKS = re.compile(r"\{ +[\w.|]+ *\}|\{[\w.|]+ +\}")


class Missing(KeyError):
    """A placeholder has no value here."""


def fill(text: str, values: Mapping[str, Value]) -> str:
    """The text with every placeholder filled; raises Missing where one can't be."""
    return _PLACEHOLDER.sub(lambda match: _value(match[1], values), text)


def placeholders(text: str) -> tuple[str, ...]:
    """The attribute names that a text asks for; the last of several choices may be plain words and is none."""
    asked = (match[1].split("|") for match in _PLACEHOLDER.finditer(text))
    return tuple(name for names in asked for name in names[: max(1, len(names) - 1)])


def leftovers(text: str, *, commands: bool = False) -> str:
    """The first thing in braces that is no placeholder; a shell has a use of its own for braces in commands."""
    rest = _PLACEHOLDER.sub("", text)
    match = (_BLANKS if commands else _BRACES).search(rest)
    return match[0] if match else ""


def _value(names: str, values: Mapping[str, Value]) -> str:
    *choices, last = names.split("|")
    for name in (*choices, last):
        if name in values and values[name] != "":
            return str(values[name])
    if choices:
        return last  # The last choice is plain words.
    raise Missing(last)
