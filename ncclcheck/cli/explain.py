"""``ncclcheck explain NC101``: a rule as a page; with a line of a log, what NCCL means by it."""

from __future__ import annotations

import argparse

from ncclcheck.cli import output
from ncclcheck.cli.diagnostics import ExitCode
from ncclcheck.cli.rule_options import add_rule_options, chosen_rules


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Arguments of ``explain``."""
    parser = subparsers.add_parser("explain", help="a rule as a page, or a line of NCCL's in plain words")
    parser.add_argument("rule", metavar="RULE|LINE", help="a rule's id or name; or a line of a log, in quotes")
    add_rule_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> ExitCode:
    """The page; raises RuleError with the nearest rule where there is none of that name."""
    if " " in options.rule.strip():
        return _explain_line(options.rule)
    from ncclcheck.rulebook.explain import found, page
    from ncclcheck.rulebook.vocabulary import vocabulary

    book = chosen_rules(options)
    output.write(page(found(options.rule, book.rules), vocabulary(book.events).causes).rstrip("\n"))
    return ExitCode.CLEAR


def _explain_line(line: str) -> ExitCode:
    from ncclcheck.doctor.explain import explain_line
    from ncclcheck.rulebook.explain import message_text

    message = explain_line(line)
    output.write(message_text(message) if message else "No message of NCCL's, as far as known (2.3.5 to 2.32.3).")
    return ExitCode.CLEAR if message else ExitCode.UNKNOWN
