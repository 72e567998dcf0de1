"""The offset index: every row of every kind of text is found, with the number that its diagnosis knows."""

from __future__ import annotations

import gzip
import os
import threading
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncclcheck.errors import SourceError
from ncclcheck.logs import sources
from ncclcheck.logs.sources import Source, open_sources
from ncclcheck.model import Where
from ncclcheck.tui.text import document, lines, stores
from ncclcheck.tui.text.document import Document, annotated, every, pasted
from ncclcheck.tui.text.lines import Lines
from tests.tui import fake

Numbered = list[tuple[int, str]]


def indexed(source: Source) -> Lines:
    """A text, known to its end."""
    text = begun(source)
    while text.grow():
        pass
    return text


def begun(source: Source, *, keep_open: bool = True) -> Lines:
    """A text with its first rows."""
    kept, dos = stores.store(source, stores.Spool(), keep_open=keep_open)
    text = Lines(source.name, kept, dos=dos)
    text.grow()
    return text


def as_diagnosed(source: Source) -> Numbered:
    """What a diagnosis reads, the pieces of a line put together."""
    return together((where.line, text) for where, text in sources.read(source))


def as_shown(text: Lines) -> Numbered:
    """What can be looked at, the rows of a line put together."""
    return together((text.number(row), text.text(row)) for row in range(text.rows))


def together(pieces: object) -> Numbered:
    """A text a line."""
    assert hasattr(pieces, "__iter__")
    return [(number, "".join(text for _, text in of)) for number, of in groupby(pieces, key=lambda piece: piece[0])]


@given(st.lists(st.sampled_from([b"\n", b"a", b"\r\n", "漢".encode(), b"\xff", b"\xe6\n", b"\t\x1b[1m", b"bcd\r"])))
def test_lines_are_those_of_the_diagnosis(parts: list[bytes]) -> None:
    source = Source("x", content=b"".join(parts))
    assert as_shown(indexed(source)) == as_diagnosed(source)


