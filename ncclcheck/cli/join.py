"""``ncclcheck join``: take part in what ``ncclcheck pair`` began on another node."""

from __future__ import annotations

import argparse

from ncclcheck.cli.diagnostics import ExitCode
from ncclcheck.cli.pair import add_common, agreement, told

_DESCRIPTION = """\
Run what ncclcheck pair shows on the other node. Every address is tried at once; where none leads there, this says what
was tried, and prints this node's card, which does without a connection."""

_EPILOG = "exit codes: 0 verified by NCCL's own handshake, 1 not, 2 wrong usage, 3 no way there, or it broke off."


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command and its arguments."""
    parser = subparsers.add_parser(
        "join",
        help="take part in what ncclcheck pair began on another node",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("invitation", metavar="PORT-TOKEN ADDRESS", nargs="+", help="as ncclcheck pair shows it")
    add_common(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> ExitCode:
    """Join, and tell what comes of it."""
    from ncclcheck.doctor.join import join
    from ncclcheck.peer.invitation import read

    return told(join(read(tuple(options.invitation)), agreement(options), options.python), options.json)
