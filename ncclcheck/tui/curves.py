"""Curves and bars as rows of text, told apart by their shape alone: they need no colour. Pure.

Our own, since none of the libraries fits: plotext 6 wants a C++ compiler where it is installed, plotext 5, to which
textual-plotext holds, draws on one figure for the whole process, and Textual's Sparkline has no scale.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, isfinite, log

SCALE = 8
"""Cells that the scale takes on the left."""
_UPWARDS = " ▁▂▃▄▅▆▇█"
_ALONG = " ▏▎▍▌▋▊▉█"
_STEPS = 8
"""Of a cell, in both."""


@dataclass(frozen=True, slots=True)
class Level:
    """A value that is drawn in as a line."""

    value: float
    sign: str
    """One cell; the line is made of it."""


def area(
    values: Sequence[float], width: int, height: int, levels: Sequence[Level] = (), under: str = ""
) -> tuple[str, ...]:
    """A column for each of the last values, over a line with zero and what is to stand ``under`` the columns.

    Each row has ``width`` cells, ``height`` counts all rows. The scale goes to the largest value or level.
    """
    room, rows = max(width - SCALE, 0), max(height - 1, 0)
    shown = [_sound(value) for value in values[-room:]] if room else []
    top = max([*shown, *(_sound(level.value) for level in levels)], default=0.0)
    filled = [_steps(value, top, rows) for value in shown]
    drawn = [
        f"{_label(row, rows, top):>{SCALE - 2}} ┤{_row(filled, rows - row, room, _lines_in(levels, top, rows, row))}"
        for row in range(rows)
    ]
    drawn.append(f"{'0':>{SCALE - 2}} ┤{under[:room]:<{room}}")
    return tuple(text[: max(width, 0)] for text in drawn[: max(height, 0)])


def _sound(value: float) -> float:
    return value if isfinite(value) and value > 0 else 0.0


def _steps(value: float, top: float, cells: int) -> int:
    """Eighths of a cell; whatever is more than nothing can be seen."""
    return max(1, round(min(value / top, 1.0) * cells * _STEPS)) if value > 0 else 0


def _label(row: int, rows: int, top: float) -> str:
    """What the upper edge of a row stands for, of the first one and the one in the middle."""
    if not top or row not in (0, rows // 2):
        return ""
    return figure(top / rows * (rows - row)) if row else figure(top)


def _row(filled: Sequence[int], number: int, room: int, signs: str) -> str:
    """The row of this number from below, with the line of a level where no column stands in its way."""
    cells = [_UPWARDS[min(max(steps - _STEPS * (number - 1), 0), _STEPS)] for steps in filled]
    cells += [" "] * (room - len(cells))
    if signs:
        cells = [signs[place % len(signs)] if cell == " " else cell for place, cell in enumerate(cells)]
    return "".join(cells)


def _lines_in(levels: Sequence[Level], top: float, rows: int, row: int) -> str:
    """The signs of the levels in a row; two of them share it."""
    return "".join(
        level.sign
        for level in levels
        if _sound(level.value) and rows - max(1, min(rows, ceil(level.value / top * rows))) == row
    )


def figure(value: float) -> str:
    """Three digits, in six cells at most."""
    if value >= 1e6:
        return f"{value:.0e}"
    return f"{value:.{max(0, 4 - len(str(int(value))) - (value >= 1))}f}" if value >= 0.1 else f"{value:.4f}"


def bar(value: float, top: float, width: int) -> str:
    """A bar that is full at ``top``, with blanks up to ``width`` cells."""
    most = max(width, 0) * _STEPS
    steps = min(_steps(_sound(value), top, max(width, 0)), most) if _sound(top) else 0
    text = _ALONG[-1] * (steps // _STEPS) + _ALONG[steps % _STEPS].strip()
    return f"{text:<{max(width, 0)}}"


# By size -------------------------------------------------------------------------------------------------------------


def by_size(points: Sequence[tuple[int, float]], width: int) -> tuple[float, ...]:
    """Values at sizes as columns, with the sizes' logarithm to the right and straight lines between.

    The sizes rise. A single one is the last column alone.
    """
    if len(points) < 2 or width < 2:
        return ((0.0,) * (width - 1) + (points[-1][1],)) if points and width > 0 else ()
    places = _places(points, width)
    return tuple(_between(places, points, column) for column in range(width))


def _places(points: Sequence[tuple[int, float]], width: int) -> list[float]:
    """The column of each size, as a fraction."""
    logs = [log(max(size, 1)) for size, _ in points]
    span = (logs[-1] - logs[0]) or 1.0
    return [(one - logs[0]) / span * (width - 1) for one in logs]


def _between(places: Sequence[float], points: Sequence[tuple[int, float]], column: int) -> float:
    right = min(max(bisect_right(places, column), 1), len(places) - 1)
    left = right - 1
    # The last column may lie a hair beyond its place.
    share = min(max((column - places[left]) / ((places[right] - places[left]) or 1.0), 0.0), 1.0)
    return (1 - share) * points[left][1] + share * points[right][1]


def under_sizes(points: Sequence[tuple[int, float]], words: Sequence[str], width: int) -> str:
    """The words of the sizes under their columns, as many as there is room for; the largest one always."""
    placed = [" "] * max(width, 0)
    places = _places(points, width) if points else []
    for place, word in reversed(list(zip(places, words, strict=False))):
        start = max(0, min(round(place) - len(word) // 2, width - len(word)))
        around = placed[max(0, start - 1) : start + len(word) + 1]
        if len(word) <= width and not "".join(around).strip():
            placed[start : start + len(word)] = word
    return "".join(placed)
