"""``ncclcheck fix``: change nccl.conf, the diff first."""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import TypeVar

import msgspec

from ncclcheck.cli.diagnostics import ExitCode
from ncclcheck.cli.output import write, write_json
from ncclcheck.doctor import fix as doctor
from ncclcheck.doctor import history
from ncclcheck.errors import ApplyError
from ncclcheck.fixes import apply as files
from ncclcheck.fixes import plan
from ncclcheck.fixes.plan import Change
from ncclcheck.model import Applied, Edit, Fix, Node

T = TypeVar("T")

_HERE = Node(name="this machine")

_DESCRIPTION = """\
Changes settings in nccl.conf. Without --apply it only shows what would change.
The default file is /etc/nccl.conf for root, else ~/.nccl.conf."""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command and its arguments."""
    parser = subparsers.add_parser("fix", help="change nccl.conf: diff, apply, undo", description=_DESCRIPTION)
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], type=_pair, dest="sets")
    parser.add_argument("--unset", metavar="NAME", action="append", default=[], dest="unsets")
    parser.add_argument("--repair", action="store_true", help="put right every line that NCCL misreads")
    parser.add_argument("--file", metavar="PATH", help="the file to change")
    parser.add_argument("--apply", action="store_true", help="write it (a backup is kept beside the file)")
    parser.add_argument("--undo", action="store_true", help="take back the last change that was applied")
    parser.add_argument("--show", action="store_true", help="with --undo: only show what it would write")
    parser.add_argument(
        "--from", metavar="FILE", dest="given", help="edits, a fix, or changes to undo, as JSON; - reads standard input"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run, refuse=parser.error)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def run(options: argparse.Namespace) -> ExitCode:
    """Show, apply or undo."""
    change = Change(sets=tuple(options.sets), unsets=tuple(options.unsets), repair=options.repair)
    if options.given:
        return _exchange(options)
    if options.undo and change != Change():
        options.refuse("--undo takes back what was applied: nothing else can be changed with it")
    if options.show and not options.undo:
        options.refuse("--show goes with --undo: without --apply nothing is written anyway")
    if options.undo:
        return _show_undo(options) if options.show else _undo(options)
    if change == Change():
        options.refuse("say what to change: --set NAME=VALUE, --unset NAME, --repair or --undo")
    planned = doctor.revise(change, options.file)
    return _apply(planned, options) if options.apply else _show(planned, options)


def _show(planned: doctor.Preview, options: argparse.Namespace) -> ExitCode:
    if options.json:
        write_json(planned.edits)
        return ExitCode.CLEAR
    write(_text(planned))
    if planned.edits:
        write("\nNothing was written. The same command with --apply writes it.")
    return ExitCode.CLEAR


def _text(planned: doctor.Preview) -> str:
    if not planned.edits:
        return "Nothing to change: the file says so already."
    return "\n".join([plan.diff(planned.edits), "", *(f"Note: {caution}." for caution in planned.cautions)])


def _apply(planned: doctor.Preview, options: argparse.Namespace) -> ExitCode:
    try:
        applied = doctor.apply(planned.edits, _HERE) if planned.edits else ()
    except ApplyError as error:
        raise _as_root(error, options) from error
    if options.json:
        write_json(applied)
        return ExitCode.CLEAR
    write(_text(planned))
    for change in applied:
        kept = f"the old one is kept as {change.backup}" if change.backup else "it is new"
        write(f"\nWritten: {change.path}; {kept}. `ncclcheck fix --undo` takes it back.")
    return ExitCode.CLEAR


def _as_root(error: ApplyError, options: argparse.Namespace) -> ApplyError:
    """The same error, with the very command to copy where only the right to write is missing."""
    if not isinstance(error.__cause__, PermissionError):
        return error
    words = [word for name, value in options.sets for word in ("--set", f"{name}={value}")]
    words += [word for name in options.unsets for word in ("--unset", name)]
    words += [*(["--repair"] if options.repair else []), "--file", error.place, "--apply"]
    command = shlex.join(["sudo", sys.executable, "-m", "ncclcheck", "fix", *words])
    next_step = f"Use your own file (--file ~/.nccl.conf), or run: {command}"
    return ApplyError(error.problem, place=error.place, next_step=next_step)


def _undo(options: argparse.Namespace) -> ExitCode:
    undone = doctor.undo_last()
    if options.json:
        write_json(undone)
        return ExitCode.CLEAR
    for change in undone:
        write(f"{change.path} is as it was before {change.time}.")
    return ExitCode.CLEAR


def _show_undo(options: argparse.Namespace) -> ExitCode:
    made = history.changes()
    if not made:
        raise doctor.nothing_to_undo()
    review = made[0].review
    if options.json:
        write_json(review)
        return ExitCode.CLEAR
    write(plan.diff(review.back))
    write(f"\n{review.refusal or 'Nothing was written. The same command without --show writes it.'}")
    return ExitCode.CLEAR


def _exchange(options: argparse.Namespace) -> ExitCode:
    """Answer another ncclcheck, which keeps the record of what it changes on this node."""
    if options.undo and options.show:
        write_json(history.reviews((_decode(options.given, tuple[Applied, ...]),))[0])
    elif options.undo:
        undone = _decode(options.given, tuple[Applied, ...])
        files.undo(undone)
        write_json(undone)
    elif options.apply:
        write_json(files.apply(_decode(options.given, tuple[Edit, ...])))
    else:
        write_json(doctor.preview(_decode(options.given, Fix), _HERE, path=options.file))
    return ExitCode.CLEAR


def _decode(source: str, type_: type[T]) -> T:
    content = sys.stdin.buffer.read() if source == "-" else files.read(source)
    try:
        return msgspec.json.decode(content or b"", type=type_)
    except msgspec.DecodeError as error:
        raise ApplyError(f"is not what an earlier --json printed: {error}", place=source) from error
