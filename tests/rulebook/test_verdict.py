"""The answer in one word: healthy only where every rank is seen to work."""

from __future__ import annotations

import pytest

from ncclcheck.doctor.diagnose import diagnose_text
from ncclcheck.model import Verdict

A, B = "node-a:1:1 [0] NCCL INFO", "node-b:2:2 [0] NCCL INFO"
VERSION = "NCCL version 2.28.9+cuda13.0"


def ready(rank: int) -> str:
    """A rank's Init COMPLETE."""
    return f"ncclCommInitRank comm 0x{rank + 1} rank {rank} nranks 2 cudaDev 0 busId 30 commId 0x7 - Init COMPLETE"


def gone(rank: int) -> str:
    """A rank's orderly end."""
    return f"comm 0x{rank + 1} rank {rank} nranks 2 cudaDev 0 busId 30 - Destroy COMPLETE"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([], Verdict.UNKNOWN),
        (["nothing of NCCL's"], Verdict.UNKNOWN),
        ([f"{A} {VERSION}", f"{A} {ready(0)}", f"{B} {ready(1)}"], Verdict.UNKNOWN),
        ([f"{A} {VERSION}", f"{A} {ready(0)}", f"{A} {gone(0)}"], Verdict.UNKNOWN),
        ([f"{A} {VERSION}", f"{A} {ready(0)}", f"{B} {ready(1)}", f"{A} {gone(0)}", f"{B} {gone(1)}"], Verdict.HEALTHY),
    ],
)
def test_verdict(lines: list[str], expected: Verdict) -> None:
    answer = diagnose_text("\n".join(lines))
    assert answer.verdict is expected
    assert bool(answer.unknown) is (expected is Verdict.UNKNOWN)
