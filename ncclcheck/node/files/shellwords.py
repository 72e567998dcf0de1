"""A shell line as words with their places (pure).

Quotes, backslashes, comments and operators as in POSIX sh (2.2 Quoting, 2.3 Token Recognition); a quote that is not
closed on its line ends with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_OPERATORS = ";&|()<>"


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command."""

    start: int
    end: int
    text: str
    """Without its quotes."""
    known: bool
    """False where the shell puts something in: ``$NAME``, ``$(…)``, backquotes."""


Command = tuple[Word, ...]


def commands(line: str, *, comments: bool = True, operators: bool = True) -> tuple[Command, ...]:
    """The simple commands of a line; without ``operators`` all of it is one."""
    found: list[Command] = []
    words: list[Word] = []
    for token in _tokens(line, comments, operators):
        if isinstance(token, Word):
            words.append(token)
        elif words:
            found.append(tuple(words))
            words = []
    return (*found, tuple(words)) if words else tuple(found)


def _tokens(line: str, comments: bool, operators: bool) -> Iterator[Word | str]:
    at = 0
    while at < len(line):
        sign = line[at]
        if sign in " \t":
            at += 1
        elif (sign == "#" and comments) or line[at:] == "\\":
            return
        elif operators and sign in ";&|()":
            yield sign
            at += 1
        elif operators and sign in "<>":
            at += 1
        else:
            word = _word(line, at, operators)
            yield word
            at = word.end


def _word(line: str, start: int, operators: bool) -> Word:
    text, known, at = "", True, start
    while at < len(line) and line[at] not in " \t" and not (operators and line[at] in _OPERATORS):
        if line.startswith("$(", at):
            at = _closing(line, at)
            known = False
            continue
        part, at, plain = _part(line, at)
        text += part
        known = known and plain
    return Word(start, at, text, known)


def _part(line: str, at: int) -> tuple[str, int, bool]:
    """The next piece of a word: its text, where it ends, and whether the text is all of it."""
    sign = line[at]
    if sign == "'":
        end = line.find("'", at + 1)
        end = len(line) if end < 0 else end
        return line[at + 1 : end], end + 1 if end < len(line) else end, True
    if sign == '"':
        return _double_quoted(line, at + 1)
    if sign == "\\":
        return line[at + 1 : at + 2], min(at + 2, len(line)), True
    return sign, at + 1, sign not in "$`"


def _double_quoted(line: str, at: int) -> tuple[str, int, bool]:
    text, known = "", True
    while at < len(line) and line[at] != '"':
        if line[at] == "\\" and line[at + 1 : at + 2] in tuple('"\\$`'):
            at += 1
        elif line[at] in "$`":
            known = False
        text += line[at]
        at += 1
    return text, min(at + 1, len(line)), known


def _closing(line: str, start: int) -> int:
    """Behind the bracket that closes ``$(``."""
    depth = 0
    for at in range(start, len(line)):
        depth += {"(": 1, ")": -1}.get(line[at], 0)
        if depth == 0 and line[at] == ")":
            return at + 1
    return len(line)
