"""Reading: whatever people have, with its line numbers, within time and memory."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ncclcheck.errors import SourceError
from ncclcheck.logs.sources import LONGEST, Source, excerpts, open_sources, pasted, read
from ncclcheck.model import Where
from tests.yardstick import in_time


def lines_of(name: str | Path) -> list[tuple[int, str]]:
    """Number and text of each line behind a name."""
    return [(where.line, text) for source in open_sources([str(name)]) for where, text in read(source)]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b"\n", [(1, "")]),
        (b"one", [(1, "one")]),
        (b"one\ntwo\n", [(1, "one"), (2, "two")]),
        (b"one\r\ntwo\r\n", [(1, "one"), (2, "two")]),
        (b"one\r\ntwo", [(1, "one"), (2, "two")]),
        (b"eth1\r\nnext\nlast\n", [(1, "eth1\r"), (2, "next"), (3, "last")]),
        (b"\xef\xbb\xbfone\n", [(1, "one")]),
        ("one\ntwo\n".encode("utf-16"), [(1, "one"), (2, "two")]),
        (b"\xfe\xff" + "one\nzwö".encode("utf-16-be"), [(1, "one"), (2, "zwö")]),
        (b"a\xffb\n\x00\n", [(1, "a\ufffdb"), (2, "\x00")]),
        ("漢字\n".encode(), [(1, "漢字")]),
        (gzip.compress(b"one\ntwo\n"), [(1, "one"), (2, "two")]),
    ],
)
def test_reads_every_line_with_its_number(tmp_path: Path, content: bytes, expected: list[tuple[int, str]]) -> None:
    path = tmp_path / "job.log"
    path.write_bytes(content)
    assert lines_of(path) == expected


def test_a_line_without_end_is_cut_and_read_in_time(tmp_path: Path) -> None:
    path = tmp_path / "one-line.log"
    path.write_bytes(b"x" * 10_000_000)
    found = in_time(lambda: lines_of(path), 2)
    assert {number for number, _ in found} == {1}
    assert max(len(text) for _, text in found) <= LONGEST
    assert sum(len(text) for _, text in found) >= 10_000_000


def test_a_folder_stands_for_its_logs(tmp_path: Path) -> None:
    for name in ("b.log", "a.txt", "deep/c.err", "picture.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x\n")
    names = [Path(source.name).name for source in open_sources([str(tmp_path)])]
    assert names == ["a.txt", "b.log", "c.err"]


@pytest.mark.parametrize("make", [lambda path: None, Path.mkdir])
def test_what_is_not_there_is_an_error_with_its_name(tmp_path: Path, make: object) -> None:
    path = tmp_path / "nothing"
    make(path)  # type: ignore[operator]
    with pytest.raises(SourceError) as raised:
        open_sources([str(path)])
    assert raised.value.place == str(path)
    assert raised.value.next_step


def test_a_file_of_another_user_is_an_error_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "secret.log"
    path.write_text("x")
    path.chmod(0)
    child = os.fork()
    if child == 0:
        if os.geteuid() == 0:  # Root may read everything.
            os.setuid(65534)
        os._exit(0 if _refused(path) else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def _refused(path: Path) -> bool:
    try:
        open_sources([str(path)])
    except SourceError as error:
        return error.place == str(path)
    return False


def test_a_pipe_is_read_once_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=("one\ntwo\n",))
    writer.start()
    (source,) = open_sources([str(path)])
    writer.join()
    assert [text for _, text in read(source)] == [text for _, text in read(source)] == ["one", "two"]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"one\n")))
    assert lines_of("-") == [(1, "one")]


def test_a_broken_archive_is_an_error_not_half_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "job.log.gz"
    path.write_bytes(gzip.compress(b"one\n" * 1000)[:-20])
    with pytest.raises(SourceError):
        lines_of(path)


def test_evidence_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    path.write_text("one\ntwo\nthree\n")
    second = Where(str(path), 2)
    assert excerpts(open_sources([str(path)]), [second, Where("other", 1)]) == {second: "two"}


@given(some.lists(some.text(alphabet=some.characters(exclude_categories=("Cs",), exclude_characters="\n\r\ufeff"))))
def test_pasted_text_keeps_every_line(lines: list[str]) -> None:
    assert [line for _, line in read(pasted("".join(f"{line}\n" for line in lines), "pasted"))] == lines


@given(some.binary(max_size=500) | some.binary(max_size=50).map(lambda tail: gzip.compress(b"one\n" * 9)[:12] + tail))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    source = Source("x", content=content)
    packed = content.startswith(b"\x1f\x8b")
    with contextlib.suppress(*(SourceError,) if packed else ()):
        assert all(where.source == "x" for where, _ in read(source))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_from_windows_with_and_without_its_mark(encoding: str) -> None:
    text = "node-a:1:1 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.11<0>\r\n" * 40
    source = Source(name="windows.log", content=text.encode(encoding))
    assert [line for _, line in read(source)] == text.split("\r\n")[:-1]
