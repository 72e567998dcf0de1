"""The settings in a shell line: assignments, exports, and the options of docker, mpirun and srun (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ncclcheck.model import Trouble
from ncclcheck.node.catalogue import catalogue, nearest
from ncclcheck.node.files.assignment import NAME, Assignment, Span, Style, syntax
from ncclcheck.node.files.shellwords import Command, Word, commands
from ncclcheck.node.values import GLOO_IFNAME, INTERFACE_LISTS, Fault

_ASSIGNED = re.compile(rf"({NAME})=")
_OPTION = re.compile(rf"""(?:-[ex]|--?[a-z][\w-]*=)?(['"]?)({NAME})=""")
_EXPORTING = ("export", "declare", "typeset", "readonly")
_BEFORE_A_SETTING = ("-e", "--env", "-x", "echo", "printf", "-n", *_EXPORTING)
"""What stands before a setting in quotes; behind anything else (``bash -c``, ``ssh``) such a text is a command."""
_NOT_EXPORTED = (
    "without “export” only this shell has the variable, and the programs that it starts do not"
    " (unless it was exported before)"
)


@dataclass(slots=True)
class Exports:
    """Which names a script exports somewhere: what another line assigns to them is seen as well."""

    names: set[str] = field(default_factory=set)
    all: bool = False
    """``set -a``."""


def read(text: str, number: int, exports: Exports) -> Iterator[Assignment]:
    """The settings of one line; what it exports is noted."""
    for command in commands(text):
        yield from _of_command(command, text, number, exports)


def _of_command(command: Command, text: str, number: int, exports: Exports) -> Iterator[Assignment]:
    verb = next((word for word in command if not re.match(r"\w+=", _raw(word, text))), None)
    if verb is None:
        for word in command:
            yield from map(_unexported, _assigned(word, text, number))
    elif verb.text == "setenv" and len(command) > 2:
        yield from _setenv(command[1], command[2], number)
    else:
        _note(verb, command, exports)
        for before, word in zip(("", *(word.text for word in command)), command, strict=False):
            yield from _of_word(word, before, text, number, exports)


def _raw(word: Word, text: str) -> str:
    return text[word.start : word.end]


def _note(verb: Word, command: Command, exports: Exports) -> None:
    words = [word.text for word in command]
    if verb.text == "set" and ("-a" in words or "allexport" in words):
        exports.all = True
    if verb.text in _EXPORTING and (verb.text == "export" or "-x" in words):
        exports.names.update(word.partition("=")[0] for word in words[1:])


def _unexported(found: Assignment) -> Assignment:
    if (nearest(found.name) or found.name) not in (*catalogue(), GLOO_IFNAME):
        return found  # a script's own variable
    here = Span(found.name_at.line, found.name_at.start, found.name_at.start)
    fault = Fault(Trouble.NOT_EXPORTED, _NOT_EXPORTED, "")
    return replace(found, faults=(*found.faults, fault), edits=((here, "export "),))


def exported(found: Assignment, exports: Exports) -> Assignment:
    """The assignment without that complaint where the script exports the name somewhere else."""
    if not exports.all and found.name not in exports.names:
        return found
    kept = tuple(fault for fault in found.faults if fault.trouble is not Trouble.NOT_EXPORTED)
    return replace(found, faults=kept, edits=() if len(kept) < len(found.faults) else found.edits)


def _assigned(word: Word, text: str, number: int) -> Iterator[Assignment]:
    found = _ASSIGNED.match(_raw(word, text))
    if found:
        value = word.text.partition("=")[2] if word.known else None
        start = word.start + len(found[1])
        yield Assignment(found[1], value, Span(number, word.start, start), Span(number, start + 1, word.end))


def _setenv(name: Word, value: Word, number: int) -> Iterator[Assignment]:
    if re.fullmatch(NAME, name.text):
        yield Assignment(
            name.text,
            value.text if value.known else None,
            Span(number, name.start, name.end),
            Span(number, value.start, value.end),
        )


def _of_word(word: Word, before: str, text: str, number: int, exports: Exports) -> Iterator[Assignment]:
    raw = _raw(word, text)
    if word.text.startswith("--export="):
        yield from _of_export_list(word, text, number)
        return
    found = _OPTION.match(raw)
    if found is None or (found[1] and " " in word.text and before not in _BEFORE_A_SETTING):
        yield from _nested(word, text, number, exports)
        return
    quote = found[1]
    closing = raw.find(quote, found.end()) if quote else len(raw)
    # In a list such as ["-e", "NAME=value"] a bracket or comma follows the quote.
    tail = raw[closing + 1 :] if closing >= 0 else ""
    value_start, value_end = word.start + found.end(), word.start + closing if closing >= 0 else word.end
    yield Assignment(
        found[2],
        word.text.removesuffix(tail).partition(f"{found[2]}=")[2] if word.known else None,
        Span(number, word.start + found.start(2), value_start - 1),
        Span(number, value_start, value_end),
        Style.LITERAL if quote else Style.SHELL,
    )


def _nested(word: Word, text: str, number: int, exports: Exports) -> Iterator[Assignment]:
    """A command in quotes, such as that of ``bash -c``, read where it stands so that its places are right."""
    raw = _raw(word, text)
    found = re.search(r"""(["'])(.*)\1""", raw) or re.fullmatch(r"""\W*(["'])(.*)""", raw)
    if found and re.search(rf"{NAME}\b", found[2]):
        blank = " " * (word.start + found.start(2))
        yield from (_bare(one, found[1]) for one in read(blank + found[2], number, exports))


def _bare(found: Assignment, quote: str) -> Assignment:
    """Inside of quotes no other quotes may be put, and what this shell puts in first cannot be seen."""
    return replace(found, style=Style.LITERAL) if quote == "'" else found


def _of_export_list(word: Word, text: str, number: int) -> Iterator[Assignment]:
    """Slurm's ``--export=ALL,NAME=VALUE``, which every comma divides (srun(1))."""
    raw = _raw(word, text)
    for found in re.finditer(rf"(?<=[=,'\"])({NAME})=([^,]*)((?:,[\w.^=-]+(?=,|['\"]?$))*)", raw):
        start = word.start + found.start(2)
        rest = [piece for piece in found[3].split(",") if piece and piece.isidentifier() and piece.islower()]
        cut = (syntax(_cut(found[1], found[2], rest)),) if rest and found[1] in INTERFACE_LISTS else ()
        value = found[2].strip("'\"") if word.known else None
        name_at = Span(number, word.start + found.start(1), start - 1)
        yield Assignment(found[1], value, name_at, Span(number, start, start + len(found[2])), Style.LITERAL, cut)


def _cut(name: str, value: str, rest: list[str]) -> str:
    whole = ",".join([value, *rest])
    return (
        f"Slurm ends the value at the comma: NCCL gets “{value}”, and {', '.join(rest)} is taken for the name of a"
        f" variable; export {name}={whole} in the script instead, and pass ALL"
    )
