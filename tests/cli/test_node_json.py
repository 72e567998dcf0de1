"""The JSON of ``node`` and ``lint`` is a promise: docs/node-json.md has every key and every word, and no other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from ncclcheck.doctor.foresight import Foreseen
from ncclcheck.model import Facts, FileLint, Processes, WhatIf

DOC = (Path(__file__).parents[2] / "docs/node-json.md").read_text(encoding="utf-8")


def reached(type_: Any) -> Iterator[Any]:
    """The types that a value's JSON is made of."""
    if is_dataclass(type_):
        yield type_
        for field in get_type_hints(type_).values():
            yield from reached(field)
    elif isinstance(type_, type) and issubclass(type_, Enum):
        yield type_
    for argument in get_args(type_):
        yield from reached(argument)


TYPES = list(dict.fromkeys(one for type_ in (Facts, WhatIf, Processes, FileLint, Foreseen) for one in reached(type_)))


def section(name: str) -> str:
    return DOC.partition(f"\n### {name}\n")[2].partition("\n### ")[0]


@pytest.mark.parametrize("type_", TYPES, ids=lambda type_: type_.__name__)
def test_every_key_and_every_word_is_documented(type_: Any) -> None:
    text = section(type_.__name__)

    if is_dataclass(type_):
        assert re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE) == [field.name for field in fields(type_)]
    else:
        assert re.findall(r"`([^`]+)`", text) == [member.value for member in type_]


def test_no_type_is_documented_that_there_is_not() -> None:
    assert re.findall(r"^### (\w+)$", DOC, re.MULTILINE) == [
        type_.__name__ for type_ in sorted(TYPES, key=lambda type_: not is_dataclass(type_))
    ]


GOLDEN = {
    "Facts": "host interfaces settings conf_troubles conf_files library python choice sockets places unknown",
    "Interface": "name index kind up running mtu speed addresses",
    "Setting": "name value origin line wins",
    "ConfLine": "path line text trouble meaning corrected",
    "Choice": "nccl interface address reason candidates code",
}
"""Keys that were promised first; what comes later is added behind them in the table, never in place of one."""


@pytest.mark.parametrize("name", GOLDEN)
def test_no_key_that_was_promised_has_gone(name: str) -> None:
    assert set(GOLDEN[name].split()) <= set(re.findall(r"^\| `(\w+)` \|", section(name), re.MULTILINE))
