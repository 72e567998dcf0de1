"""Text with placeholders: ``{interface}``, or ``{owner|host|that node}`` for the first one that is known. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ncclcheck.rulebook.subject import Value

_PLACEHOLDER = re.compile(r"\{([\w.]+(?:\|[^{}|]*)*)\}")


class Missing(KeyError):
    """A placeholder has no value here."""


def fill(text: str, values: Mapping[str, Value]) -> str:
    """The text with every placeholder filled; raises Missing where one can't be."""
    return _PLACEHOLDER.sub(lambda match: _value(match[1], values), text)


def placeholders(text: str) -> tuple[str, ...]:
    """The attribute names that a text asks for."""
    return tuple(match[1].split("|")[0] for match in _PLACEHOLDER.finditer(text))


def _value(names: str, values: Mapping[str, Value]) -> str:
    *choices, last = names.split("|")
    for name in (*choices, last):
        if name in values and values[name] != "":
            return str(values[name])
    if choices:
        return last  # The last choice is plain words.
    raise Missing(last)
