"""``ncclcheck rules``: check, list and show the rules."""

from __future__ import annotations

import argparse
from pathlib import Path

from ncclcheck.cli import output
from ncclcheck.cli.diagnostics import ExitCode


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Arguments of ``rules``."""
    parser = subparsers.add_parser("rules", help="check and list the rules")
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    check = actions.add_parser("check", help="check rule files against their own samples")
    check.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="default: the built-in rules and yours")
    check.set_defaults(run=run_check)
    listing = actions.add_parser("list", help="list the rules")
    listing.set_defaults(run=run_list)


def run_check(options: argparse.Namespace) -> ExitCode:
    """Check all rules; exit 1 if any is wrong."""
    from ncclcheck.rulebook.check import check
    from ncclcheck.rulebook.load import load

    book = load(tuple(options.folders) or None)
    faults = [*map(str, book.broken), *check(book)]
    for fault in faults:
        output.write(fault)
    output.write(f"{len(book.events)} line shapes, {len(book.rules)} rules, {len(faults)} faults")
    return ExitCode.PROBLEM if faults else ExitCode.CLEAR


def run_list(options: argparse.Namespace) -> ExitCode:
    """One line a rule."""
    from ncclcheck.doctor.diagnose import rulebook

    for rule in rulebook().rules:
        output.write(f"{rule.id}  {rule.severity:<7}  {rule.cause:<24}  {rule.name}")
    return ExitCode.CLEAR
