"""``ncclcheck node``: what this machine is, and what NCCL will do on it."""

from __future__ import annotations

import argparse
import re

from ncclcheck.cli.diagnostics import ExitCode
from ncclcheck.cli.node_text import node_text
from ncclcheck.cli.output import write, write_json
from ncclcheck.doctor.scan import scan
from ncclcheck.model import Facts, Node, Trouble

_HARMLESS = (Trouble.OTHER_VERSION, Trouble.REPLACED_FILE)
"""Worth knowing, yet mostly meant so."""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command and its arguments."""
    parser = subparsers.add_parser("node", help="show this machine as NCCL sees it, and which interface it will take")
    parser.add_argument("--nccl", metavar="VERSION", type=_version, help="predict for this NCCL version")
    parser.add_argument("--python", metavar="PATH", help="the Python that your training uses")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def _version(text: str) -> str:
    if not re.fullmatch(r"\d+\.\d+(\.\d+)?", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no version such as 2.29.7")
    return text


def run(options: argparse.Namespace) -> ExitCode:
    """Show the facts; a choice that fails, or a line that NCCL misreads, is a problem."""
    facts = scan(Node("this machine"), nccl=options.nccl, python=options.python)
    if options.json:
        write_json(facts)
    else:
        write(node_text(facts))
    return exit_code(facts)


def exit_code(facts: Facts) -> ExitCode:
    """0 nothing wrong, 1 NCCL finds no interface or misreads a setting, 3 no prediction possible."""
    serious = [trouble for trouble in facts.conf_troubles if trouble.trouble not in _HARMLESS]
    if serious or (facts.choice and facts.choice.code):
        return ExitCode.PROBLEM
    return ExitCode.CLEAR if facts.choice else ExitCode.UNKNOWN
