"""Keys and pastes are told apart whatever pieces they come in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncclcheck.tui.terminal.pasted_bytes import BEGIN, END, HAND, Pasted, Splitter, Typed

LOG = "node-a:1:1 [0] NCCL INFO Bootstrap: Using eth0:172.17.0.2<0>\rq and quit\rü→😀\r"
READ = LOG.replace("\r", "\n")


def pieces(*reads: bytes, quiet: bool = True) -> list[Typed | Pasted]:
    """What the splitter makes of these reads; neighbouring keys are one piece."""
    splitter, found = Splitter(), list[Typed | Pasted]()

    def take(more: Iterator[Typed | Pasted]) -> None:
        for piece in more:
            if found and isinstance(piece, Typed) and isinstance(found[-1], Typed):
                found[-1] = Typed(found[-1].data + piece.data)
            else:
                found.append(piece)

    for read in reads:
        take(splitter.feed(read))
    if quiet:
        take(splitter.silence())
    return found


def cut(data: bytes, places: list[int]) -> list[bytes]:
    """The data in pieces."""
    ends = sorted({place % (len(data) + 1) for place in places})
    return [data[start:end] for start, end in zip([0, *ends], [*ends, len(data)], strict=True) if start < end]


@given(st.lists(st.integers(0, 10_000), max_size=40))
def test_a_paste_between_keys_arrives_whole_in_pieces_of_any_size(places: list[int]) -> None:
    data = b"\x1b[A1" + BEGIN + LOG.encode() + END + b"\x1b[<0;5;5M2"
    expected = [Typed(b"\x1b[A1" + BEGIN + END), Pasted(READ), Typed(b"\x1b[<0;5;5M2")]
    assert pieces(*cut(data, places)) == expected


@given(st.text(), st.lists(st.integers(0, 10_000), max_size=20))
def test_whatever_is_pasted_arrives(text: str, places: list[int]) -> None:
    data = BEGIN + text.encode("utf-8", "replace") + END
    told = [piece.text for piece in pieces(*cut(data, places)) if isinstance(piece, Pasted)]
    sound = text.encode("utf-8", "replace").decode()
    assert told == [sound.replace("\x00", "").replace("\r\n", "\n").replace("\r", "\n")]


@given(st.binary(max_size=200), st.lists(st.integers(0, 10_000), max_size=20))
def test_bytes_that_are_no_text_stop_nothing(data: bytes, places: list[int]) -> None:
    data = data.replace(END, b"")
    assert pieces(*cut(BEGIN + data + END + b"x", places))[-1] == Typed(b"x")


@pytest.mark.parametrize(
    "text",
    ["\x1b[31mred\x1b[0m", "a\x1b[200~b", "\x1b", "\x1b[201", "\xff" * 70_000, "x\r\ny\r\rz", ""],
    ids=["colours", "beginning", "escape", "nearly the end", "long", "line ends", "nothing"],
)
def test_only_the_end_mark_ends_it(text: str) -> None:
    expected = text.replace("\r\n", "\n").replace("\r", "\n")
    assert pieces(BEGIN + text.encode() + END)[1:] == [Pasted(expected)]


def test_two_pastes_in_one_read() -> None:
    data = BEGIN + b"one" + END + BEGIN + b"two" + END
    assert pieces(data) == [Typed(BEGIN + END), Pasted("one"), Typed(BEGIN + END), Pasted("two")]


@pytest.mark.parametrize("key", [b"\x1b", b"\x03", b"\x1b[27u"])
def test_a_lone_escape_after_silence_ends_a_paste_whose_end_was_lost(key: bytes) -> None:
    splitter = Splitter()
    assert list(splitter.feed(BEGIN + b"half a l\x1b[20")) == [Typed(BEGIN)]
    assert list(splitter.feed(key, 0.5)) == []
    assert list(splitter.feed(b"ine", 0.5)) == []
    assert list(splitter.feed(key, 1.5)) == [Typed(END), Pasted(f"half a l\x1b[20{key.decode()}ine")]
    assert splitter.arriving == 0


# Without marks -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [7, 64, 4096])
def test_many_letters_with_a_line_end_and_no_rest_are_a_paste(size: int) -> None:
    data = (LOG * 20).encode()
    assert pieces(*(data[at : at + size] for at in range(0, len(data), size))) == [Pasted(READ * 20)]


@pytest.mark.parametrize(
    "keys",
    [
        b"p",
        b"jjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjj\rjjjjjjjj",
        b"/var/log/a-job-with-a-long-name/rank-0.log\r",
        b"p2nnf\r\rq",
        b"\x1b[A\x1b[B" * 20,
        b"NAME=value\x7f\x7f\x7f\x7f\x7f\x7f\x7f and more text\r and more\r",
    ],
    ids=["one", "a key held down", "a path and Enter", "few", "arrows", "with Backspace"],
)
def test_what_a_hand_types_ahead_on_a_slow_link_stays_keys(keys: bytes) -> None:
    assert pieces(keys) == [Typed(keys)]


def test_what_is_typed_after_such_a_paste_are_keys_again() -> None:
    splitter = Splitter()
    assert list(splitter.feed((LOG * 2).encode())) == []
    assert splitter.patience is not None
    assert splitter.patience > HAND
    assert list(splitter.feed(b"q")) == [], "a piece of the paste that came late"
    assert list(splitter.silence()) == [Pasted(READ * 2 + "q")]
    assert splitter.patience is None
    assert list(splitter.feed(b"q")) == []
    assert splitter.patience == HAND
    assert list(splitter.silence()) == [Typed(b"q")]


def test_marks_end_what_came_without_them() -> None:
    assert pieces((LOG * 2).encode(), BEGIN + b"one" + END) == [
        Pasted(READ * 2),
        Typed(BEGIN + END),
        Pasted("one"),
    ]


def test_a_key_of_its_own_is_given_away_at_once() -> None:
    splitter = Splitter()
    assert list(splitter.feed(b"\x1b")) == [Typed(b"\x1b")]
    assert splitter.patience is None
