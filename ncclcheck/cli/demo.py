"""``ncclcheck demo``: a broken two-node network on this machine, diagnosed, fixed and proved."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ncclcheck.cli.diagnostics import ExitCode, report
from ncclcheck.cli.output import write
from ncclcheck.errors import LabError
from ncclcheck.lab.layout import LAYOUTS, Layout
from ncclcheck.model import Comparison, Node
from ncclcheck.speedtest.reports import Measured, Rate, news

if TYPE_CHECKING:
    from ncclcheck.doctor.demo import Step

_DESCRIPTION = """\
Builds two nodes on this machine, as Linux namespaces, whose network is broken the classical way; lets the real NCCL
choose its interface on each; measures, fixes and measures again. Needs Linux, and root or user namespaces; without
them it shows a recording and says so. Nothing of this machine is changed, and nothing is left behind.

lay-outs:"""

_EPILOG = "exit codes: 0 proved (or a recording was shown), 1 not proved, 3 it could not be run."


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command and its arguments."""
    layouts = "\n".join(f"  {name:<14} {layout.title}" for name, layout in LAYOUTS.items())
    parser = subparsers.add_parser(
        "demo",
        help="see a broken two-node network being found, fixed and proved",
        description=f"{_DESCRIPTION}\n{layouts}",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--plain", action="store_true", help="tell the story as text, also on a terminal")
    parser.add_argument("--layout", choices=tuple(LAYOUTS), default="docker-first", help="default: docker-first")
    parser.add_argument(
        "--python", metavar="PATH", help="the Python with torch and NCCL (default: the first likely one)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> ExitCode:
    """The demo in the lab, or its recording where no lab can be built."""
    from ncclcheck.lab import built

    layout = LAYOUTS[options.layout]
    try:
        with built(layout) as nodes:
            if interactive(plain=options.plain):
                from ncclcheck.tui.run import run_app

                return ExitCode.CLEAR if run_app(nodes=nodes) == 0 else ExitCode.PROBLEM
            return _plain(layout, nodes, options.python)
    except LabError as error:
        report(error)
        return _recording(layout)


def interactive(*, plain: bool) -> bool:
    """Whether the story is shown by the assistant rather than told."""
    if plain or not sys.stdout.isatty():
        return False
    from ncclcheck.tui.run import unfit

    return not unfit()


def _plain(layout: Layout, nodes: tuple[Node, ...], python: str | None) -> ExitCode:
    from ncclcheck.doctor.demo import Real, story
    from ncclcheck.doctor.measure import training_python

    write(
        f"Two nodes in network namespaces of this machine ({', '.join(node.name for node in nodes)}): {layout.title}."
    )
    # Better missed now than after the probes.
    training_python(python)
    return _told(story(nodes, Real(python)))


def _recording(layout: Layout) -> ExitCode:
    from ncclcheck.doctor.replay import recorded

    mark = "REPLAY  "
    write(f"{mark}This is a recording of an earlier run, diagnosed anew: {layout.title}.")
    _told(recorded(layout.name), mark)
    write(f"{mark}A recording proves nothing about this machine.")
    return ExitCode.CLEAR


def _told(steps: Iterable[Step], mark: str = "") -> ExitCode:
    """Print each step as it comes; clear only if the last one is a proof."""
    from ncclcheck.cli.demo_text import step_text

    proved = False
    for step in news(steps):
        if isinstance(step, (Rate, Measured)):
            continue  # The table at the end has them all.
        write("\n".join(mark + line for line in step_text(step).split("\n")))
        proved = isinstance(step, Comparison) and step.proved
    return ExitCode.CLEAR if proved else ExitCode.PROBLEM
