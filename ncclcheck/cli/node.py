"""``ncclcheck node``: what this machine is, and what NCCL will do on it."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable

from ncclcheck.cli.diagnostics import ExitCode
from ncclcheck.cli.node_text import node_text
from ncclcheck.cli.output import write, write_json
from ncclcheck.doctor.scan import scan
from ncclcheck.model import Change, Choice, ConfLine, Facts, Node, Trouble
from ncclcheck.node.version import NEWEST

HARMLESS = (Trouble.OTHER_VERSION, Trouble.REPLACED_FILE)
"""Worth knowing, yet mostly meant so."""

_EPILOG = """\
what if: `--what-if NCCL_SOCKET_IFNAME==eth1` (exactly eth1), `--what-if NCCL_SOCKET_IFNAME=` (an empty value, which
hides the one of an nccl.conf), `--what-if NCCL_SOCKET_IFNAME-` (not set in the environment, so that an nccl.conf
counts). It can be given several times; nothing is changed.
exit codes: 0 nothing wrong found, 1 NCCL finds no interface or misreads a setting, 2 wrong usage, 3 cannot tell."""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command and its arguments."""
    parser = subparsers.add_parser(
        "node",
        help="show this machine as NCCL sees it, and which interface it will take",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--nccl", metavar="VERSION", type=version, help="predict for this NCCL version")
    parser.add_argument("--python", metavar="PATH", help="the Python that your training uses")
    parser.add_argument(
        "--what-if",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        type=_change,
        help="what would NCCL choose with this variable; NAME- for not set",
    )
    parser.add_argument(
        "--pid", action="append", default=[], type=_pid, help="look at a running process instead; several side by side"
    )
    parser.add_argument("--json", action="store_true", help="print JSON (docs/node-json.md)")
    parser.set_defaults(run=run)


def version(text: str) -> str:
    """An NCCL version as an argument."""
    if not re.fullmatch(r"\d+\.\d+(\.\d+)?", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no version such as 2.29.7")
    return text


def _change(text: str) -> Change:
    from ncclcheck.node.whatif import change

    found = change(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is neither NAME=VALUE nor NAME- (not set)")
    return found


def _pid(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,9}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no process number")
    return int(text)


def run(options: argparse.Namespace) -> ExitCode:
    """Show the facts; a choice that fails, or a line that NCCL misreads, is a problem."""
    if options.pid:
        return _processes(options)
    facts = scan(Node("this machine"), nccl=options.nccl, python=options.python)
    if options.what_if:
        return _what_if(facts, options)
    if options.json:
        write_json(facts)
    else:
        write(node_text(facts))
    return exit_code(facts)


def _processes(options: argparse.Namespace) -> ExitCode:
    from ncclcheck.cli.processes_text import processes_text
    from ncclcheck.doctor.processes import processes

    found = processes(options.pid, nccl=options.nccl)
    if options.json:
        write_json(found)
    else:
        write(processes_text(found))
    codes = [_code(one.conf_troubles, one.choice) for one in found.processes]
    return ExitCode.PROBLEM if found.differing else max(codes, key=(0, 3, 1).index)


def _what_if(facts: Facts, options: argparse.Namespace) -> ExitCode:
    from ncclcheck.cli.whatif_text import whatif_json, whatif_text
    from ncclcheck.doctor.foresight import foresee
    from ncclcheck.node.resolve import first_address

    nccl = options.nccl or (facts.choice.nccl if facts.choice else NEWEST)
    seen = foresee((facts,), options.what_if, nccl, resolve=first_address)
    if options.json:
        write_json(whatif_json(seen))
    else:
        write(whatif_text(seen))
    answer = seen.nodes[0].answer
    return _code(answer.troubles, answer.choice) if answer else ExitCode.UNKNOWN


def exit_code(facts: Facts) -> ExitCode:
    """0 nothing wrong, 1 NCCL finds no interface or misreads a setting, 3 no prediction possible."""
    return _code(facts.conf_troubles, facts.choice)


def _code(troubles: Iterable[ConfLine], choice: Choice | None) -> ExitCode:
    if any(trouble.trouble not in HARMLESS for trouble in troubles) or (choice and choice.code):
        return ExitCode.PROBLEM
    return ExitCode.CLEAR if choice else ExitCode.UNKNOWN
