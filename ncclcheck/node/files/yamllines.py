"""The settings in a YAML file, line by line (pure).

This is no YAML parser: it knows the shapes in which Kubernetes and docker compose write variables — ``name:`` with
``value:``, ``NAME: value``, ``- NAME=value``, and the same between braces — and reads everything else as a shell line,
for scripts stand in such files too. Scalars as in YAML 1.2, 7.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ncclcheck.model import FileKind, Trouble
from ncclcheck.node.files import shell
from ncclcheck.node.files.assignment import NAME, Assignment, Span, Style
from ncclcheck.node.values import Fault

_NAMED = re.compile(rf"""\s*(?:-\s+)?["']?name["']?:\s+["']?(?P<name>{NAME})["']?\s*(?:#.*)?$""")
_VALUE = re.compile(r"""(?P<head>\s*(?:-\s+)?["']?value["']?:(?:\s+|$))""")
_FLOW = re.compile(
    rf"""\{{\s*["']?name["']?:\s*["']?(?P<name>{NAME})["']?\s*,\s*["']?value["']?:\s*"""
    r"""(?P<value>"[^"]*"|'[^']*'|[^,}]*?)\s*\}"""
)
_MAPPED = re.compile(rf"""\s*["']?(?P<name>{NAME})["']?\s*:(?:\s+|$)""")
_LISTED = re.compile(rf"""\s*-\s+["']?(?P<name>{NAME})=""")
_NOT_TEXT = re.compile(
    r"[-+]?(\d[\d_]*(\.\d*)?([eE][-+]?\d+)?|0x[\da-fA-F]+|0o?[0-7]+)|true|false|yes|no|on|off|null|~", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value in YAML."""

    start: int
    end: int
    text: str
    plain: bool
    """Without quotes of its own."""
    known: bool


def scalar(line: str, start: int) -> Scalar:
    """The value that begins there: in quotes, or plain up to a comment."""
    body = line[start:]
    quoted = re.match(r'"((?:[^"\\]|\\.)*)"' + r"|'((?:[^']|'')*)'", body)
    if quoted:
        text = quoted[1] if quoted[1] is not None else quoted[2].replace("''", "'")
        return Scalar(start, start + quoted.end(), text, plain=False, known=_is_known(text, quoted[1] is not None))
    text = re.split(r"(?:^|\s+)#", body, maxsplit=1)[0].rstrip()
    return Scalar(
        start, start + len(text), text, plain=True, known=_is_known(text, False) and text[:1] not in "|>&*!{["
    )


def _is_known(text: str, escapes: bool) -> bool:
    # Compose, Kubernetes and Helm put something in for $NAME, $(NAME) and {{ … }}.
    return not re.search(r"\$|\{\{", text) and not (escapes and "\\" in text)


def read(lines: Sequence[str], kind: FileKind) -> Iterator[Assignment]:
    """The settings of a YAML file."""
    exports = shell.Exports()
    script: list[Assignment] = []
    for index, line in enumerate(lines):
        if line.lstrip().startswith("#"):
            continue
        shaped = tuple(_of_line(lines, index, kind))
        yield from shaped
        if not shaped and not _is_bare_name(line):
            # The mark of a list item would be taken for a command.
            body = re.sub(r"^(\s*)-(?=\s)", r"\1 ", line)
            script += shell.read(body, index + 1, exports)
    yield from (shell.exported(found, exports) for found in script)


def _is_bare_name(line: str) -> bool:
    return _NAMED.match(line) is not None


def _of_line(lines: Sequence[str], index: int, kind: FileKind) -> Iterator[Assignment]:
    line = lines[index]
    if found := _NAMED.match(line):
        yield from _named(found, lines, index, kind)
    elif found := _MAPPED.match(line):
        yield _mapped(found, scalar(line, found.end()), index + 1, kind)
    elif found := _LISTED.match(line):
        yield _listed(found, line, index + 1)
    else:
        yield from (_in_braces(found, index + 1) for found in _FLOW.finditer(line))


def _named(found: re.Match[str], lines: Sequence[str], index: int, kind: FileKind) -> Iterator[Assignment]:
    at = _value_line(lines, index)
    if at is None:
        return
    head = _VALUE.match(lines[at])
    assert head is not None
    value = scalar(lines[at], head.end())
    yield _assignment(found["name"], Span(index + 1, *found.span("name")), value, at + 1, _text_only(value, kind))


def _value_line(lines: Sequence[str], index: int) -> int | None:
    """The line with the value of this name: the next one of the same list item, or the one before."""
    for at in range(index + 1, min(index + 4, len(lines))):
        if _VALUE.match(lines[at]) and not lines[at].lstrip().startswith("-"):
            return at
        if lines[at].strip() and not lines[at].lstrip().startswith("#"):
            break
    before = index - 1
    named_first = lines[index].lstrip().startswith("-")
    return before if not named_first and before >= 0 and _VALUE.match(lines[before]) else None


def _text_only(value: Scalar, kind: FileKind) -> tuple[Fault, ...]:
    """Kubernetes takes only text (EnvVar.value is a string) and refuses the manifest otherwise."""
    if kind is not FileKind.KUBERNETES or not value.plain or not _NOT_TEXT.fullmatch(value.text):
        return ()
    meaning = f"without quotes {value.text} is no text in YAML, and Kubernetes refuses the manifest"
    return (Fault(Trouble.SYNTAX, meaning, ""),)


def _mapped(found: re.Match[str], value: Scalar, number: int, kind: FileKind) -> Assignment:
    wrong: tuple[Fault, ...] = ()
    if kind is FileKind.COMPOSE and value.plain and value.text in ("true", "false"):
        wrong = (Fault(Trouble.SYNTAX, f"without quotes {value.text} is no text, and docker compose refuses it", ""),)
    return _assignment(found["name"], Span(number, *found.span("name")), value, number, wrong)


def _assignment(name: str, name_at: Span, value: Scalar, number: int, wrong: tuple[Fault, ...]) -> Assignment:
    at = Span(number, value.start, value.end)
    edits = ((at, f'"{value.text}"'),) if wrong else ()
    # An edit of the value itself, where there is one, takes the place of this one: both have the same span.
    text = value.text if value.known else None
    return Assignment(name, text, name_at, at, Style.YAML, wrong, edits)


def _listed(found: re.Match[str], line: str, number: int) -> Assignment:
    """``- NAME=value``: one scalar, so that quotes behind the “=” belong to the value."""
    start = found.start("name")
    whole = scalar(line, start - 1 if line[start - 1] in "\"'" else start)
    end = whole.end if whole.plain else whole.end - 1
    text = whole.text.partition("=")[2] if whole.known else None
    return Assignment(
        found["name"],
        text,
        Span(number, *found.span("name")),
        Span(number, found.end(), end),
        Style.LITERAL,
    )


def _in_braces(found: re.Match[str], number: int) -> Assignment:
    start, end = found.span("value")
    value = replace(scalar(found[0], start - found.start()), start=start, end=end)
    return _assignment(found["name"], Span(number, *found.span("name")), value, number, ())
