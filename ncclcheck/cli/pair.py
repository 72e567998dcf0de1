"""``ncclcheck pair``: this node and others find out together what is wrong between them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ncclcheck.cli.arguments import seconds, whole
from ncclcheck.cli.diagnostics import ExitCode, note
from ncclcheck.cli.output import write, write_json

if TYPE_CHECKING:
    from ncclcheck.doctor.part import Agree
    from ncclcheck.doctor.steps import Step
    from ncclcheck.model import Edit, Fix

_DESCRIPTION = """\
Shows a command for the other node. When it is run there, both try every interface against every address in both
directions, run NCCL's own handshake, and tell which interface to use on each node and why. Each node's own user is
asked before anything is changed. What passes between them is authenticated by the token, and readable on the way."""

_EPILOG = """\
exit codes: 0 verified by NCCL's own handshake, 1 not, 2 wrong usage, 3 nobody joined or it could not be run."""

_NODES = whole(2, 64, "a number of nodes from 2 to 64")
_PORT = whole(0, 65535, "a port")


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command and its arguments."""
    parser = subparsers.add_parser(
        "pair",
        help="find out together with another node what is wrong between the two",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--nodes",
        metavar="N",
        type=whole(2, 64, "a number of nodes from 2 to 64"),
        default=2,
        help="how many take part (default: 2)",
    )
    parser.add_argument("--limit", metavar="SECONDS", type=seconds, default=600.0, help="wait for them (default: 600)")
    parser.add_argument("--address", metavar="ADDRESS", action="append", default=[], help="wait at this address only")
    parser.add_argument(
        "--announce", metavar="ADDRESS", action="append", default=[], help="an address of a router that leads here"
    )
    parser.add_argument(
        "--port",
        metavar="PORT",
        type=whole(0, 65535, "a port"),
        default=0,
        help="wait at this port (default: a free one)",
    )
    parser.add_argument("--no-fix", action="store_true", help="only find out; ask for no fix")
    parser.add_argument("--speed", metavar="SIZE", type=_size, default=0, help="a speed test at the end, such as 256M")
    add_common(parser)
    parser.set_defaults(run=run)


def add_common(parser: argparse.ArgumentParser) -> None:
    """What pair and join have in common."""
    parser.add_argument("--yes", action="store_true", help="make this node's own fix without a question")
    parser.add_argument("--python", metavar="PATH", help="the Python that your training uses")
    parser.add_argument("--json", action="store_true", help="print one line of JSON a step")


def _size(text: str) -> int:
    from ncclcheck.speedtest.worker import parse_size

    return parse_size(text)


def run(options: argparse.Namespace) -> ExitCode:
    """Invite, and tell what comes of it."""
    from ncclcheck.doctor.meet import Options
    from ncclcheck.doctor.pair import pair

    asked = Options(
        options.nodes,
        options.limit,
        tuple(options.address),
        tuple(options.announce),
        options.port,
        options.python,
        not options.no_fix,
        options.speed,
    )
    return told(pair(asked, agreement(options)), options.json)


def told(steps: Iterable[Step], json: bool) -> ExitCode:
    """Show each step as it comes; clear only where the last one says verified."""
    from ncclcheck.cli.pair_text import step_text
    from ncclcheck.cli.sides_json import step_json
    from ncclcheck.doctor.steps import Ended, NoWay

    code = ExitCode.PROBLEM
    for step in steps:
        if json:
            write_json(step_json(step))
        elif text := step_text(step):
            write(text)
        if isinstance(step, Ended) and step.verified:
            code = ExitCode.CLEAR
        if isinstance(step, NoWay):
            code = ExitCode.UNKNOWN
    return code


def agreement(options: argparse.Namespace) -> Agree:
    """How this node's user is asked: on the terminal; without one, only ``--yes`` is a yes."""

    def agree(edits: tuple[Edit, ...], fix: Fix) -> bool:
        if options.yes or not edits:
            return True
        if options.json or not sys.stdin.isatty():
            note("Nothing was written: there is no terminal to ask at, and no --yes was given.")
            return False
        note("Write this? Type y and Enter for yes, anything else for no.")
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    return agree
