"""What a pattern must be: one that compiles, in the subset that RE2 takes, and quick on every line. Pure.

The subset keeps patterns portable and, being without lookaround and backreferences, easy to bound in time.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import regex

from ncclcheck.rulebook.schema import Also, Bound, Condition, EventFile, EventShape, Match, RuleSpec

LONGEST_LINE = 65536
"""Characters of the longest text that a pattern may be given."""
LIMIT = 0.25
"""Seconds that a pattern may take on it."""

SHORTEST = 3
"""Letters of a literal; the gate does not look at hexadecimal digits."""

_PIECES = regex.compile(
    r"\\(?P<reference>[1-9g])|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]"
    r"|\(\?(?P<group>[=!]|<[=!]|P=|P>|>|\(|R\)|\||&)|(?<=[*+?}])(?P<possessive>\+)"
)
_WORDS = re.compile(r"[A-Za-z0-9:,] ?[A-Za-z0-9:, ]*")
_GROUPS = {"=": "lookahead", "!": "lookahead", "<=": "lookbehind", "<!": "lookbehind", "P=": "a backreference"}


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong with a part of a rule, and what to write instead."""

    key: str
    problem: str
    instead: str


def pattern_flaws(key: str, pattern: str) -> Iterator[Flaw]:
    """Flaws that a pattern has by itself."""
    try:
        regex.compile(pattern)
    except regex.error as error:
        yield Flaw(key, f"the pattern does not compile: {error}", "a backslash before ( ) [ ] . * + ? | meant as such")
        return
    if outside := _outside_re2(pattern):
        instead = "only what RE2 takes: look for what is there, and show by a near miss what must not be"
        yield Flaw(key, f"the pattern uses {outside}", instead)


def file_flaws(file: object) -> Iterator[Flaw]:
    """Flaws of all patterns in a rule file."""
    if isinstance(file, EventFile):
        for number, shape in enumerate(file.event):
            yield from shape_flaws(f"event[{number}]", shape)
    if isinstance(file, RuleSpec):
        for number, match in enumerate(file.match):
            parts: tuple[Match | Also, ...] = (match, *match.with_, *match.without)
            for sought in parts:
                yield from condition_flaws(f"match[{number}].where", sought.where)
        for number, fix in enumerate(file.fix):
            yield from condition_flaws(f"fix[{number}].when", fix.when)


def shape_flaws(key: str, shape: EventShape) -> Iterator[Flaw]:
    """Flaws of a line shape's literal and pattern."""
    if len(re.sub("[0-9a-f]", "", shape.literal)) < SHORTEST:
        instead = "words that every such line holds and few others do; digits and the letters a to f don't count"
        yield Flaw(f"{key}.literal", f"the literal {shape.literal!r} is too short to be a gate", instead)
    yield from pattern_flaws(f"{key}.pattern", shape.pattern)


def condition_flaws(key: str, where: Mapping[str, Condition]) -> Iterator[Flaw]:
    """Flaws of the patterns in conditions."""
    for name, condition in where.items():
        if isinstance(condition, Bound) and condition.pattern is not None:
            yield from pattern_flaws(f"{key}.{name}.pattern", condition.pattern)


def _outside_re2(pattern: str) -> str:
    for piece in _PIECES.finditer(pattern):
        if piece["reference"]:
            return "a backreference"
        if piece["possessive"]:
            return "a possessive quantifier"
        if piece["group"]:
            return _GROUPS.get(piece["group"], f"(?{piece['group']}")
    return ""


def slow_flaws(key: str, pattern: str, literal: str, lines: Iterable[str]) -> Iterator[Flaw]:
    """A pattern that takes too long on a line made to be hard for it."""
    compiled = regex.compile(pattern)
    pieces = dict.fromkeys(("a", "1", " ", *_WORDS.findall(pattern)))
    for text in hard_lines(literal, lines, pieces):
        if _seconds(compiled, text) > LIMIT:
            problem = f"the pattern takes more than {LIMIT} s on a line of 64 kB: {text[:60]}…"
            yield Flaw(key, problem, "begin with fixed words, and bound what repeats: [^ ]{1,200} for .*, no (a+)+")
            return


def hard_lines(literal: str, lines: Iterable[str], pieces: Iterable[str]) -> Iterator[str]:
    """Long lines that a pattern nearly matches: each sample over and over, and begun and then lost in repetition."""
    for line in lines:
        yield (line * (LONGEST_LINE // max(len(line), 1) + 1))[:LONGEST_LINE]
        begin = line.partition(literal)[0] + literal
        for piece in pieces:
            yield (begin + piece * LONGEST_LINE)[:LONGEST_LINE]


def _seconds(pattern: regex.Pattern[str], text: str, now: Callable[[], float] = time.perf_counter) -> float:
    began = now()
    try:
        pattern.search(text, timeout=LIMIT)
    except TimeoutError:
        return 2 * LIMIT
    return now() - began
