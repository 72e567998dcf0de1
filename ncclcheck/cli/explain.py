"""``ncclcheck explain NC101``: a rule as a page."""

from __future__ import annotations

import argparse

from ncclcheck.cli import output
from ncclcheck.cli.diagnostics import ExitCode
from ncclcheck.cli.rule_options import add_rule_options, chosen_rules


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Arguments of ``explain``."""
    parser = subparsers.add_parser("explain", help="a rule as a page: what it says, looks for and advises")
    parser.add_argument("rule", metavar="RULE", help="its id, such as NC101, or its name")
    add_rule_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> ExitCode:
    """The page; raises RuleError with the nearest rule where there is none of that name."""
    from ncclcheck.rulebook.explain import found, page
    from ncclcheck.rulebook.vocabulary import vocabulary

    book = chosen_rules(options)
    output.write(page(found(options.rule, book.rules), vocabulary(book.events).causes).rstrip("\n"))
    return ExitCode.CLEAR
