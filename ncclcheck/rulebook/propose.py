"""From a line of a log to a pattern for all lines alike, and from a pattern to its gate. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

import regex

from ncclcheck.logs.records import records
from ncclcheck.model import Where
from ncclcheck.rulebook.patterns import LIMIT, SHORTEST, pattern_flaws

TOO_LONG = "it takes too long on a line: begin with fixed words, and bound what repeats"
_LONGEST = 160
"""Characters of a message that a pattern is made of; what follows differs from line to line."""
_NAME_WORDS = 4
_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()]")
_ADDRESS = r"\d{1,3}(?:\.\d{1,3}){3}"
_VARYING = re.compile(
    r"(?P<hex>0x[0-9a-fA-F]+)|(?P<address>\d{1,3}(?:\.\d{1,3}){3})|(?P<long>[0-9a-f]{1,4}(?::[0-9a-f]{0,4}){2,})"
    r"|(?P<path>/[^\s:,;'\"<>()\[\]]*/[^\s:,;'\"<>()\[\]]*)|(?P<number>\d+)|(?P<odd>[^ -~]+)"
)
_ALIKE = {
    "hex": "0x[0-9a-fA-F]{1,16}",
    "address": _ADDRESS,
    "long": "[0-9a-f:]{2,60}",
    "path": r"\S{1,200}",
    "number": r"\d{1,20}",
    "odd": ".{1,40}",
}
"""What stands for each kind of text that differs; bounded, so that no line takes long."""
_PIECE = re.compile(
    r"\\(?P<escaped>[^A-Za-z0-9])|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<sign>[().^$|])|(?P<letter>[^\\\[])"
)
_ALTERNATIVE = "||"
"""Stands for the sign between alternatives, which is no letter."""
_QUANTIFIER = re.compile(r"[*?+]\??|\{(?P<least>\d+)[^}]*\}\??")


def message_of(line: str) -> str:
    """What the program says in a line, without the launcher's prefix and NCCL's: what patterns are tried on."""
    return next((record.text for record in reversed(tuple(records(Where("", 1), line))) if record.text.strip()), "")


def pattern_for(message: str) -> str:
    """A pattern for messages that differ in numbers, addresses and paths; the first address is a field of that name."""
    kept = message.strip()
    if len(kept) > _LONGEST:
        kept = kept[:_LONGEST].rpartition(" ")[0] or kept[:_LONGEST]
    return _with_name("".join(_generalized(kept)))


def _generalized(text: str) -> Iterator[str]:
    at = 0
    for found in _VARYING.finditer(text):
        yield _SPECIAL.sub(r"\\\g<0>", text[at : found.start()])
        yield _ALIKE[found.lastgroup or "odd"]
        at = found.end()
    yield _SPECIAL.sub(r"\\\g<0>", text[at:])


def _with_name(pattern: str) -> str:
    return pattern.replace(_ADDRESS, f"(?P<address>{_ADDRESS})", 1)


def name_for(message: str) -> str:
    """A name for a rule about such messages."""
    words = re.findall(r"[a-z]{3,}", message.lower())
    return "-".join(words[:_NAME_WORDS]) or "own-rule"


def literal_of(pattern: str, line: str) -> str:
    """The words that every match holds for certain, the longest ones that the line has; empty where there are none.

    They are looked for in lines as they are, where a terminal's escape may stand between two words.
    """
    runs = list(_runs(pattern))
    words = [word for run in runs for word in run.split(" ")]
    there = [run for run in runs if run in line] or [word for word in words if word in line]
    return max(there, key=_weight, default="")


def _weight(text: str) -> tuple[int, int]:
    # Hexadecimal digits do not count in a gate.
    return len(re.sub("[0-9a-f]", "", text)), len(text)


def _runs(pattern: str) -> Iterator[str]:
    """The fixed texts on the outermost level; none where there are alternatives or switches such as (?i)."""
    pieces = list(_outermost(pattern))
    if _ALTERNATIVE in pieces or re.search(r"\(\?[a-zA-Z]+[:)-]", pattern):
        return
    run = ""
    for piece in pieces:
        run += piece
        if not piece:
            yield run
            run = ""
    yield run


def _outermost(pattern: str) -> Iterator[str]:
    """Each piece outside of groups: its letter where it is certain to be there, else nothing."""
    at = depth = 0
    while found := _PIECE.match(pattern, at):
        at = found.end()
        quantifier = _QUANTIFIER.match(pattern, at) if found["sign"] not in ("(", "|") else None
        at = quantifier.end() if quantifier else at
        depth += {"(": 1, ")": -1}.get(found["sign"] or "", 0)
        if depth == 0:
            yield from _certain(found, quantifier)


def _certain(found: re.Match[str], quantifier: re.Match[str] | None) -> Iterator[str]:
    if found["sign"] == "|":
        yield _ALTERNATIVE
        return
    letter = found["escaped"] or found["letter"] or ""
    if quantifier is None:
        yield letter
        return
    once = quantifier[0][0] == "+" or (quantifier["least"] or "0") != "0"
    yield letter if once else ""
    yield ""


def refusal(pattern: str, line: str) -> str:
    """Why no rule can be made from a line with a pattern; empty where one can."""
    for flaw in pattern_flaws("pattern", pattern):
        return f"{flaw.problem}; {flaw.instead}"
    try:
        if not regex.search(pattern, message_of(line), timeout=LIMIT):
            return "it does not match the line that the rule is made from"
    except TimeoutError:
        return TOO_LONG
    if _weight(literal_of(pattern, line))[0] < SHORTEST:
        return "it needs words that each such line holds: three letters at least, beside digits and a to f"
    return ""
