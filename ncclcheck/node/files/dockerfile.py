"""The settings in a Dockerfile: ENV in both of its forms, and what RUN and CMD set (pure).

Source: Dockerfile reference, "ENV" and "Format": quotes are removed, and only whole lines are comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ncclcheck.model import Trouble
from ncclcheck.node.files import shell
from ncclcheck.node.files.assignment import NAME, Assignment, Span, Style
from ncclcheck.node.files.shellwords import Word, commands
from ncclcheck.node.values import Fault

_INSTRUCTION = re.compile(r"\s*([A-Za-z]+)\s+")
_OLD_FORM = re.compile(rf"({NAME})[ \t]+(.*?)[ \t]*$")
_RUN_ALONE = re.compile(rf"\s*RUN\s+export\s+{NAME}=\S*\s*$", re.IGNORECASE)


def read(lines: Sequence[str]) -> Iterator[Assignment]:
    """The settings of a Dockerfile."""
    exports = shell.Exports()
    instruction = ""
    for number, line in enumerate(lines, start=1):
        if line.lstrip().startswith("#"):
            continue
        begins = _INSTRUCTION.match(line) if not instruction else None
        instruction = begins[1].upper() if begins else instruction
        start = begins.end() if begins else 0
        yield from _of_line(instruction, line, start, number, exports)
        if not line.rstrip().endswith("\\"):
            instruction = ""


def _of_line(instruction: str, line: str, start: int, number: int, exports: shell.Exports) -> Iterator[Assignment]:
    body = " " * start + line[start:]
    if instruction == "ENV":
        yield from _env(body, start, number)
    elif instruction in ("RUN", "CMD", "ENTRYPOINT"):
        found = tuple(shell.read(body, number, exports))
        yield from map(_lost, found) if _RUN_ALONE.match(line) else (replace(one, faults=(), edits=()) for one in found)


def _lost(found: Assignment) -> Assignment:
    meaning = "what a RUN step exports ends with that step: the container does not get it; ENV keeps it"
    edit = (Span(found.name_at.line, 0, found.name_at.start), "ENV ")
    return replace(found, faults=(Fault(Trouble.NO_EFFECT, meaning, ""),), edits=(edit,))


def _env(body: str, start: int, number: int) -> Iterator[Assignment]:
    old = _OLD_FORM.match(body, start)
    if old:
        yield _old_form(old, number)
        return
    words = next(iter(commands(body, comments=False, operators=False)), ())
    stray = next((word for word in words if "=" not in word.text), None)
    for word in words:
        found = re.match(rf"({NAME})=", body[word.start : word.end])
        if found:
            yield _with_stray(_new_form(found[1], word, number), stray, body)


def _new_form(name: str, word: Word, number: int) -> Assignment:
    start = word.start + len(name)
    value = word.text.partition("=")[2] if word.known else None
    return Assignment(name, value, Span(number, word.start, start), Span(number, start + 1, word.end))


def _with_stray(found: Assignment, stray: Word | None, body: str) -> Assignment:
    """A word without “=” stops the build: "can't find = in …" (buildkit, line parsers)."""
    if stray is None or stray.start < found.value_at.end:
        return found
    line, end = found.name_at.line, len(body.rstrip())
    if not stray.text.startswith("#"):
        meaning = f"“{stray.text}” has no “=”, and the build stops here; a value with blanks needs quotes"
        return replace(found, faults=(Fault(Trouble.SYNTAX, meaning, ""),))
    meaning = "only whole lines are comments in a Dockerfile: the build stops at “#”, which has no “=”"
    before = len(body[: stray.start].rstrip())
    return replace(found, faults=(Fault(Trouble.COMMENT, meaning, ""),), edits=((Span(line, before, end), ""),))


def _old_form(found: re.Match[str], number: int) -> Assignment:
    """``ENV NAME value``: the rest of the line is the value, without its quotes."""
    raw = found[2]
    word = next(iter(commands(f"'{raw}'" if "#" in raw else raw, operators=False)), ())
    known = "$" not in raw
    at = (Span(number, found.start(1), found.end(1)), Span(number, found.start(2), found.end(2)))
    if raw.startswith("="):
        meaning = "blanks round “=” make it the old form: the value begins with “=” and a blank"
        fault = Fault(Trouble.BLANKS, meaning, "")
        around = Span(number, found.end(1), found.start(2) + 1 + len(raw[1:]) - len(raw[1:].lstrip()))
        return Assignment(found[1], None, *at, Style.LITERAL, (fault,), ((around, "="),))
    text = " ".join(one.text for one in word) if word else raw
    return Assignment(found[1], text if known else None, *at, Style.LITERAL)
