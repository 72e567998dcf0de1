"""The command line: one sub-command a file, each with ``add`` (its arguments) and ``run`` (its answer)."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

from ncclcheck import __version__
from ncclcheck.cli.diagnostics import ExitCode, report
from ncclcheck.errors import NcclcheckError

COMMANDS = (
    "analyze",
    "node",
    "lint",
    "probe",
    "fix",
    "speedtest",
    "history",
    "compare",
    "card",
    "match",
    "pair",
    "join",
    "handshake",
    "demo",
    "rules",
    "explain",
)

_EPILOG = """\
without a command: opens the interactive assistant.
exit codes: 0 nothing wrong found, 1 problems found, 2 wrong usage, 3 could not read or could not tell."""


def build_parser(commands: Sequence[str] = COMMANDS) -> argparse.ArgumentParser:
    """The sub-commands and their arguments."""
    parser = argparse.ArgumentParser(
        prog="ncclcheck",
        description="Finds out why a multi-node PyTorch + NCCL job hangs, fixes it, and proves the fix.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"ncclcheck {__version__}")
    subparsers = parser.add_subparsers(metavar="COMMAND", title="commands")
    for name in commands:
        importlib.import_module(f"ncclcheck.cli.{name}").add(subparsers)
    return parser


def main(arguments: Sequence[str]) -> int:
    """Run one command and give its exit code."""
    # Only the command asked for is imported: a log's answer need not wait for the rest.
    options = build_parser([name for name in arguments[:1] if name in COMMANDS] or COMMANDS).parse_args(arguments)
    try:
        if "run" not in options:
            return _interactive()
        return int(options.run(options))
    except NcclcheckError as error:
        return report(error)
    except BrokenPipeError:
        # The reader (head, less) went away; that is its right.
        sys.stderr.close()
        return ExitCode.CLEAR
    except KeyboardInterrupt:
        return 130


def _interactive() -> int:
    from ncclcheck.tui.app import run_app

    return run_app()


def console() -> None:
    """Entry point of the console script."""
    sys.exit(main(sys.argv[1:]))
