"""``ncclcheck speedtest``: one side of a bandwidth test between machines."""

from __future__ import annotations

import argparse
import os
import socket
import sys
from collections.abc import Iterable
from typing import Any

import msgspec

from ncclcheck.cli.diagnostics import ExitCode, note
from ncclcheck.cli.output import write, write_json
from ncclcheck.cli.progress import Line
from ncclcheck.cli.speed_text import judgement_text, suspicion_text, test_text
from ncclcheck.doctor.speed import Judged, kept
from ncclcheck.errors import NcclcheckError
from ncclcheck.model import Facts, Rating, Speed, SpeedTest
from ncclcheck.speedtest.judge import judge
from ncclcheck.speedtest.plan import Side, save_worker, side_of
from ncclcheck.speedtest.reports import Measured, Progress, Rate, Suspected, news
from ncclcheck.speedtest.table import csv_text
from ncclcheck.speedtest.worker.words import USAGE, Asked, add_arguments, asked

_DESCRIPTION = """\
Measures latency and bandwidth to other machines: one way, both ways at once, all_gather and all_reduce, from 8 bytes
up to SIZE, with what plain TCP does beside it; every byte is checked.
Start it on both machines with the same HOST:PORT and SIZE:
  ncclcheck speedtest 10.0.0.1:5000 1G 0      on the machine that owns 10.0.0.1
  ncclcheck speedtest 10.0.0.1:5000 1G 1      on the other one
More ranks: --ranks N on each of them, or without RANK under srun or mpirun. Where ncclcheck is not installed:
  ncclcheck speedtest --save-worker speedtest.pyz
  torchrun --nnodes 2 … speedtest.pyz 1G"""

_EPILOG = """\
exit codes: 0 measured and every byte right, 1 some payload was damaged or the rate is suspicious, 2 wrong usage,
3 not measured to its end (the reason is printed)."""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command and its arguments."""
    parser = subparsers.add_parser(
        "speedtest",
        help="measure latency and bandwidth between machines",
        usage=f"%(prog)s {USAGE}",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser)
    parser.add_argument("--python", metavar="PATH", help="the Python that your training uses")
    parser.add_argument("--save-worker", metavar="FILE.pyz", help="write the test as one file, for other machines")
    parser.add_argument("--label", metavar="TEXT", default="", help="what the run is for, to be found in the history")
    parser.add_argument("--plot", metavar="FILE", help="draw bandwidth by size, as .png or .svg (extra: plot)")
    parser.add_argument("--csv", action="store_true", help="print nccl-tests' columns as CSV")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run, parser=parser)


def run(options: argparse.Namespace) -> ExitCode:
    """Run this side, tell how it goes, and print the result."""
    if options.save_worker:
        save_worker(options.save_worker)
        note(f"{options.save_worker} is written; run it with a Python that has torch, as HOST:PORT SIZE RANK say")
        return ExitCode.CLEAR
    try:
        mine = asked(options, os.environ)
    except ValueError as error:
        options.parser.error(str(error))
    return _measured(mine, options)


def _measured(mine: Asked, options: argparse.Namespace) -> ExitCode:
    from ncclcheck.doctor.measure import measure_here, training_python

    chosen = training_python(options.python)
    note(f"Python: {chosen.python} ({chosen.why})")
    facts = _facts(chosen.python)
    side = side_of(mine, mine.interface or _interface_of_nccl(mine.backend, facts))
    values = kept(measure_here(side, chosen.python), sys.argv[1:], facts, options.label)
    result, suspected = _followed(side, values)
    _show(result, suspected, chosen.python, options)
    return exit_code(result)


def _show(result: Judged, suspected: tuple[Suspected, ...], python: str, options: argparse.Namespace) -> None:
    """The result in the form that was asked for, and a picture beside it."""
    if options.json:
        write_json({**as_json(result, python), "suspected": [one.rule for one in suspected]})
    elif options.csv:
        write(csv_text(result.test).rstrip("\n"))
    else:
        write("\n".join([test_text(result.test), judgement_text(result.judgement), *map(suspicion_text, suspected)]))
    if result.warning:
        note(result.warning)
    elif result.run:
        note(f"kept as {result.run}: ncclcheck compare {result.run} sets it beside a later one")
    if options.plot:
        from ncclcheck.speedtest.plot import save

        save(result.test, options.plot, result.judgement)


def _followed(side: Side, values: Iterable[Progress | Judged]) -> tuple[Judged, tuple[Suspected, ...]]:
    """The result and what NCCL's log gave cause to suspect, after telling on standard error how it went."""
    test = SpeedTest("", side.interface, failure="it was stopped by Ctrl-C", ranks=side.ranks)
    result, suspected = Judged(test, judge(test, ()), ""), []
    try:
        with Line() as line:
            for value in news(values):
                if isinstance(value, Judged):
                    result = value
                    continue
                if isinstance(value, Suspected):
                    suspected.append(value)
                line.show(f"{value.seconds:6.1f} s  {value.text}", passing=isinstance(value, (Rate, Measured)))
    except KeyboardInterrupt:
        # The worker got the same signal and has told the other sides.
        pass
    return result, tuple(suspected)


def exit_code(result: Judged) -> ExitCode:
    """Damage is a finding, and so is a rate far below the link's; a test that did not end is none."""
    if result.test.damaged or (result.test.passed and result.judgement.rating is Rating.SUSPICIOUS):
        return ExitCode.PROBLEM
    return ExitCode.CLEAR if result.test.passed else ExitCode.UNKNOWN


def _facts(python: str) -> Facts:
    """What this node is, as far as it can be looked at: the test is worth having without."""
    from ncclcheck.doctor.measure import HERE
    from ncclcheck.doctor.scan import scan

    try:
        return scan(HERE, python=python)
    except NcclcheckError as error:
        note(f"this node cannot be looked at, so nobody knows what its links can do: {error.problem}")
        return Facts(socket.gethostname(), ())


def _interface_of_nccl(backend: str | None, facts: Facts) -> str | None:
    """What gloo is to use so that the test proves NCCL's choice; NCCL itself needs no such help."""
    choice = None if backend == "nccl" else facts.choice
    if choice and choice.interface:
        note(f"gloo, where it is used, takes {choice.interface}: NCCL's own choice here (another: --interface NAME)")
    return choice.interface if choice else None


def as_json(result: Judged, python: str) -> dict[str, Any]:
    """The result with its figures worked out, and what they mean."""
    test, judgement = result.test, result.judgement
    baseline = {**msgspec.to_builtins(test.baseline), "rate": test.baseline.rate} if test.baseline else None
    return {
        **msgspec.to_builtins(test),
        "speeds": [_figures(speed) for speed in test.speeds],
        "baseline": baseline,
        "latency": test.latency,
        "passed": test.passed,
        "judgement": {**msgspec.to_builtins(judgement), "percent": judgement.percent},
        "run": result.run,
        "python": python,
    }


def _figures(speed: Speed) -> dict[str, Any]:
    worked_out = {
        "min": min(speed.seconds),
        "median": speed.median,
        "p99": speed.quantile(0.99),
        "algbw": speed.algbw,
        "busbw": speed.busbw,
        "gigabits": 8 * speed.algbw,
    }
    return {**msgspec.to_builtins(speed), **worked_out}
