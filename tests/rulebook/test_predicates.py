"""The closed vocabulary of conditions."""

from __future__ import annotations

import pytest

from ncclcheck.rulebook.predicates import joins, meets
from ncclcheck.rulebook.schema import Also, Bound, Condition
from ncclcheck.rulebook.subject import Subject, Value


def subject(**values: Value) -> Subject:
    """Something with attributes."""
    return Subject("rank", dict(values), ())


@pytest.mark.parametrize(
    ("value", "condition", "expected"),
    [
        ("refused", "refused", True),
        ("refused", "timed-out", False),
        ("refused", ("timed-out", "refused"), True),
        (3, 3, True),
        (3, (1, 2), False),
        (True, True, True),
        (False, True, False),
        (("a", "b"), "b", True),
        (("a", "b"), ("c", "b"), True),
        (("a", "b"), "c", False),
        (3, Bound(min=3), True),
        (3, Bound(max=2), False),
        (3, Bound(min=1, max=5), True),
        ("3", Bound(min=1), False),
        ("eth10", Bound(pattern="^eth1"), True),
        ("ib0", Bound(pattern="^eth1"), False),
        ("lo", Bound(is_not=("lo", "docker0")), False),
        ("eth0", Bound(is_not=("lo", "docker0")), True),
        ("eth0", Bound(present=True), True),
        ("eth0", Bound(present=False), False),
    ],
)
def test_conditions(value: Value, condition: Condition, *, expected: bool) -> None:
    assert meets(subject(x=value), {"x": condition}) is expected


@pytest.mark.parametrize("condition", ["a", ("a",), Bound(min=0), Bound(pattern="."), Bound(is_not=("a",))])
def test_what_is_not_known_meets_nothing(condition: Condition) -> None:
    assert meets(subject(), {"x": condition}) is False


def test_that_something_is_not_known_can_be_asked_for() -> None:
    assert meets(subject(), {"x": Bound(present=False)}) is True


def test_a_runaway_pattern_does_not_match() -> None:
    assert meets(subject(x="a" * 5000 + ".!"), {"x": Bound(pattern=r"^(?: ?\w+)+!")}) is False


@pytest.mark.parametrize(
    ("also", "expected"),
    [
        (Also("rank", same=("host",)), True),
        (Also("rank", same=("rank",)), False),
        (Also("rank", same=("nowhere",)), False),
        (Also("rank", differ=("rank",)), True),
        (Also("rank", differ=("host",)), False),
        (Also("rank", differ=("only",)), False),
        (Also("rank", where={"rank": 2}, same=("host",)), True),
        (Also("rank", where={"rank": 3}, same=("host",)), False),
    ],
)
def test_joins(also: Also, *, expected: bool) -> None:
    assert joins(also, subject(host="a", rank=1, only=1), subject(host="a", rank=2)) is expected


def test_nothing_joins_itself() -> None:
    one = subject(host="a")
    assert joins(Also("rank"), one, one) is False
