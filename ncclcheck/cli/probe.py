"""``ncclcheck probe``: let the real NCCL choose, and compare with the prediction."""

from __future__ import annotations

import argparse

from ncclcheck.cli.arguments import seconds, setting
from ncclcheck.cli.diagnostics import ExitCode, note
from ncclcheck.cli.output import write, write_json
from ncclcheck.cli.probe_text import probe_text
from ncclcheck.doctor.difference import difference, save
from ncclcheck.doctor.probe import probe
from ncclcheck.doctor.scan import scan
from ncclcheck.model import Diagnosis, Node, Probe, Verdict
from ncclcheck.node.unusual import unusual


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command and its arguments."""
    parser = subparsers.add_parser("probe", help="run the real NCCL for a moment and see which interface it takes")
    parser.add_argument("--python", metavar="PATH", help="the Python that your training uses")
    parser.add_argument("--env", metavar="NAME=VALUE", action="append", default=[], type=setting, help="set a variable")
    parser.add_argument("--limit", metavar="SECONDS", type=seconds, default=60.0, help="give up after (default: 60)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> ExitCode:
    """Probe, diagnose and show."""
    from ncclcheck.doctor.diagnose import diagnose_probes

    node = Node("this machine", env=tuple(options.env))
    seen = probe(node, python=options.python, limit=options.limit)
    facts = scan(node, nccl=seen.nccl, python=options.python) if not options.json or seen.agrees is False else None
    report = str(save(difference(seen, facts))) if facts and seen.agrees is False else ""
    if options.json or facts is None:
        write_json(seen)
        if report:
            note(f"the prediction was wrong; {report} holds all that is needed to learn from it")
        return exit_code(seen, None)
    diagnosis = diagnose_probes([seen], (facts,))
    write(probe_text(seen, diagnosis, unusual(facts), report))
    return exit_code(seen, diagnosis)


def exit_code(seen: Probe, diagnosis: Diagnosis | None) -> ExitCode:
    """1 where NCCL failed, did not do as predicted, or a rule found a problem; 3 where nothing was seen."""
    found = diagnosis is not None and diagnosis.verdict is Verdict.PROBLEM
    if seen.code or seen.agrees is False or found:
        return ExitCode.PROBLEM
    return ExitCode.CLEAR if seen.seen.interface else ExitCode.UNKNOWN
