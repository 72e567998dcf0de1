"""The gate, the patterns behind it, and their time limit."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ncclcheck.logs.events import Shape, Shapes, skeleton
from ncclcheck.logs.records import Record, records
from ncclcheck.model import Event, Process, Where

WHERE = Where("a.log", 3)
REFUSED = Shape("refused", "turned us away", r"(?P<address>[\d.]+) turned us away(?P<port>:\d+)?", (("result", "no"),))
PAIRS = Shape("pair", "pair ", r"pair (?P<name>\w+)=(?P<value>\w+)", repeated=True)
SHAPES = Shapes((REFUSED, PAIRS))


def record(text: str) -> Record:
    """The one record of a line."""
    (found,) = records(WHERE, text)
    return found


def fields_of(text: str, shapes: Shapes = SHAPES) -> list[tuple[str, tuple[tuple[str, str], ...]]]:
    """Kind and fields of the events in a line."""
    return [(event.kind, event.fields) for event in shapes.events(record(text))]


def test_an_event_carries_all_that_the_line_tells() -> None:
    line = "[rank4]: node-a:10:11 [0] x.cc:5 (fun) NCCL WARN 10.0.0.1 turned us away"
    assert list(SHAPES.events(record(line))) == [
        Event(
            kind="refused",
            where=WHERE,
            process=Process("a.log", "node-a", 10),
            fields=(
                ("result", "no"),
                ("address", "10.0.0.1"),
                ("level", "WARN"),
                ("location", "x.cc:5"),
                ("function", "fun"),
            ),
            rank=4,
            thread=11,
        )
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("10.0.0.1 turned us away", [("refused", (("result", "no"), ("address", "10.0.0.1")))]),
        ("nobody turned us away", []),
        ("10.0.0.1 turned us aside", []),
        ("", []),
        ("pair a=1 pair b=2", [("pair", (("name", "a"), ("value", "1"))), ("pair", (("name", "b"), ("value", "2")))]),
    ],
)
def test_shapes(line: str, expected: list[tuple[str, tuple[tuple[str, str], ...]]]) -> None:
    assert fields_of(line) == expected


def test_a_pattern_is_compiled_only_when_its_literal_is_met() -> None:
    shapes = Shapes((Shape("broken", "never printed", "("),))
    assert fields_of("something else", shapes) == []


def test_a_runaway_pattern_is_stopped_and_then_given_up() -> None:
    runaway = Shape("slow", "slow", r"slow (?: ?\w+)+!")
    shapes = Shapes((runaway,))
    line = "slow " + "a" * 5000 + ".!"
    began = time.perf_counter()
    for _ in range(20):
        assert fields_of(line, shapes) == []
    assert time.perf_counter() - began < 5
    assert shapes.given_up == (runaway,)


LITERALS = ["Connection refused", "Bootstrap", "dead beef cafe", "NET/Socket", "comm 0x", "über"]
GATED = Shapes(tuple(Shape(literal, literal, ".") for literal in LITERALS))


@given(some.lists(some.sampled_from(LITERALS) | some.text(max_size=20)).map(" ".join))
def test_the_gate_lets_through_just_the_literals(line: str) -> None:
    assert [shape.kind for shape in GATED.candidates(line)] == [text for text in LITERALS if text in line]


@pytest.mark.parametrize(("one", "other"), [("port 4711 at 0x7ffe", "port 15 at 0x1"), ("rank 1", "rank 12")])
def test_lines_that_differ_in_numbers_have_one_skeleton(one: str, other: str) -> None:
    assert skeleton(one) == skeleton(other)
