"""Whole logs whose cause is known, from text to findings, with all ranks' logs and with one rank's alone."""

from __future__ import annotations

import pytest

from ncclcheck.doctor.diagnose import diagnose
from ncclcheck.model import Verdict
from tests.cases import CORPUS, FIXTURES, Case, faults, overconfident

RIGHT_CAUSE = 0.98
"""Floors on the corpus: the first cause named is right,"""
WHOLLY_RIGHT = 0.95
"""and nothing else is wrong with the answer;"""
HEALTHY_QUIET = 1.0
HONEST_UNKNOWN = 0.95
SINGLE = 1.0
"""one log by itself: no wrong cause is called certain, and healthy ones stay quiet."""

SETS = {"fixtures": FIXTURES, **({"corpus": CORPUS} if CORPUS else {})}


@pytest.mark.parametrize("case", FIXTURES, ids=lambda case: case.name)
def test_the_answer_is_right(case: Case) -> None:
    assert faults(case, diagnose(case.logs)) == []


@pytest.mark.parametrize("case", FIXTURES, ids=lambda case: case.name)
def test_one_log_alone_makes_nobody_certain_of_the_wrong_thing(case: Case) -> None:
    assert {log: wrong for log in case.logs if (wrong := overconfident(case, diagnose([log])))} == {}


def test_there_are_fixtures_of_all_sorts() -> None:
    assert len(FIXTURES) >= 60
    assert sum(case.healthy for case in FIXTURES) >= 12
    assert sum(case.unknown for case in FIXTURES) >= 3


@pytest.mark.parametrize("corpus", SETS, ids=SETS)
def test_floors(corpus: str) -> None:
    known = SETS[corpus]
    answers = {case: diagnose(case.logs) for case in known}
    wrong = {case: found for case, answer in answers.items() if (found := faults(case, answer))}
    sick = [case for case in known if not case.healthy and not case.unknown]
    first = [case for case in sick if not any(_misses(fault) for fault in wrong.get(case, ()))]
    told = "\n".join(f"{case.name}: {'; '.join(found)}" for case, found in wrong.items())
    assert _share(first, sick) >= RIGHT_CAUSE, told
    assert _share([case for case in sick if case not in wrong], sick) >= WHOLLY_RIGHT, told
    for kind, floor in (("healthy", HEALTHY_QUIET), ("unknown", HONEST_UNKNOWN)):
        these = [case for case in known if getattr(case, kind)]
        assert _share([case for case in these if case not in wrong], these) >= floor, told


@pytest.mark.parametrize("corpus", SETS, ids=SETS)
def test_floors_of_single_logs(corpus: str) -> None:
    logs = [(case, log) for case in SETS[corpus] for log in case.logs]
    wrong = [f"{log}: {found}" for case, log in logs if (found := overconfident(case, diagnose([log])))]
    assert 1 - len(wrong) / len(logs) >= SINGLE, "\n".join(wrong)


def _misses(fault: str) -> bool:
    return fault == "says nothing" or fault.endswith(" first")


def _share(part: list[Case], whole: list[Case]) -> float:
    return len(part) / len(whole)


@pytest.mark.parametrize("case", [case for case in FIXTURES if case.healthy], ids=lambda case: case.name)
def test_a_healthy_log_is_never_a_problem(case: Case) -> None:
    assert diagnose(case.logs).verdict is not Verdict.PROBLEM
