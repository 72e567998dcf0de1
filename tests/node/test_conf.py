"""nccl.conf as NCCL reads it, and edits that leave all else alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ncclcheck.node import conf
from ncclcheck.node.conf import Entry


@pytest.mark.parametrize(
    ("content", "nccl", "expected"),
    [
        (b"A=1\nB=2", "2.29.7", (Entry("A", "1", 1), Entry("B", "2", 2))),
        (b"A==eth1\n", "2.29.7", (Entry("A", "=eth1", 1),)),
        (b" A = 1 \n", "2.29.7", (Entry(" A ", " 1 ", 1),)),
        (b"A=1  # x\n", "2.29.7", (Entry("A", "1  # x", 1),)),
        (b"#A=1\n", "2.25.1", (Entry("#A", "1", 1),)),
        (b"#A=1\n", "2.26.2", ()),
        (b"A=1\r\n", "2.29.7", (Entry("A", "1\r", 1),)),
        (b"A=1\r\n", "2.30.3", (Entry("A", "1", 1),)),
        (b"A\n\n=1\n[nccl]\n", "2.29.7", ()),
        (b"A=1\0B=2\n", "2.29.7", (Entry("A", "1", 1),)),
        (b"A=\xff\n", "2.29.7", (Entry("A", "\udcff", 1),)),
        (b"A=" + b"x" * 2000, "2.29.7", (Entry("A", "x" * 1023, 1),)),
        (b"A=" + b"x" * 4093 + b"B=2\n", "2.29.7", (Entry("A", "x" * 1023, 1),)),
        (b"A=" + b"x" * 4093 + b"B=2\n", "2.30.7", (Entry("A", "x" * 1023, 1), Entry("B", "2", 1))),
        (b"", "2.29.7", ()),
    ],
)
def test_reads_what_nccl_reads(content: bytes, nccl: str, expected: tuple[Entry, ...]) -> None:
    assert conf.entries(content, nccl) == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", b"A=2\n"),
        (b"B=1\n", b"B=1\nA=2\n"),
        (b"B=1", b"B=1\nA=2\n"),
        (b"A=1\n", b"A=2\n"),
        (b"A=1", b"A=2"),
        (b"A=1\r\nB=1\r\n", b"A=2\nB=1\r\n"),
        (b"AA=1\n A=1\n#A=1\nA=1 # x\nA=3\n", b"AA=1\n A=1\n#A=1\nA=2\nA=3\n"),
    ],
)
def test_sets_one_name(before: bytes, after: bytes) -> None:
    assert conf.set_value(before, "A", "2") == after


def test_removes_every_line_of_a_name() -> None:
    assert conf.remove(b"# c\nA=1\nB=1\nA=2\n A=3\nA=4", "A") == b"# c\nB=1\n A=3\n"


NAMES = some.sampled_from(("A", "NCCL_DEBUG", "NCCL_SOCKET_IFNAME"))
LINES = some.one_of(some.binary(max_size=20), NAMES.map(lambda name: name.encode() + b"=x # y"))
FILES = some.lists(LINES, max_size=6).map(b"\n".join)
VALUES = some.text(some.characters(codec="ascii", exclude_characters="\0\r\n"), max_size=10)


@given(FILES, NAMES, VALUES)
def test_setting_keeps_every_other_byte(content: bytes, name: str, value: str) -> None:
    after = conf.set_value(content, name, value)

    others = [line for line in content.split(b"\n") if not line.startswith(name.encode() + b"=")]
    kept = [line for line in after.split(b"\n") if not line.startswith(name.encode() + b"=")]
    assert kept[: len(others)] == others
    assert kept[len(others) :] in ([], [b""])
    first = next(entry for entry in conf.entries(after, "2.29.7") if entry.name == name)
    assert first.value == value


@given(FILES, NAMES)
def test_removing_keeps_every_other_byte(content: bytes, name: str) -> None:
    after = conf.remove(content, name)

    kept = [line for line in conf.raw_lines(content) if not line.startswith(name.encode() + b"=")]
    assert conf.raw_lines(after) == tuple(kept)
    assert name not in [entry.name for entry in conf.entries(after, "2.29.7")]