@given(st.lists(st.tuples(st.sampled_from([0, 1, 15, 16, 17, 31, 32, 33, 90]), st.booleans()), max_size=12), st.data())
def test_long_lines_are_cut_and_keep_their_number(shapes: list[tuple[int, bool]], data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(lines, "BLOCK", 16)
        content = b"".join(bytes([97 + n % 26]) * size + b"\n" * end for n, (size, end) in enumerate(shapes))
        source = Source("x", content=content)
        text = indexed(source)
        assert as_shown(text) == as_diagnosed(source)
        rows = [(where.line, row) for where, row in text.from_row(0, text.rows)]
        assert rows == [(text.number(row), text.text(row)) for row in range(text.rows)]
        assert all(len(row) < 32 for _, row in rows)
        if text.rows:
            begin = data.draw(st.integers(0, text.rows - 1))
            assert [row for _, row in text.from_row(begin, text.rows)] == [row for _, row in rows[begin:]]
        for number in range(1, (rows[-1][0] if rows else 0) + 1):
            first = next(row for row, (line, _) in enumerate(rows) if line == number)
            assert text.row_of(number) == first


def test_a_line_behind_the_end_is_nowhere() -> None:
    text = indexed(sources.pasted("a\nb", "x"))
    assert (text.row_of(2), text.row_of(3), text.row_of(0)) == (1, None, None)


@pytest.mark.parametrize("name", ["log.gz", "utf16.log", "bom.log", "dos.log"])
def test_what_has_to_be_decoded_first_is_shown_alike(tmp_path: Path, name: str) -> None:
    told = "".join(f"node-a:1:1 [0] NCCL INFO line {n} ä\n" for n in range(5000))
    path = tmp_path / name
    if name == "log.gz":
        path.write_bytes(gzip.compress(told.encode()))
    else:
        encoding = {"utf16.log": "utf-16", "bom.log": "utf-8-sig", "dos.log": "utf-8"}[name]
        path.write_bytes((told.replace("\n", "\r\n") if name == "dos.log" else told).encode(encoding))
    (source,) = open_sources([str(path)])
    text = indexed(source)
    assert as_shown(text) == as_diagnosed(source) == [(n, line) for n, line in enumerate(told.splitlines(), 1)]
    assert text.store.follows == (name == "dos.log")


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "core").write_bytes(bytes(range(256)) * 100)
    with pytest.raises(SourceError, match="no text"):
        document.opened("core", open_sources([str(tmp_path / "core")]))
    whole = gzip.compress(os.urandom(3_000_000).hex().encode())
    (tmp_path / "half.gz").write_bytes(whole[: len(whole) // 2])
    text = begun(*open_sources([str(tmp_path / "half.gz")]))
    assert text.rows, "what could be unpacked is there"
    with pytest.raises(SourceError, match=r"half\.gz"):
        list(iter(text.grow, False))


def test_no_room_to_unpack_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "log.gz").write_bytes(gzip.compress(b"a\n"))
    monkeypatch.setattr(stores.tempfile, "TemporaryFile", lambda **_: Path("/dev/full").open("wb"))  # noqa: SIM115
    with pytest.raises(SourceError, match="cannot be unpacked"):
        begun(*open_sources([str(tmp_path / "log.gz")]))


def test_a_log_that_grows(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    path.write_text("one\ntw")
    (source,) = open_sources([str(path)])
    text = indexed(source)
    assert (text.rows, text.ended, text.begun) == (2, 1, True)
    with path.open("a") as log:
        log.write("o\n" + "x" * 200_000)
    while text.grow():
        pass
    assert [text.text(0), text.text(1)] == ["one", "two"]
    assert together((where.line, row) for where, row in text.from_row(2, text.rows)) == [(3, "x" * 200_000)]
    with path.open("a") as log:
        log.write("y\nend\n")
    while text.grow():
        pass
    assert (text.text(text.rows - 1), text.number(text.rows - 1), text.ended) == ("end", 4, text.rows)
    assert text.row_of(4) == text.rows - 1
    assert not text.store.replaced()


@pytest.mark.parametrize("keep_open", [True, False])
def test_a_log_that_is_truncated_or_rotated(tmp_path: Path, keep_open: bool) -> None:
    path = tmp_path / "job.log"
    path.write_text("one\ntwo\n")
    (source,) = open_sources([str(path)])
    text = begun(source, keep_open=keep_open)
    path.rename(tmp_path / "job.log.1")
    assert not text.store.replaced(), "the next one is not there yet"
    assert not text.grow()
    path.write_text("new\n")
    assert text.store.replaced()
    text = begun(source, keep_open=keep_open)
    path.write_text("")
    assert text.store.replaced()
    assert not text.grow()
    assert text.text(0) == "", "what is gone is shown as nothing"


def test_any_thread_may_index() -> None:
    text = begun(sources.pasted("line\n" * 3_000_000, "x"))
    threads = [threading.Thread(target=lambda: [None for _ in iter(text.grow, False)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (text.rows, text.ended, text.text(2_999_999)) == (3_000_000, 3_000_000, "line")


# Documents -----------------------------------------------------------------------------------------------------------


@given(st.lists(st.lists(st.text(alphabet="ab\t\x1b", max_size=5), min_size=1, max_size=6), min_size=1, max_size=4))
def test_every_place_is_found_again(texts: list[list[str]]) -> None:
    made = several(*("".join(f"{line}\n" for line in text) for text in texts))
    places = [Where(f"s{number}", line) for number, text in enumerate(texts) for line in range(1, len(text) + 1)]
    headed = [index for index, row in enumerate(every(made)) if row.where.line]
    assert [made.row_of(place) for place in places] == headed
    assert [made.row(index).where for index in headed] == places
    assert made.row_of(Where("s0", len(texts[0]) + 1)) is None
    assert made.row_of(Where("nowhere", 1)) is None
    assert made.lines == len(places)


def several(*texts: str) -> Document:
    """A document of texts named s0, s1 …"""
    made = document.opened("all", [sources.pasted(text, f"s{number}") for number, text in enumerate(texts)])
    return whole(made)


def whole(made: Document) -> Document:
    """A document known to its end."""
    for text in made.texts:
        while text.grow():
            pass
    return made.grown()


def test_a_document_knows_its_evidence() -> None:
    made = annotated(pasted("a\nb\nc\nd\n", "pasted", "a text"), fake.Doctor().diagnosis("pasted"))
    assert made.trail == ((0, Where("pasted", 1)), (0, Where("pasted", 4)), (1, Where("pasted", 3)))
    assert {where.line: severity.name for where, severity in made.marks.items()} == {1: "ERROR", 4: "ERROR", 3: "INFO"}
    assert made.text_at(Where("pasted", 3)) == "c"
    assert made.text_at(Where("elsewhere", 3)) == ""


def test_a_folder_of_more_files_than_may_be_open(tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / f"{number:03}.log").write_text(f"of {number}\n")
    before = len(os.listdir("/proc/self/fd"))
    made = whole(document.opened("all", open_sources([str(tmp_path)])))
    assert len(os.listdir("/proc/self/fd")) == before
    assert made.text_at(Where(str(tmp_path / "150.log"), 1)) == "of 150"


def test_no_file_stays_open_behind_a_document(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("a\n")
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"b\n"))
    before = len(os.listdir("/proc/self/fd"))
    made = document.opened("all", open_sources([str(tmp_path)]))
    made.texts[1].grow()
    assert len(os.listdir("/proc/self/fd")) > before + 1
    del made
    assert len(os.listdir("/proc/self/fd")) == before


def test_an_older_value_never_takes_rows_away() -> None:
    early = document.opened("x", [sources.pasted("a\n" * 3_000_000, "x")])
    late = whole(early)
    assert early.height < late.height
    assert late.extended(early) is late
    assert early.extended(late).height == late.height
    assert late.extended(late.grown()) is late


def test_many_packed_files_share_one_spool(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"{number:03}.gz").write_bytes(gzip.compress(f"of {number}\n".encode() * 30_000))
    before = len(os.listdir("/proc/self/fd"))
    made = document.opened("all", open_sources([str(tmp_path)]))
    for _ in range(3):  # In turns, as two workers may do.
        for text in made.texts:
            text.grow()
    assert len(os.listdir("/proc/self/fd")) == before + 1
    assert [text.text(29_999) for text in made.texts] == [f"of {number}" for number in range(30)]
