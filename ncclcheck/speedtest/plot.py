"""A speed test as a picture: bandwidth by size, with the link's ceiling and plain TCP drawn in. [effects]

Only this module loads matplotlib (the extra ``plot``), and only when a picture is asked for.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ncclcheck.errors import SpeedError
from ncclcheck.model import Judgement, Pattern, SpeedTest
from ncclcheck.speedtest.worker.words import size_words

FORMATS = (".png", ".svg")
_MARKS = ("o", "s", "^", "D")
"""So that the curves are told apart in print, and by people who do not see all colours."""
_LINES = ("-", "--", "-.", ":")


def save(test: SpeedTest, path: str, judgement: Judgement | None = None) -> None:
    """Draw the test into a PNG or SVG file, by the path's ending.

    Raises SpeedError where matplotlib is missing, the ending is another, or the file cannot be written.
    """
    if Path(path).suffix.lower() not in FORMATS:
        raise SpeedError(
            "is neither PNG nor SVG", place=path, next_step="Give the file a name that ends in .png or .svg"
        )
    figure = _empty_figure()
    axes = figure.subplots()
    _curves(axes, test)
    _levels(axes, test, judgement)
    _words(axes, test)
    try:
        figure.savefig(path, dpi=120)
    except OSError as error:
        problem = f"the picture cannot be written: {error.strerror or error}"
        raise SpeedError(problem, place=path, next_step="Name a file in a folder that can be written") from error


def _empty_figure() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        step = "Install it beside ncclcheck: pip install 'ncclcheck[plot]'"
        raise SpeedError("a picture needs matplotlib, which is not here", place="--plot", next_step=step) from error
    # Without pyplot: no window, no display, no state of the process.
    return Figure(figsize=(8, 5), layout="constrained")


def _curves(axes: Any, test: SpeedTest) -> None:
    for pattern, mark, line in zip(Pattern, _MARKS, _LINES, strict=True):
        timed = [one for one in test.speeds if one.pattern is pattern and one.seconds and one.median > 0]
        if speeds := sorted(timed, key=lambda one: one.size):
            sizes, rates = [one.size for one in speeds], [one.busbw for one in speeds]
            axes.plot(sizes, rates, marker=mark, linestyle=line, label=pattern.value)


def _levels(axes: Any, test: SpeedTest, judgement: Judgement | None) -> None:
    """What would have been possible."""
    plain = test.baseline.rate if test.baseline else None
    if judgement and judgement.expected and judgement.expected != plain:
        axes.axhline(judgement.expected, color="black", linewidth=1.5, label=f"link: {judgement.expected:.3g} GB/s")
    if plain:
        label = f"plain TCP: {plain:.3g} GB/s"
        axes.axhline(plain, color="grey", linewidth=1.5, linestyle=(0, (1, 1)), label=label)


def _words(axes: Any, test: SpeedTest) -> None:
    where = f" over {test.interface}" if test.interface else ""
    axes.set_title(f"{test.backend or 'speed test'}{where}, {test.ranks} ranks")
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda size, _: size_words(round(size)))
    axes.set_xlabel("size, bytes")
    axes.set_ylabel("bus bandwidth, GB/s")
    axes.set_ylim(bottom=0)
    axes.grid(True, alpha=0.3)
    if axes.get_legend_handles_labels()[0]:
        axes.legend()
