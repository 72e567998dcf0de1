"""Curves and bars: rows of the size asked for, whatever the values are, and a scale that never lies."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncclcheck.speedtest.worker.words import size_words
from ncclcheck.tui.curves import SCALE, Level, area, bar, by_size, figure, under_sizes

VALUES = st.floats(allow_nan=True, allow_infinity=True)
SOUND = st.floats(min_value=0.0, max_value=1e300)
SIDES = st.integers(min_value=-2, max_value=60)
LEVELS = st.lists(st.builds(Level, VALUES, st.sampled_from("─┄")), max_size=3)
POINTS = st.lists(st.tuples(st.integers(0, 1 << 50), SOUND), max_size=12).map(sorted)
STEPS = " ▁▂▃▄▅▆▇█"


def heights(rows: tuple[str, ...]) -> list[int]:
    """How high each column is, in eighths of a cell."""
    columns = zip(*(row[SCALE:] for row in rows[:-1]), strict=True)
    return [sum(STEPS.index(cell) for cell in column if cell in STEPS) for column in columns]


@given(st.lists(VALUES, max_size=80), SIDES, SIDES, LEVELS, st.text(alphabet="ab ", max_size=70))
def test_a_curve_has_the_size_asked_for(
    values: list[float], width: int, height: int, levels: list[Level], under: str
) -> None:
    rows = area(values, width, height, levels, under)
    assert len(rows) == max(height, 0)
    assert {len(row) for row in rows} <= {max(width, 0)}


@given(st.lists(SOUND, min_size=1, max_size=40), st.integers(2, 20))
def test_more_is_never_drawn_lower_and_something_never_as_nothing(values: list[float], height: int) -> None:
    drawn = heights(area(values, SCALE + 40, height))[: len(values)]
    for (value, column), (other, beside) in pairwise(sorted(zip(values, drawn, strict=True))):
        assert value == other or column <= beside
    assert [column > 0 for column in drawn] == [value > 0 for value in values]
    assert max(values) == 0 or max(drawn) == 8 * (height - 1)


@given(st.lists(SOUND, min_size=1, max_size=9), st.integers(3, 20))
def test_the_scale_falls_from_the_largest_value_to_zero(values: list[float], height: int) -> None:
    labels = [row[: SCALE - 2].strip() for row in area(values, SCALE + 9, height)]
    marked = [float(label) for label in labels if label]
    assert marked == sorted(marked, reverse=True)
    assert labels[-1] == "0"
    assert labels[0] == (figure(max(values)) if max(values) else "")


def test_a_curve_as_it_looks() -> None:
    rows = area([0.0, 0.25, 0.5, 1.0, 2.0], SCALE + 7, 5, [Level(2.0, "─"), Level(0.9, "┄")], "8   64M")
    assert rows == (
        "  2.00 ┤────█──",
        "       ┤    █  ",
        "  1.00 ┤┄┄┄██┄┄",
        "       ┤ ▄███  ",
        "     0 ┤8   64M",
    )


def test_two_lines_in_one_row_take_turns_and_an_empty_curve_is_empty() -> None:
    assert area([], SCALE + 4, 2, [Level(1.0, "─"), Level(0.9, "┄")])[0] == "  1.00 ┤─┄─┄"
    assert area([], SCALE + 4, 3) == ("       ┤    ", "       ┤    ", "     0 ┤    ")


def test_only_the_last_values_have_room() -> None:
    assert heights(area([8.0, 1.0, 2.0], SCALE + 2, 2)) == [4, 8]


@given(st.floats(min_value=0.0, max_value=1e307))
def test_a_figure_fits_and_says_what_it_is(value: float) -> None:
    text = figure(value)
    assert len(text) <= 6
    assert float(text) == pytest.approx(value, rel=0.005 if value < 1e6 else 0.5, abs=5e-5)


@given(VALUES, VALUES, SIDES)
def test_a_bar_has_the_width_asked_for(value: float, top: float, width: int) -> None:
    assert len(bar(value, top, width)) == max(width, 0)


@given(SOUND, SOUND, st.integers(1, 40))
def test_a_longer_bar_is_more(one: float, other: float, width: int) -> None:
    top = max(one, other)
    short, long = sorted((one, other))
    assert ink(bar(short, top, width)) <= ink(bar(long, top, width))
    assert ink(bar(top, top, width)) == (8 * width if top else 0)


def ink(text: str) -> int:
    """Eighths of a cell that are filled."""
    return sum(" ▏▎▍▌▋▊▉█".index(cell) for cell in text)


@given(POINTS, st.integers(0, 60))
def test_columns_stay_between_the_values_that_were_measured(points: list[tuple[int, float]], width: int) -> None:
    columns = by_size(points, width)
    assert len(columns) in (0, width)
    rates = [rate for _, rate in points] or [0.0]
    assert all(min(rates) * 0.999999 <= column <= max(rates) * 1.000001 for column in columns if len(points) > 1)


@given(POINTS, SIDES)
def test_the_words_under_a_curve_fit(points: list[tuple[int, float]], width: int) -> None:
    words = [size_words(size) for size, _ in points]
    text = under_sizes(points, words, width)
    assert len(text) == max(width, 0)
    assert not words or len(words[-1]) > width or words[-1] in text
    assert set(text.split()) <= set(words)


def test_sizes_stand_in_their_logarithm() -> None:
    points = [(8, 0.0), (128, 1.0), (2048, 3.0)]
    assert by_size(points, 5) == pytest.approx((0.0, 0.5, 1.0, 2.0, 3.0))
    assert under_sizes(points, ["8", "128", "2K"], 13) == "8    128   2K"
    assert by_size([(64, 2.0)], 3) == (0.0, 0.0, 2.0)
