"""Text with placeholders."""

from __future__ import annotations

import pytest

from ncclcheck.rulebook.template import Missing, fill, leftovers, placeholders

VALUES = {"host": "node-a", "event.port": 29500, "empty": ""}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nothing", "nothing"),
        ("{host}:{event.port}", "node-a:29500"),
        ("{owner|host}", "node-a"),
        ("{owner|that node}", "that node"),
        ("{empty|that node}", "that node"),
        ("{owner|}", ""),
        ("awk '{print $1}'", "awk '{print $1}'"),
        ("{ host }", "{ host }"),
    ],
)
def test_fill(text: str, expected: str) -> None:
    assert fill(text, VALUES) == expected


@pytest.mark.parametrize("text", ["{owner}", "{empty}", "{host} {owner}"])
def test_what_is_not_known_is_missing(text: str) -> None:
    with pytest.raises(Missing):
        fill(text, VALUES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{host} and {owner|host|that node}", ("host", "owner", "host")),
        ("{a.b}", ("a.b",)),
        ("plain {} { x }", ()),
    ],
)
def test_placeholders(text: str, expected: tuple[str, ...]) -> None:
    assert placeholders(text) == expected


@pytest.mark.parametrize(
    ("text", "commands", "expected"),
    [
        ("{host} is fine", False, ""),
        ("{ host } is not", False, "{ host }"),
        ("{host is not", False, "{host is not"),
        ("host} is not", False, "}"),
        ("awk '{print $1}'", True, ""),
        ("ip addr show { host }", True, "{ host }"),
    ],
)
def test_leftovers(text: str, *, commands: bool, expected: str) -> None:
    assert leftovers(text, commands=commands) == expected
