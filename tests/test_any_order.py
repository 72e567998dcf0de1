"""However lines interleave, and wherever a log ends: nothing raises, and no wrong cause is called certain."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from ncclcheck.doctor.diagnose import diagnose, diagnose_sources, diagnose_text
from ncclcheck.logs.sources import pasted
from tests.cases import FIXTURES, Case, certain_and_wrong, overconfident, serious

SEVERAL = [case for case in FIXTURES if len(case.logs) > 1]
QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def lines_of(log: str) -> list[str]:
    """The lines of a log, a carriage return being part of what was printed."""
    return Path(log).read_bytes().decode(errors="replace").removesuffix("\n").split("\n")


def shuffled(case: Case, order: random.Random) -> str:
    """All logs in one, each rank's own lines in their order."""
    waiting = [lines for log in case.logs if (lines := lines_of(log)[::-1])]
    mixed = []
    while waiting:
        lines = order.choice(waiting)
        mixed.append(lines.pop())
        waiting = [lines for lines in waiting if lines]
    return "\n".join(mixed)


@given(some.sampled_from(SEVERAL), some.randoms(use_true_random=False))
@QUICK
def test_interleaving_makes_nothing_wrong(case: Case, order: random.Random) -> None:
    assert overconfident(case, diagnose_text(shuffled(case, order))) == []


@given(some.sampled_from(FIXTURES), some.data())
@QUICK
def test_a_log_may_end_anywhere(case: Case, data: some.DataObject) -> None:
    sources = []
    for number, log in enumerate(case.logs):
        text = "\n".join(lines_of(log))
        sources.append(pasted(text[: data.draw(some.integers(0, len(text)))], f"{number}.log"))
    assert certain_and_wrong(case, diagnose_sources(sources)) == []


@given(some.sampled_from(FIXTURES), some.data())
@QUICK
def test_a_log_may_be_split_into_files(case: Case, data: some.DataObject) -> None:
    sources = []
    for number, log in enumerate(case.logs):
        lines = lines_of(log)
        cut = data.draw(some.integers(0, len(lines)))
        sources += [pasted("\n".join(part), f"{number}-{i}") for i, part in enumerate((lines[:cut], lines[cut:]))]
    assert overconfident(case, diagnose_sources(sources)) == []


@pytest.mark.parametrize("case", [case for case in SEVERAL if case.causes], ids=lambda case: case.name)
def test_one_log_of_all_ranks_names_the_same_cause(case: Case) -> None:
    found = serious(diagnose_text(shuffled(case, random.Random(1))))
    assert [finding.cause for finding in found][:1] == [serious(diagnose(case.logs))[0].cause]


@given(some.text(max_size=2000))
@QUICK
def test_any_text_has_an_answer(text: str) -> None:
    assert diagnose_text(text).findings == ()
