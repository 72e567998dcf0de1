"""The list of attributes that rule authors are given says what subjects really have."""

from __future__ import annotations

import re
from pathlib import Path

from ncclcheck.doctor.diagnose import diagnose, rulebook
from ncclcheck.rulebook.sketch import sketched_job
from ncclcheck.rulebook.subject import Subject
from ncclcheck.rulebook.subjects import subjects
from ncclcheck.rulebook.vocabulary import vocabulary
from tests import cases

WORDS = vocabulary(rulebook().events)
SOURCE = "\n".join(path.read_text() for path in (Path(__file__).parents[2] / "ncclcheck" / "rulebook").glob("*.py"))


def _undescribed(subject: Subject) -> set[tuple[str, str]]:
    kinds = (str(subject.values["kind"]),) if subject.kind == "event" else ()
    return {(subject.kind, name) for name in set(subject.values) - WORDS.attributes(subject.kind, kinds)}


def test_every_attribute_that_logs_give_is_described() -> None:
    found: set[tuple[str, str]] = set()
    for case in cases.FIXTURES:
        for kind in subjects(diagnose(case.logs).job).values():
            found |= {name for subject in kind for name in _undescribed(subject)}
    assert found == set()


def test_every_attribute_that_nodes_give_is_described() -> None:
    samples = [sample for rule in rulebook().rules for sample in rule.sample if sample.nodes]
    assert len(samples) > 30
    every = [subjects(sketched_job(sample.nodes, sample.cells)) for sample in samples]
    found = {name for kinds in every for kind in kinds.values() for subject in kind for name in _undescribed(subject)}
    assert found == set()


def test_every_attribute_described_is_made_somewhere() -> None:
    described = {name for section in WORDS.described.values() for name in section}
    assert {name for name in described if not _made(name) and not _made(name.removeprefix("own_"))} == set()


def _made(name: str) -> bool:
    """Whether the code gives something this name, as a keyword or as a key."""
    return re.search(rf'\b{name}=|"{name}"', SOURCE) is not None


def test_every_cause_has_a_rule() -> None:
    assert set(WORDS.causes) - {rule.cause for rule in rulebook().rules} == set()
