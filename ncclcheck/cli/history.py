"""``ncclcheck history``: the runs of the speed test that are kept."""

from __future__ import annotations

import argparse
from typing import Any

import msgspec

from ncclcheck.cli.diagnostics import ExitCode
from ncclcheck.cli.history_text import history_text
from ncclcheck.cli.output import write, write_json
from ncclcheck.speedtest.history import Run, runs


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command and its arguments."""
    parser = subparsers.add_parser("history", help="the speed tests that were run here, to compare them")
    parser.add_argument("--limit", metavar="N", type=_count, default=20, help="show the latest N runs (default: 20)")
    parser.add_argument("--json", action="store_true", help="print JSON, with every round")
    parser.set_defaults(run=run)


def _count(text: str) -> int:
    if not text.isdecimal() or len(text) > 9 or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of runs")
    return int(text)


def run(options: argparse.Namespace) -> ExitCode:
    """Show them; 3 where there are none."""
    kept = runs()[-options.limit :]
    write_json([as_json(one) for one in kept]) if options.json else write(history_text(kept))
    return ExitCode.CLEAR if kept else ExitCode.UNKNOWN


def as_json(one: Run) -> dict[str, Any]:
    """A run with its bandwidths worked out."""
    told: dict[str, Any] = msgspec.to_builtins(one)
    for speed, value in zip(told["test"]["speeds"], one.test.speeds, strict=True):
        if value.seconds and value.median > 0:
            speed |= {"algbw": value.algbw, "busbw": value.busbw}
    return told
