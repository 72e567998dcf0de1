"""``ncclcheck handshake``: NCCL's own start between machines, with the real root and ranks that we play."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

import msgspec

from ncclcheck.cli.arguments import seconds, setting
from ncclcheck.cli.diagnostics import ExitCode, note
from ncclcheck.cli.handshake_text import handshake_text, invitation
from ncclcheck.cli.output import write, write_json
from ncclcheck.errors import PeerError
from ncclcheck.model import Handshake
from ncclcheck.peer.bootstrap_wire import Ticket, read_ticket, ticket_text

if TYPE_CHECKING:
    from collections.abc import Callable

_DESCRIPTION = """\
Shows whether machines reach each other as NCCL does when a job starts: the real NCCL serves its root, and ncclcheck
plays the ranks. No GPU is needed. Start it on the first machine; it prints the command for each other one:
  ncclcheck handshake                    on the machine of rank 0
  ncclcheck handshake TICKET 1           on the other one, with the ticket that the first one printed"""

_EPILOG = """\
--json prints one line a value: on the first machine the ticket at once, and on each the result at the end.
exit codes: 0 all connections seen from here came about, 1 one did not, 2 wrong usage, 3 could not be run."""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command and its arguments."""
    parser = subparsers.add_parser(
        "handshake",
        help="see whether machines reach each other as NCCL does at its start",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("ticket", metavar="TICKET", nargs="?", type=_ticket, help="what the first machine printed")
    parser.add_argument("rank", metavar="RANK", nargs="?", type=int, help="the rank to play: 1, 2, … (the first is 0)")
    parser.add_argument("--ranks", metavar="N", type=int, default=2, help="machines in all (default: 2)")
    parser.add_argument("--limit", metavar="SECONDS", type=seconds, help="wait for the others (default: 120)")
    parser.add_argument("--python", metavar="PATH", help="the Python that your training uses (first machine only)")
    parser.add_argument("--env", metavar="NAME=VALUE", action="append", default=[], type=setting, help="set a variable")
    parser.add_argument("--address", help="play the rank on this address instead of the one NCCL would take")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--attached", action="store_true", help=argparse.SUPPRESS)
    parser.set_defaults(run=run, error=parser.error)


def _ticket(text: str) -> Ticket:
    try:
        return read_ticket(text)
    except PeerError as error:
        raise argparse.ArgumentTypeError(f"{error.problem}. {error.next_step}") from error


def run(options: argparse.Namespace) -> ExitCode:
    """Play this machine's part and print what came about."""
    _check(options)
    result = _join(options) if options.ticket else _lead(options)
    write_json(as_json(result)) if options.json else write(handshake_text(result, options.ranks, options.rank or 0))
    return ExitCode.CLEAR if result.passed else ExitCode.PROBLEM


def _check(options: argparse.Namespace) -> None:
    """What argparse cannot check by itself; ends with its message and code."""
    error: Callable[[str], Any] = options.error
    if not 2 <= options.ranks <= 1024:
        error("--ranks is the number of machines: 2 to 1024")
    if options.ticket and options.rank is None:
        error("the ticket is followed by the rank to play: ncclcheck handshake TICKET 1")
    if options.ticket and not 1 <= options.rank < options.ranks:
        error(f"of {options.ranks} ranks, those of other machines are 1 to {options.ranks - 1}")
    if not options.ticket and options.address:
        error("--address is for the other machines: on the first one NCCL itself chooses")


def _lead(options: argparse.Namespace) -> Handshake:
    from ncclcheck.doctor.handshake import COMING, lead

    limit = options.limit or COMING

    def tell(ticket: Ticket) -> None:
        if options.json:
            write_json({"ticket": ticket_text(ticket)})
        else:
            note(invitation(ticket, options.ranks, limit))

    ends = sys.stdin.fileno() if options.attached else None
    return lead(options.ranks, tell, env=tuple(options.env), python=options.python, limit=limit, ends=ends)


def _join(options: argparse.Namespace) -> Handshake:
    from ncclcheck.doctor.handshake import join

    return join(
        options.ticket,
        options.rank,
        options.ranks,
        env=tuple(options.env),
        address=options.address,
        limit=options.limit,
    )


def as_json(result: Handshake) -> dict[str, Any]:
    """The result, and whether it passed."""
    return {**msgspec.to_builtins(result), "passed": result.passed}
