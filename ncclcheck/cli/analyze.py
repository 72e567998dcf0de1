"""``ncclcheck analyze``: what is wrong, by logs that are already there."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping

from ncclcheck.cli import output
from ncclcheck.cli.diagnostics import ExitCode, note, report
from ncclcheck.cli.rule_options import add_rule_options, chosen_rules
from ncclcheck.errors import RuleError
from ncclcheck.model import Diagnosis, Verdict, Where

_EXIT = {Verdict.PROBLEM: ExitCode.PROBLEM, Verdict.HEALTHY: ExitCode.CLEAR, Verdict.UNKNOWN: ExitCode.UNKNOWN}


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Arguments of ``analyze``."""
    parser = subparsers.add_parser("analyze", help="find the cause in NCCL logs (files, gzip, folders, standard input)")
    parser.add_argument("names", nargs="*", metavar="FILE|FOLDER|-", help="default: standard input")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="the answer as JSON, schema 1")
    form.add_argument("--sarif", action="store_true", help="the answer as SARIF 2.1.0, for code review tools")
    form.add_argument("--markdown", action="store_true", help="the answer as Markdown, for an issue tracker")
    parser.add_argument(
        "--redact", action="store_true", help="replace names of hosts and users, and addresses; the same by the same"
    )
    add_rule_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> ExitCode:
    """Read, diagnose, answer."""
    from ncclcheck.doctor.diagnose import diagnose_sources
    from ncclcheck.logs.sources import excerpts, open_sources
    from ncclcheck.rulebook.load import BETWEEN

    try:
        book = chosen_rules(options, but=BETWEEN)
    except RuleError as error:
        report(error)
        return ExitCode.USAGE
    if not options.names and sys.stdin.isatty():
        note("Paste the log, then press Ctrl-D on a line of its own.")
    sources = open_sources(options.names or ["-"])
    diagnosis = diagnose_sources(sources, book=book)
    for shape in book.shapes.given_up:
        note(f"left out a line shape of kind {shape.kind}: its pattern takes too long on these lines")
    texts = excerpts(sources, (where for finding in diagnosis.findings for where in finding.evidence))
    if options.redact:
        from ncclcheck.doctor.redact import redacted

        diagnosis, texts = redacted(diagnosis, texts)
    _write(options, diagnosis, texts)
    return exit_code(diagnosis)


def _write(options: argparse.Namespace, diagnosis: Diagnosis, texts: Mapping[Where, str]) -> None:
    if options.json:
        from ncclcheck.cli.report_json import diagnosis_json

        output.write_json(diagnosis_json(diagnosis, texts))
    elif options.sarif:
        from ncclcheck.cli.report_sarif import diagnosis_sarif

        output.write_json(diagnosis_sarif(diagnosis, texts))
    elif options.markdown:
        from ncclcheck.cli.report_markdown import diagnosis_markdown

        output.write(diagnosis_markdown(diagnosis, texts))
    else:
        from ncclcheck.cli.report_text import findings_text, room

        output.write(findings_text(diagnosis, texts, room(output.columns())))


def exit_code(diagnosis: Diagnosis) -> ExitCode:
    """The verdict as an exit code."""
    return _EXIT[diagnosis.verdict]
