"""A rule as a page; the pages in docs/rules are those of today's rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from ncclcheck.doctor.diagnose import rulebook
from ncclcheck.errors import RuleError
from ncclcheck.rulebook.explain import found
from ncclcheck.rulebook.library import builtin_folder
from ncclcheck.rulebook.load import load
from ncclcheck.rulebook.pages import pages, write

DOCS = Path(__file__).parents[2] / "docs" / "rules"


def test_the_pages_are_current() -> None:
    written = {path.name: path.read_text() for path in DOCS.glob("*.md")}
    assert written == pages(load((builtin_folder(),))), "run: python -m ncclcheck.rulebook.pages"


def test_writing_removes_pages_of_rules_that_are_gone(tmp_path: Path) -> None:
    (tmp_path / "NC000.md").write_text("old")
    assert {path.name for path in write(tmp_path)} == {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize("name", ["NC101", "nc101", "wrong-interface"])
def test_a_rule_is_found_by_id_and_name(name: str) -> None:
    assert found(name, rulebook().rules).id == "NC101"


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("NC704x", "did you mean NC704?"),
        ("NC10", "did you mean NC101?"),
        ("wrong-iface", "did you mean wrong-interface?"),
    ],
)
def test_an_unknown_rule_leads_to_the_nearest(name: str, advice: str) -> None:
    with pytest.raises(RuleError) as raised:
        found(name, rulebook().rules)
    assert raised.value.next_step == advice
