"""The command line: one sub-command a file, each with ``add`` (its arguments) and ``run`` (its answer)."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ncclcheck import __version__
from ncclcheck.cli.diagnostics import ExitCode, report
from ncclcheck.errors import NcclcheckError

if TYPE_CHECKING:
    import argparse

COMMANDS = (
    "setup",
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
    "serve",
    "rules",
    "explain",
)

_EPILOG = """\
without a command: opens the interactive assistant; as text where there is no terminal for it.
exit codes: 0 nothing wrong found, 1 problems found, 2 wrong usage, 3 could not read or could not tell."""


def build_parser(commands: Sequence[str] = COMMANDS) -> argparse.ArgumentParser:
    """The sub-commands and their arguments."""
    import argparse

    parser = argparse.ArgumentParser(
        prog="ncclcheck",
        description="Finds out why a multi-node PyTorch + NCCL job hangs, fixes it, and proves the fix.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"ncclcheck {__version__}")
    parser.add_argument(
        "--plain",
        dest="as_text",
        nargs="*",
        metavar=("PLACE", "LOG"),
        help="print what the assistant shows, all of it or one place, about this node and these logs (-: stdin)",
    )
    subparsers = parser.add_subparsers(metavar="COMMAND", title="commands")
    for name in commands:
        importlib.import_module(f"ncclcheck.cli.{name}").add(subparsers)
    return parser


def main(arguments: Sequence[str]) -> int:
    """Run one command and give its exit code."""
    try:
        return _command(arguments) if arguments else _interactive()
    except NcclcheckError as error:
        return report(error)
    except BrokenPipeError:
        # The reader (head, less) went away; that is its right.
        sys.stderr.close()
        return ExitCode.CLEAR
    except KeyboardInterrupt:
        return 130


def _command(arguments: Sequence[str]) -> int:
    # Only the command asked for is imported: a log's answer need not wait for the rest.
    named = [name for name in arguments[:1] if name in COMMANDS]
    options = build_parser(named or COMMANDS).parse_args(arguments)
    if options.as_text is not None:
        from ncclcheck.cli import plain

        return int(plain.run(options.as_text))
    return int(options.run(options)) if "run" in options else _interactive()


def _interactive() -> int:
    from ncclcheck.tui.run import run_app, unfit

    if problem := unfit():
        from ncclcheck.cli import plain

        return int(plain.instead(problem))
    return run_app()


def console() -> None:
    """Entry point of the console script."""
    sys.exit(main(sys.argv[1:]))
