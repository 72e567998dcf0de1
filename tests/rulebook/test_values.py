"""Settings that somebody spoilt."""

from __future__ import annotations

import pytest

from ncclcheck.rulebook.values import setting_marks


@pytest.mark.parametrize(
    ("value", "marks"),
    [
        ("eth1", {"clean": "eth1", "first_name": "eth1", "exclusion": False, "exact": False}),
        ("eth1  # mine", {"comment": True, "spoilt": True, "clean": "eth1"}),
        ('"eth1"', {"quotes": True, "spoilt": True, "clean": "eth1"}),
        (" eth1", {"blanks": True, "spoilt": True, "clean": "eth1"}),
        ("eth1\r", {"carriage_return": True, "spoilt": True, "clean": "eth1", "shown": "eth1\\r"}),
        ("^docker0", {"exclusion": True, "lets_loopback_in": True}),
        ("^lo,docker", {"exclusion": True, "lets_loopback_in": False}),
        ("^l", {"lets_loopback_in": False}),
        ("^=l", {"lets_loopback_in": True, "exact": True}),
        ("=eth1", {"exact": True, "first_name": "eth1"}),
    ],
)
def test_marks(value: str, marks: dict[str, str | bool]) -> None:
    found = setting_marks("NCCL_SOCKET_IFNAME", value)
    assert {name: found.get(name) for name in marks} == marks


def test_a_plain_value_is_not_spoilt() -> None:
    assert setting_marks("NCCL_NET", "Socket") == {"spoilt": None, "clean": "Socket", "shown": "Socket"}
