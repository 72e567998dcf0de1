"""The answer in every form: as the golden files have it, well formed, and with nothing that acts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ncclcheck.cli import output
from ncclcheck.cli.report_markdown import fence, text_of
from ncclcheck.cli.report_sarif import diagnosis_sarif
from ncclcheck.cli.report_text import room
from ncclcheck.doctor.finding_text import Room
from tests.cli.answers import ANSWER, GOLDEN, TEXTS, forms


@pytest.mark.parametrize("name", sorted(forms()))
def test_each_form_is_as_it_was(name: str) -> None:
    assert forms()[name] == (GOLDEN / name).read_text(encoding="utf-8"), "run: python -m tests.cli.answers"


def test_sarif_has_the_shape_that_its_readers_need() -> None:
    sarif: dict[str, Any] = json.loads(json.dumps(diagnosis_sarif(ANSWER, TEXTS)))
    (run,) = sarif["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert sarif["version"] == "2.1.0"
    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in {"error", "warning", "note", "none"}
        assert result["message"]["text"]
        for place in (*result["locations"], *result.get("relatedLocations", ())):
            physical = place["physicalLocation"]
            assert physical["region"]["startLine"] >= 1
            assert " " not in physical["artifactLocation"]["uri"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain text", "plain text"),
        ("NCCL_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"),
        ("_hidden_", r"\_hidden\_"),
        ("<script>", r"\<script\>"),
        ("`x` | **y**", r"\`x\` \| \*\*y\*\*"),
        ("[a](b)", r"\[a\](b)"),
        ("@team and #12", "@\u200bteam and #\u200b12"),
        ("http://x", "http://\u200bx"),
        ("a\n# b", "a # b"),
        ("\x1b[2J", "\\\\x1b\\[2J"),
    ],
)
def test_strangers_text_is_no_markup(text: str, expected: str) -> None:
    assert text_of(text) == expected


@given(some.lists(some.text(alphabet="`a\n")))
def test_no_line_ends_its_fence(lines: list[str]) -> None:
    first, *body, last = fence(lines).split("\n")
    assert first == f"{last}text"
    assert set(last) == {"`"}
    assert not any(last in line for line in body)


@pytest.mark.parametrize(
    ("columns", "expected"), [(None, Room(80, 240)), (60, Room(60, 60)), (80, Room(80, 80)), (200, Room(96, 200))]
)
def test_quoted_lines_fill_the_terminal_and_are_hardly_cut_without_one(columns: int | None, expected: Room) -> None:
    assert room(columns) == expected


def test_the_width_counts_only_where_a_terminal_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "77")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert output.columns() == 77
    monkeypatch.setattr("sys.stdout.isatty", lambda: False)
    assert output.columns() is None
