"""What is found in a log, and what a filter leaves: as if each line had been asked by itself."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncclcheck.doctor.diagnose import diagnose
from ncclcheck.logs import sources
from ncclcheck.logs.records import records
from ncclcheck.logs.sources import open_sources
from ncclcheck.model import Where
from ncclcheck.tui.text import document, filters, lines, sieve
from ncclcheck.tui.text.document import Document, every
from ncclcheck.tui.text.filters import Filter
from ncclcheck.tui.text.row_parts import Part, parts
from ncclcheck.tui.text.scan import Kept, Scan
from ncclcheck.tui.text.sieve import Search
from tests.cases import ROOT

CASE = ROOT / "fixtures" / "logs" / "wrong-interface" / "2.28.9-refused-2x4"


def made(*texts: str) -> Document:
    """A document of texts named s0, s1 …, known to its end."""
    return whole(document.opened("all", [sources.pasted(text, f"s{at}") for at, text in enumerate(texts)]))


def whole(text: Document) -> Document:
    """A document known to its end."""
    for part in text.texts:
        while part.grow():
            pass
    return text.grown()


def found(text: Document, search: Search) -> list[Where]:
    """Where a search finds something."""
    return kept_places(scanned(text, Scan(text, search.sieve_for)))


def scanned(text: Document, scan: Scan) -> Kept:
    """A scan that went to the end."""
    for _ in scan.run():
        pass
    return scan.kept(text)


def kept_places(kept: Kept) -> list[Where]:
    """The lines that are left."""
    return [row.where for row in every(kept) if row.where.line]


# Searches ------------------------------------------------------------------------------------------------------------


@given(
    st.lists(st.text(alphabet="abAB漢\n", max_size=20), min_size=1, max_size=3),
    st.sampled_from(["a", "ab", "A", "b+a", "^a", "a$", "[^b]", "a.*b", "(", "a(?!b)", r"\s", "x*", "漢", "^$"]),
)
def test_a_search_asks_every_line(texts: list[str], words: str) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(lines, "BLOCK", 8)
        text = made(*texts)
        case = re.IGNORECASE if words == words.lower() else 0
        pattern = re.compile(re.escape(words) if words == "(" else words, case)
        rows = [row for row in every(text) if row.where.line]
        assert found(text, Search(words)) == [row.where for row in rows if pattern.search(row.raw)]


def test_what_is_no_expression_is_taken_letter_by_letter() -> None:
    text = made("f(x\nfx\n")
    search = Search("f(x")
    assert found(text, search) == [Where("s0", 1)]
    assert (search.plain, search.because) == (True, "no regular expression")
    search = Search("f.?x")
    assert found(text, search) == [Where("s0", 1), Where("s0", 2)]
    assert (search.plain, search.because) == (False, "")


def test_an_expression_that_takes_too_long_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sieve, "LIMIT", 0.02)
    text = made("a" * 60 + "\n")
    with pytest.raises(TimeoutError):
        found(text, Search("(a|a)*$b|(a|aa)+c"))
    assert found(text, Search("(a|aa)+$", because="too long")) == []


def test_a_search_goes_on_where_the_log_does(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text("hit 1\nno\nhit")
    text = whole(document.opened("log", open_sources([str(log)])))
    scan = Scan(text, Search("hit").sieve_for)
    assert [where.line for where in kept_places(scanned(text, scan))] == [1, 3]
    with log.open("a") as more:
        more.write(" 2\n" + "no\n" * 50_000 + "hit 3\nhit 4")
    text = whole(text)
    assert [where.line for where in kept_places(scanned(text, scan))] == [1, 3, 50004, 50005]
    assert [where.line for where in kept_places(scanned(text, scan))] == [1, 3, 50004, 50005]


def test_from_hit_to_hit_round_the_ends() -> None:
    text = made("no\nhit\nno\n", "no\n", "hit\nhit\n")
    kept = scanned(text, Scan(text, Search("hit").sieve_for))
    hits = [Where("s0", 2), Where("s2", 1), Where("s2", 2)]
    assert [row.where for row in every(kept)] == [Where("s0", 0), hits[0], Where("s2", 0), hits[1], hits[2]]

    def from_(where: Where, step: int) -> Where:
        row = kept.after(where, step)
        assert row is not None
        return kept.row(row).where

    assert [from_(where, 1) for where in (*hits, Where("s0", 1), Where("s1", 1), Where("s2", 0))] == [
        *hits[1:],
        hits[0],
        hits[0],
        hits[1],
        hits[1],
    ]
    assert [from_(where, -1) for where in (*hits, Where("s0", 1), Where("s1", 1))] == [
        hits[2],
        hits[0],
        hits[1],
        hits[2],
        hits[0],
    ]
    assert [kept.number(where) for where in hits] == [1, 2, 3]
    assert kept.number(Where("s1", 1)) is None
    assert kept.first_from(Where("s2", 3)) is None
    none = scanned(text, Scan(text, Search("nothing").sieve_for))
    assert (none.height, none.after(hits[0], 1), none.after(hits[0], -1), none.row_of(hits[0])) == (0, None, None, None)


@given(st.lists(st.text(alphabet="ab\n", max_size=12), min_size=1, max_size=4))
def test_rows_that_are_left_are_found_again(texts: list[str]) -> None:
    text = made(*texts)
    kept = scanned(text, Scan(text, Search("a").sieve_for))
    places = [row.where for row in every(kept)]
    assert [kept.row_of(where) for where in places] == list(range(kept.height))
    for row in every(text):
        if row.where.line and "a" not in row.raw:
            assert kept.row_of(row.where) is None
            # The view goes to what comes next.
            later = [at for at, where in enumerate(places) if text.near(where) > text.near(row.where)]
            assert kept.near(row.where) == (later[0] if later else max(0, kept.height - 1))


# Filters -------------------------------------------------------------------------------------------------------------


def prefixed(number: int, line: str) -> str:
    """A line as each launcher shows it."""
    return [f"[rank{number}]: {line}", f"[1,{number}]<stdout>:{line}", f"{number}: {line}", line][len(line) % 4]


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All ranks of a job in one file, line by line in turns, with lines of the program between."""
    log = tmp_path_factory.mktemp("log") / "job.log"
    texts = [path.read_text().splitlines() for path in sorted(CASE.glob("*.log"))]
    told = []
    for at in range(max(map(len, texts))):
        told += [prefixed(number, text[at]) for number, text in enumerate(texts) if at < len(text)]
        told.append(f"[rank{at % 8}]: loss {at}")
        told.append("nobody knows who prints this")
    log.write_text("\n".join(told) + "\n")
    return log


