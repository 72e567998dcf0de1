"""The rules that come along: sound, reached by their own samples, quiet where all is well."""

from __future__ import annotations

import pytest

from ncclcheck.doctor.diagnose import rulebook
from ncclcheck.logs.events import Shapes
from ncclcheck.rulebook.check import check
from ncclcheck.rulebook.check_events import events_in
from ncclcheck.rulebook.library import builtin_folder
from ncclcheck.rulebook.load import BETWEEN, load, rule_files, shape_of
from ncclcheck.rulebook.schema import EventShape

BOOK = load((builtin_folder(),))
ALL = Shapes(tuple(map(shape_of, BOOK.events)))


def test_check_finds_no_fault() -> None:
    assert [str(fault) for fault in check((builtin_folder(),)).faults] == []


def test_nothing_is_left_out() -> None:
    assert BOOK.broken == ()
    assert len({rule.id for rule in BOOK.rules}) == len(list((builtin_folder() / "causes").glob("*.toml")))


@pytest.mark.parametrize("shape", BOOK.events, ids=lambda shape: shape.kind)
def test_a_shape_is_reached_through_all_the_others(shape: EventShape) -> None:
    for sample in shape.sample:
        kinds = {event.kind for event in events_in(ALL, sample.line)}
        assert (shape.kind in kinds) >= sample.match


@pytest.mark.parametrize("shape", BOOK.events, ids=lambda shape: shape.kind)
def test_a_pattern_means_the_same_with_and_without_a_time_limit(shape: EventShape) -> None:
    quick, limited = (Shapes((shape_of(shape, checked=checked),)) for checked in (True, False))
    for sample in shape.sample:
        assert events_in(quick, sample.line) == events_in(limited, sample.line)


def test_every_rule_has_a_near_miss_and_says_what_it_does_not_prove() -> None:
    assert [rule.id for rule in BOOK.rules if all(sample.match for sample in rule.sample)] == []
    assert [rule.id for rule in BOOK.rules if not rule.not_proof_of.strip()] == []


def test_every_rule_that_finds_a_fault_says_what_to_do() -> None:
    assert [rule.id for rule in BOOK.rules if rule.severity == "error" and not rule.fix] == []


def test_the_front_ends_use_these_rules() -> None:
    assert {rule.id for rule in BOOK.rules} <= {rule.id for rule in rulebook().rules}


def test_rules_about_two_sides_are_told_by_their_ids_and_no_log_waits_for_them() -> None:
    between = {"pair", "path", "node-setting", "name"}
    about = {rule.id for rule in BOOK.rules if between & {match.subject for match in rule.match}}
    eight = {rule.id for rule in BOOK.rules if rule.id.startswith(BETWEEN)}
    assert about <= eight
    assert {rule.id for rule in BOOK.rules} - {rule.id for rule in load(but=BETWEEN).rules} == eight
    # Their names are told by their files, which are not read where they are left out.
    files = {path.stem for path in rule_files((builtin_folder(),))}
    assert {f"{rule.id}-{rule.name}" for rule in BOOK.rules if rule.id in eight} <= files
