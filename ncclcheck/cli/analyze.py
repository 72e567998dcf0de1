"""``ncclcheck analyze``: what is wrong, by logs that are already there."""

from __future__ import annotations

import argparse
import sys

from ncclcheck.cli import output
from ncclcheck.cli.diagnostics import ExitCode, note
from ncclcheck.model import Diagnosis, Verdict

_EXIT = {Verdict.PROBLEM: ExitCode.PROBLEM, Verdict.HEALTHY: ExitCode.CLEAR, Verdict.UNKNOWN: ExitCode.UNKNOWN}


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Arguments of ``analyze``."""
    parser = subparsers.add_parser("analyze", help="find the cause in NCCL logs (files, gzip, folders, standard input)")
    parser.add_argument("names", nargs="*", metavar="FILE|FOLDER|-", help="default: standard input")
    parser.add_argument("--json", action="store_true", help="the answer as JSON, schema 1")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> ExitCode:
    """Read, diagnose, answer."""
    from ncclcheck.cli.report_json import diagnosis_json
    from ncclcheck.cli.report_text import findings_text
    from ncclcheck.doctor.diagnose import diagnose_sources, rulebook
    from ncclcheck.logs.sources import excerpts, open_sources

    if not options.names and sys.stdin.isatty():
        note("Paste the log, then press Ctrl-D on a line of its own.")
    sources = open_sources(options.names or ["-"])
    for broken in rulebook().broken:
        note(f"left out a broken rule: {broken}")
    diagnosis = diagnose_sources(sources)
    texts = excerpts(sources, (where for finding in diagnosis.findings for where in finding.evidence))
    if options.json:
        output.write_json(diagnosis_json(diagnosis, texts))
    else:
        output.write(findings_text(diagnosis, texts))
    return exit_code(diagnosis)


def exit_code(diagnosis: Diagnosis) -> ExitCode:
    """The verdict as an exit code."""
    return _EXIT[diagnosis.verdict]
