"""NCCL versions as numbers."""

from __future__ import annotations

import pytest

from ncclcheck.logs.versions import Version, at_least, version_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2.18.6+cuda12.4", (2, 18, 6)),
        ("2.28", (2, 28)),
        ("2.4.8.1", (2, 4, 8)),
        ("", None),
        (None, None),
        ("unknown", None),
    ],
)
def test_version_of(text: str | None, expected: Version | None) -> None:
    assert version_of(text) == expected


@pytest.mark.parametrize(("text", "expected"), [("2.23.4", True), ("2.22.3", False), (None, None), ("2.23", True)])
def test_at_least(text: str | None, *, expected: bool | None) -> None:
    assert at_least(text, (2, 23)) is expected
