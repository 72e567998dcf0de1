"""Choosing rules by id, by beginning of ids, by name and by cause."""

from __future__ import annotations

import pytest

from ncclcheck.doctor.diagnose import rulebook
from ncclcheck.errors import RuleError
from ncclcheck.rulebook.select import selected


def ids(select: tuple[str, ...], ignore: tuple[str, ...] = ()) -> list[str]:
    """The ids that are left."""
    return sorted(rule.id for rule in selected(rulebook(), select, ignore).rules)


def test_names() -> None:
    assert ids(("NC101",)) == ids(("nc101",)) == ["NC101"]
    assert ids(("NC10", "conf-file"), ("NC101",))[0] == "NC102"
    assert "NC101" in ids(("wrong-interface",))
    assert ids(()) == sorted(rule.id for rule in rulebook().rules)
    assert "NC101" not in ids((), ("NC1",))


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(RuleError) as raised:
        ids(("wrong-interfaze",))
    assert raised.value.next_step == "did you mean wrong-interface?"
