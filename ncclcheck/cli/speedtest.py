"""``ncclcheck speedtest``: one side of a bandwidth test between two machines."""

from __future__ import annotations

import argparse
from typing import Any

import msgspec

from ncclcheck.cli.diagnostics import ExitCode, note
from ncclcheck.cli.output import write, write_json
from ncclcheck.cli.speed_text import test_text
from ncclcheck.errors import NcclcheckError
from ncclcheck.model import SpeedTest
from ncclcheck.speedtest.plan import Side
from ncclcheck.speedtest.reports import news
from ncclcheck.speedtest.worker import add_arguments

_DESCRIPTION = """\
Measures the bandwidth to another machine, one way and then both ways at once, and checks every byte.
Start it on both machines with the same HOST:PORT and SIZE:
  ncclcheck speedtest 10.0.0.1:5000 1G 0      on the machine that owns 10.0.0.1
  ncclcheck speedtest 10.0.0.1:5000 1G 1      on the other one"""

_EPILOG = "exit codes: 0 measured and every byte right, 1 failed (the reason is printed), 2 wrong usage, 3 no torch."


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command and its arguments."""
    parser = subparsers.add_parser(
        "speedtest",
        help="measure the bandwidth between two machines",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser)
    parser.add_argument("--python", metavar="PATH", help="the Python that your training uses")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> ExitCode:
    """Run this side, tell how it goes, and print the result."""
    from ncclcheck.doctor.measure import measure_here, training_python

    chosen = training_python(options.python)
    note(f"Python: {chosen.python} ({chosen.why})")
    interface = options.interface or _interface_of_nccl(options.backend, chosen.python)
    side = Side(
        options.place, options.size, options.rank, options.device, options.backend, interface, limit=options.limit
    )
    result = SpeedTest("", interface)
    for value in news(measure_here(side, chosen.python)):
        if isinstance(value, SpeedTest):
            result = value
        else:
            note(f"{value.seconds:6.1f} s  {value.text}")
    write_json(as_json(result, chosen.python)) if options.json else write(test_text(result))
    return ExitCode.CLEAR if result.passed else ExitCode.PROBLEM


def _interface_of_nccl(backend: str | None, python: str) -> str | None:
    """What gloo is to use so that the test proves NCCL's choice; NCCL itself needs no such help."""
    from ncclcheck.doctor.measure import HERE
    from ncclcheck.doctor.scan import scan

    if backend == "nccl":
        return None
    try:
        choice = scan(HERE, python=python).choice
    except NcclcheckError:
        # The test is worth having without it; gloo then takes the address of the host's name.
        return None
    if choice and choice.interface:
        note(f"gloo, where it is used, takes {choice.interface}: NCCL's own choice here (another: --interface NAME)")
    return choice.interface if choice else None


def as_json(result: SpeedTest, python: str) -> dict[str, Any]:
    """The result with its figures worked out."""
    rates = [speed.algbw for speed in result.speeds]
    speeds = [
        {**msgspec.to_builtins(speed), "algbw": rate, "gigabits": 8 * rate}
        for speed, rate in zip(result.speeds, rates, strict=True)
    ]
    return {**msgspec.to_builtins(result), "speeds": speeds, "passed": result.passed, "python": python}
