"""NCCL's line grammar through its versions."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ncclcheck.logs.records import Record, records
from ncclcheck.model import Process, Where

WHERE = Where("a.log", 7)
NODE = Process("a.log", "node-a", 10)
NOBODY = Process("a.log")


def record(text: str, **changed: object) -> Record:
    """A record of node-a's process 10, with some parts changed."""
    plain = Record(WHERE, NODE, thread=11, level="INFO", location="", function="", text=text, rank=None)
    return replace(plain, **changed)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("node-a:10:11 [0] NCCL INFO Using network Socket", record("Using network Socket")),
        ("node-a:10:11 [-1] NCCL INFO Using network Socket", record("Using network Socket")),
        ("node-a:10:11 NCCL CALL ncclGroupStart()", record("ncclGroupStart()", level="CALL")),
        ("node-a:10:11 [0] 12.345678 NCCL TRACE x", record("x", level="TRACE")),
        ("NCCL version 2.18.6+cuda12.4", record("NCCL version 2.18.6+cuda12.4", process=NOBODY, thread=None, level="")),
        (
            "node-a:10:11 [0] init.cc:123 NCCL WARN bad",
            record("bad", level="WARN", location="init.cc:123"),
        ),
        (
            "[2026-01-02 10:11:12] node-a:10:11 [0] misc/socket.cc:12 (ncclSocketConnect) NCCL WARN bad",
            record("bad", level="WARN", location="misc/socket.cc:12", function="ncclSocketConnect"),
        ),
        (
            "node-a:10:11 [0] NCCL INFO bootstrap.cc:12 (bootstrapInit) it failed",
            record("it failed", location="bootstrap.cc:12", function="bootstrapInit"),
        ),
        ("NCCL INFO Using network Socket", record("Using network Socket", process=NOBODY, thread=None)),
        (
            "[rank3]: node-a:10:11 [0] NCCL INFO Using network Socket",
            record("Using network Socket", rank=3),
        ),
        ("node-a:10:11 [0] NCCL INFO", record("")),
        ("plain words", record("plain words", process=NOBODY, thread=None, level="")),
    ],
)
def test_reads_the_prefixes_of_all_versions(line: str, expected: Record) -> None:
    assert tuple(records(WHERE, line)) == (expected,)


def test_the_device_is_never_the_rank() -> None:
    (found,) = records(WHERE, "node-a:10:11 [5] NCCL INFO x")
    assert found.rank is None


def test_takes_glued_records_apart() -> None:
    line = "step 3 node-a:10:11 [0] NCCL INFO one node-a:10:12 [1] NCCL INFO two"
    assert tuple(records(WHERE, line)) == (
        record("step 3", process=NOBODY, thread=None, level=""),
        record("one"),
        record("two", thread=12),
    )


HEADS = ["node-a:10:11 [0] ", "[rank1]: node-b:7:8 [-1] ", "x ", "2026-01-02T10:11:12Z 0: ", "[1,2]<stdout>:", "", "> "]
TEXTS = some.text(alphabet="ab (.:)<>0/[]", max_size=30)


@given(some.sampled_from(HEADS), some.sampled_from(["INFO", "WARN", "TRACE", "OTHER"]), TEXTS)
def test_the_short_way_reads_what_the_long_way_reads(head: str, level: str, text: str) -> None:
    line = f"{head}NCCL {level} {text}".rstrip()
    # A terminal escape at the end makes the line take the long way, and is dropped on it.
    assert tuple(records(WHERE, line)) == tuple(records(WHERE, f"{line}\x1b[0m"))


@given(some.text(max_size=300))
def test_any_line_is_read(line: str) -> None:
    assert all(isinstance(found.text, str) for found in records(WHERE, line))
