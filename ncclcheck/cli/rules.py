"""``ncclcheck rules``: check, list, show and try the rules, and begin a new one."""

from __future__ import annotations

import argparse
from pathlib import Path

from ncclcheck.cli import output
from ncclcheck.cli.diagnostics import ExitCode
from ncclcheck.cli.rule_options import add_rule_options, chosen_rules


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Arguments of ``rules``."""
    parser = subparsers.add_parser("rules", help="check, list, show and try the rules; begin a new one")
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    check = actions.add_parser("check", help="check rules against their own samples, and guides")
    check.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="default: the built-in rules and yours")
    check.set_defaults(run=run_check)
    listing = actions.add_parser("list", help="list the rules")
    listing.set_defaults(run=run_list)
    show = actions.add_parser("show", help="show a rule's file")
    show.add_argument("rule", metavar="RULE", help="id or name")
    show.set_defaults(run=run_show)
    new = actions.add_parser("new", help="begin a rule of your own")
    new.add_argument("name", metavar="NAME", help="what it finds, such as stale-lockfile")
    new.add_argument("--folder", metavar="DIR", type=Path, help="default: your rules in the configuration folder")
    new.set_defaults(run=run_new)
    trial = actions.add_parser("try", help="what the rules make of a log, and its lines that nothing knows")
    trial.add_argument("names", nargs="+", metavar="LOG")
    trial.set_defaults(run=run_try)
    for action in (listing, show, trial):
        add_rule_options(action)


def run_check(options: argparse.Namespace) -> ExitCode:
    """Check all rules and guides; exit 1 if any is wrong, 3 if something could not be looked at."""
    from ncclcheck.rulebook.check import check

    checked = check(tuple(options.folders))
    for fault in checked.faults:
        output.write(str(fault))
    for undone in checked.undone:
        output.write(f"not checked: {undone}")
    counts = f"{checked.events} line shapes, {checked.rules} rules, {checked.guides} guides"
    output.write(f"{counts}, {len(checked.faults)} faults")
    return ExitCode.PROBLEM if checked.faults else ExitCode.UNKNOWN if checked.undone else ExitCode.CLEAR


def run_list(options: argparse.Namespace) -> ExitCode:
    """One line a rule."""
    for rule in sorted(chosen_rules(options).rules, key=lambda rule: rule.id):
        output.write(f"{rule.id}  {rule.severity:<7}  {rule.cause:<24}  {rule.name}")
    return ExitCode.CLEAR


def run_show(options: argparse.Namespace) -> ExitCode:
    """The file, as its author wrote it."""
    from ncclcheck.rulebook.explain import found
    from ncclcheck.rulebook.load import file_of

    book = chosen_rules(options)
    output.write(file_of(found(options.rule, book.rules), options.rules).read_text(encoding="utf-8").rstrip("\n"))
    return ExitCode.CLEAR


def run_new(options: argparse.Namespace) -> ExitCode:
    """Write a rule that says nothing yet, to be filled in."""
    from ncclcheck.rulebook.draft import begin
    from ncclcheck.rulebook.library import user_folder

    path = begin(options.name, options.folder or user_folder())
    output.write(f"{path}\n\nFill it in, then: ncclcheck rules check {path.parent.parent}")
    return ExitCode.CLEAR


def run_try(options: argparse.Namespace) -> ExitCode:
    """Hits by event and rule, and the lines that nothing knows."""
    from ncclcheck.cli.trial_text import trial_text
    from ncclcheck.doctor.trial import try_rules
    from ncclcheck.logs.sources import open_sources

    output.write(trial_text(try_rules(open_sources(options.names), chosen_rules(options))))
    return ExitCode.CLEAR