def left(log: Path, label: str) -> list[str]:
    """The lines that a filter leaves."""
    text = whole(document.opened("log", open_sources([str(log)])))
    chosen = next(one for one in filters.choices(diagnose([str(log)])) if one.label.startswith(label))
    return [row.raw for row in every(narrowed(text, chosen)) if row.where.line]


def narrowed(text: Document, chosen: Filter) -> Kept:
    """What a filter leaves of a document."""
    scan = Scan(text, chosen.sieve_for)
    if chosen.places is not None:
        scan.take(chosen.places)
        return scan.kept(text)
    return scanned(text, scan)


@pytest.mark.parametrize("rank", [0, 3, 7])
def test_a_rank_has_its_own_lines_whoever_wrapped_them(together: Path, rank: int) -> None:
    path = sorted(CASE.glob("*.log"))[rank]
    own = [line for line in path.read_text().splitlines() if "NCCL" in line]
    shown = left(together, f"rank {rank}")
    assert [line for line in shown if "loss" not in line and "NCCL" in line] == [prefixed(rank, line) for line in own]
    assert [line for line in shown if "loss" in line] == [
        line for line in together.read_text().splitlines() if line.startswith(f"[rank{rank}]: loss")
    ]
    assert not [line for line in shown if "nobody" in line]


