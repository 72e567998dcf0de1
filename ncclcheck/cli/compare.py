"""``ncclcheck compare A B``: is it better than before?"""

from __future__ import annotations

import argparse

import msgspec

from ncclcheck.cli.diagnostics import ExitCode
from ncclcheck.cli.history_text import comparison_text
from ncclcheck.cli.output import write, write_json
from ncclcheck.model import Trend
from ncclcheck.speedtest.compare import overall, trend
from ncclcheck.speedtest.history import find, runs

_EPILOG = "exit codes: 0 better or the same, 1 worse, 2 wrong usage, 3 cannot tell, or there is no such run."
_CODES = {Trend.WORSE: ExitCode.PROBLEM, Trend.UNKNOWN: ExitCode.UNKNOWN}


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command and its arguments."""
    parser = subparsers.add_parser(
        "compare", help="two speed tests, by the spread of their rounds: better, same or worse", epilog=_EPILOG
    )
    words = "an id of ncclcheck history or its beginning; last, last-1 … count back"
    parser.add_argument("before", metavar="A", help=words)
    parser.add_argument("after", metavar="B", nargs="?", default="last", help="the later one (default: last)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> ExitCode:
    """Compare and show."""
    kept = runs()
    before, after = find(kept, options.before), find(kept, options.after)
    changes, answer = trend(before.test, after.test), overall(before.test, after.test)
    if options.json:
        told = {"before": before.id, "after": after.id, "overall": answer, "changes": changes}
        write_json(msgspec.to_builtins(told))
    else:
        write(comparison_text(before, after, changes, answer))
    return _CODES.get(answer, ExitCode.CLEAR)
