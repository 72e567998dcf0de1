"""The closed vocabulary of conditions: equals, one of, at least, at most, matches, is not, is known. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from ncclcheck.logs.events import PATTERN_LIMIT
from ncclcheck.rulebook.schema import Also, Bound, Condition
from ncclcheck.rulebook.subject import Subject, Value


def meets(subject: Subject, where: Mapping[str, Condition]) -> bool:
    """Whether all conditions hold; an attribute that is not known meets none, but ``present = false``."""
    return all(_holds(subject.values.get(name), condition) for name, condition in where.items())


def _holds(value: Value | None, condition: Condition) -> bool:
    if isinstance(condition, Bound):
        return _in_bounds(value, condition)
    if value is None:
        return False
    if isinstance(condition, tuple):
        return value in condition if not isinstance(value, tuple) else any(item in condition for item in value)
    return condition in value if isinstance(value, tuple) else value == condition


def _in_bounds(value: Value | None, bound: Bound) -> bool:
    if bound.present is not None:
        return (value is not None) is bound.present
    if value is None or (bound.is_not is not None and value in bound.is_not):
        return False
    if bound.pattern is not None and not _matches(bound.pattern, str(value)):
        return False
    return _between(value, bound.min, bound.max)


def _between(value: Value, least: float | None, most: float | None) -> bool:
    if least is None and most is None:
        return True
    if not isinstance(value, (int, float)):
        return False
    return (least is None or value >= least) and (most is None or value <= most)


def _matches(pattern: str, text: str) -> bool:
    import regex  # Few logs come as far as a condition with a pattern, and it takes long to load.

    try:
        return regex.search(pattern, text, timeout=PATTERN_LIMIT) is not None
    except TimeoutError:
        return False


def joins(also: Also, first: Subject, other: Subject) -> bool:
    """Whether the other subject is the one that the rule asks for beside the first."""
    if other is first or not meets(other, also.where):
        return False
    same = all(first.values.get(name) == other.values.get(name) is not None for name in also.same)
    pairs = ((first.values.get(name), other.values.get(name)) for name in also.differ)
    return same and all(left is not None and right is not None and left != right for left, right in pairs)
