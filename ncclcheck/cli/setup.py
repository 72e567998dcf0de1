"""``ncclcheck setup``: from two fresh shells to a verified bandwidth, step by step, each step checked."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ncclcheck.cli.arguments import seconds, whole
from ncclcheck.cli.diagnostics import ExitCode, note
from ncclcheck.cli.output import write, write_json
from ncclcheck.errors import NcclcheckError

if TYPE_CHECKING:
    from ncclcheck.cli.progress import Line
    from ncclcheck.doctor.setup.begin import SetupOptions
    from ncclcheck.doctor.setup.person import Person
    from ncclcheck.doctor.setup.state import Setup
    from ncclcheck.doctor.setup.steps import Closed, SetupStep
    from ncclcheck.doctor.steps import Step

_DESCRIPTION = """\
A guide from fresh shells to a measured bandwidth and the command line for your own training. Run it on the first node;
it shows the line for the others. Each step is really checked; one that fails says what is wrong and what to do.
What can be found out is not asked. Before anything is written, each node's own user is asked (or gives --yes)."""

_EPILOG = """\
exit codes: 0 every step is done, 1 some step failed, 2 wrong usage, 3 the nodes did not meet."""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command and its arguments."""
    parser = subparsers.add_parser(
        "setup",
        help="a guide from fresh shells to a verified bandwidth",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    option = parser.add_argument
    option("--provider", metavar="NAME", default="", help="where the nodes are (default: by the signs here)")
    option("--launcher", metavar="NAME", default="torchrun", help="what starts your training (default: torchrun)")
    option("--role", metavar="N", type=whole(0, 63, "a role from 0 to 63"), help="0: this node invites (default)")
    option("--nodes", metavar="N", type=whole(2, 64, "a number of nodes from 2 to 64"), default=2, help="default: 2")
    option("--script", metavar="FILE", default="", help="your own training script (default: train.py)")
    option("--join", metavar="WORD", nargs="+", default=[], help="PORT-TOKEN ADDRESS…, as the first node shows it")
    option("--size", metavar="SIZE", type=_size, help="of the speed test's largest message (default: 256M)")
    option("--limit", metavar="SECONDS", type=seconds, default=600.0, help="wait for the others (default: 600)")
    option("--skip", metavar="STEP=REASON", type=_skip, action="append", default=[], help="leave a step out")
    option("--yes", action="store_true", help="write this node's own settings without a question")
    option("--python", metavar="PATH", help="the Python that your training uses")
    option("--lang", metavar="L", default="", help="the language of the guide, such as de")
    option("--summary", metavar="FILE", help="write what was done and measured as Markdown")
    option("--json", action="store_true", help="print one line of JSON a step")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--print", action="store_true", help="print the whole guide, and run nothing")
    instead.add_argument("--resume", action="store_true", help="go on where the last setup here was left")
    instead.add_argument("--repeat", metavar="STEP", default="", help="as --resume, from this step on")
    instead.add_argument("--undo", action="store_true", help="take back what the last setup here has written")
    parser.set_defaults(run=run)


def _size(text: str) -> int:
    from ncclcheck.speedtest.worker.words import parse_size

    try:
        return parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _skip(text: str) -> tuple[str, str]:
    step, equals, reason = text.partition("=")
    if not (step and equals and reason.strip()):
        raise argparse.ArgumentTypeError(f"{text!r} is not STEP=REASON")
    return step, reason.strip()


def run(options: argparse.Namespace) -> ExitCode:
    """Go through the guide, print it, or take back what it has written."""
    from ncclcheck.doctor.setup.way import setup

    asked = _asked(options)
    if options.print:
        return _printed(asked, options)
    if options.undo:
        return _undone(asked)
    closed = _told(setup(asked, _person(options)), options.json)
    if options.summary:
        _save(options.summary, closed.setup)
    return exit_code(closed.setup)


def exit_code(setup: Setup) -> ExitCode:
    """Nodes that never met prove nothing, neither good nor bad."""
    if setup.evidence.missed or setup.evidence.no_way:
        return ExitCode.UNKNOWN
    return ExitCode.CLEAR if setup.done else ExitCode.PROBLEM


def _asked(options: argparse.Namespace) -> SetupOptions:
    from ncclcheck.doctor.setup.begin import SetupOptions
    from ncclcheck.doctor.setup.state import SIZE
    from ncclcheck.peer.invitation import read

    return SetupOptions(
        place=options.provider,
        launcher=options.launcher,
        role=options.role,
        nodes=options.nodes,
        script=options.script,
        invitation=read(tuple(options.join)) if options.join else None,
        python=options.python,
        size=options.size or SIZE,
        lang=options.lang,
        skips=tuple(options.skip),
        limit=options.limit,
        resume=options.resume or bool(options.repeat),
        again=options.repeat,
    )


def _person(options: argparse.Namespace) -> Person:
    from ncclcheck.cli.pair import agreement
    from ncclcheck.cli.setup_person import AtTerminal, Unattended

    attended = sys.stdin.isatty() and not options.json
    return AtTerminal(agreement(options)) if attended else Unattended(agreement(options))


def _told(steps: Iterable[SetupStep | Step], json: bool) -> Closed:
    """Each step as it comes; the last one."""
    from ncclcheck.cli.progress import Line
    from ncclcheck.doctor.setup.growth import advanced
    from ncclcheck.doctor.setup.steps import Closed, Opened
    from ncclcheck.speedtest.reports import news

    now: Setup | None = None
    with Line() as line:
        for step in news(steps):
            before, now = now, advanced(now, step) if now else None
            if isinstance(step, Opened):
                now = step.setup
            assert now is not None
            _show(before, step, now, line, json)
            if isinstance(step, Closed):
                return step
    raise AssertionError("a setup ends with Closed")


def _show(before: Setup | None, step: SetupStep | Step, now: Setup, line: Line, json: bool) -> None:
    from ncclcheck.cli.setup_json import lines
    from ncclcheck.cli.setup_told import closed_text, told
    from ncclcheck.doctor.setup.steps import Closed
    from ncclcheck.speedtest.reports import Measured, Progress, Rate

    if json:
        for one in lines(before, step, now):
            write_json(one)
    elif isinstance(step, Progress):
        line.show(f"{step.seconds:6.1f} s  {step.text}", passing=isinstance(step, (Rate, Measured)))
    elif text := told(before, step, now):
        write(text)
    if isinstance(step, Closed):
        if not json:
            write(closed_text(step))
        if step.warning:
            note(step.warning)


def _printed(asked: SetupOptions, options: argparse.Namespace) -> ExitCode:
    """The whole guide, with what is known before anything was looked at."""
    from ncclcheck.cli.setup_text import guide_text
    from ncclcheck.doctor.setup.state import SCRIPT
    from ncclcheck.doctor.setup.way import guides_here

    place, common, launcher = guides_here(asked)
    known = {"nodes": str(options.nodes), "script": options.script or SCRIPT}
    write(guide_text(place, common, launcher, known))
    return ExitCode.CLEAR


def _undone(asked: SetupOptions) -> ExitCode:
    from ncclcheck.doctor.setup.way import undo_kept

    undone = undo_kept(asked)
    for one in undone:
        write(f"{one.path} is as it was before {one.time}.")
    if not undone:
        write("The last setup here has written nothing.")
    return ExitCode.CLEAR


def _save(path: str, setup: Setup) -> None:
    from ncclcheck.doctor.setup.summary import summary

    try:
        Path(path).write_text(summary(setup), encoding="utf-8")
    except OSError as error:
        raise NcclcheckError(
            f"the summary cannot be written: {error.strerror}",
            place=path,
            next_step="Name another file: --summary FILE",
        ) from error
    note(f"{path} says what was done and measured")
