"""``ncclcheck lint``: what the files that start a job say to NCCL."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ncclcheck.cli.diagnostics import ExitCode
from ncclcheck.cli.lint_text import lint_text
from ncclcheck.cli.node import HARMLESS, version
from ncclcheck.cli.output import write, write_json
from ncclcheck.doctor.lint import lint
from ncclcheck.model import FileKind, FileLint

_KINDS = {kind.name.lower().replace("_", "-"): kind for kind in FileKind}
_EPILOG = """\
reads nccl.conf, shell and Slurm scripts, Dockerfiles, Kubernetes manifests, docker compose and env files, line by
line; what is put in when the file is used ($NAME, templates) is not judged, and said to be so.
exit codes: 0 nothing wrong found, 1 a setting does not do what it seems to, 2 wrong usage, 3 a file was not read."""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command and its arguments."""
    parser = subparsers.add_parser(
        "lint",
        help="check scripts, Dockerfiles, manifests and nccl.conf for settings that NCCL reads otherwise",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", metavar="FILE", nargs="+", help="a file, or - for standard input")
    parser.add_argument("--nccl", metavar="VERSION", type=version, help="judge by this NCCL version")
    parser.add_argument("--kind", metavar="KIND", choices=sorted(_KINDS), help=f"one of: {', '.join(_KINDS)}")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> ExitCode:
    """Read the files and show what is wrong in them."""
    found = lint(options.files, nccl=options.nccl, kind=_KINDS.get(options.kind))
    if options.json:
        write_json({"files": found})
    else:
        write(lint_text(found))
    return exit_code(found)


def exit_code(found: Sequence[FileLint]) -> ExitCode:
    """1 where a setting is wrong, else 3 where a file could not be read."""
    if any(trouble.trouble not in HARMLESS for file in found for trouble in file.troubles):
        return ExitCode.PROBLEM
    return ExitCode.UNKNOWN if any(file.kind is None for file in found) else ExitCode.CLEAR