def test_a_rank_with_a_log_of_its_own_has_all_of_it() -> None:
    text = whole(document.opened("job", open_sources([str(CASE)])))
    chosen = next(one for one in filters.choices(diagnose([str(CASE)])) if one.label == "rank 5")
    kept = narrowed(text, chosen)
    path = sorted(CASE.glob("*.log"))[5]
    assert [row.raw for row in every(kept) if row.where.line] == path.read_text().splitlines()
    assert kept.row(0).where == Where(str(path), 0)


def test_a_host_a_level_a_finding(together: Path) -> None:
    every_line = together.read_text().splitlines()
    assert {next(iter(records(Where("x", 0), line))).process.host for line in left(together, "host node-b")} >= {
        "node-b"
    }
    assert not [line for line in left(together, "host node-b") if "node-a:" in line]
    assert left(together, "level WARN") == [line for line in every_line if "NCCL WARN" in line] != []
    assert left(together, "no level") == [line for line in every_line if "NCCL" not in line] != []
    evidence = diagnose([str(together)]).findings[0].evidence
    assert left(together, "evidence of NC101") == [every_line[where.line - 1] for where in evidence]
    assert len(left(together, "stage bootstrap")) > 100


def test_choices_are_found_by_typing(together: Path) -> None:
    known = list(filters.choices(diagnose([str(together)])))
    assert [one.label for one in filters.matching("rank 3", known)] == ["rank 3"]
    assert filters.matching("rank", known)[0].label == "rank 0", "what begins so comes first"
    assert [one.label for one in filters.matching("b host", known)] == ["host node-b"]
    assert filters.matching("rank 33", known) == []
    assert [one.label for one in filters.choices(None)][:2] == ["level WARN", "level INFO"]


def test_thousands_of_ranks_are_asked_by_their_prefix_alone(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    head = "[rank{n}]: node-{h}:{pid}:{pid} [0] NCCL INFO "
    told = []
    for n in range(120):
        at = head.format(n=n, h=n // 60, pid=1000 + n)
        told.append(f"{at}Bootstrap: Using eth0:10.0.0.{n}<0>")
        told.append(f"{at}comm 0x1 rank {n} nranks 120 cudaDev 0 busId 1 - Init COMPLETE")
    log.write_text("\n".join(told) + "\n")
    assert left(log, "host node-1") == [line for line in told if "node-1:" in line]
    assert left(log, "rank 11") == [line for line in told if line.startswith("[rank11]:")]


# Parts of a row ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "word", "told"),
    [
        ("[rank3]: node-a:1:1 [0] NCCL INFO x", "", [(Part.PREFIX, "[rank3]: ")]),
        ("[rank3]: ", "", [(Part.PREFIX, "[rank3]: ")]),
        ("node-a:1:1 [0] NCCL WARN x", "", [(Part.WARN, "NCCL WARN")]),
        (
            "[1,3]<stdout>:x NCCL WARN y",
            "warn",
            [(Part.PREFIX, "[1,3]<stdout>:"), (Part.WARN, "NCCL WARN"), (Part.HIT, "WARN")],
        ),
        ("a[a", "[", [(Part.HIT, "[")]),
        ("aA", "A", [(Part.HIT, "A")]),
        ("", "x", []),
    ],
)
def test_parts_of_a_line(line: str, word: str, told: list[tuple[Part, str]]) -> None:
    assert [(part, line[begin:end]) for part, begin, end in parts(line, line, word)] == told


def test_where_a_line_is_shown_otherwise_only_what_is_sought_stands_out() -> None:
    raw = "[rank3]: \x1b[1mNCCL WARN"
    assert [part for part, *_ in parts(raw, document.shown(raw), "warn")] == [Part.HIT]
