"""What a terminal without Unicode is shown instead: one ASCII character for each cell, so that every line keeps its
shape. Pure.

The texts themselves hold no second set of signs: what is drawn is changed on its last step, and with it the borders of
the toolkit and whatever strangers wrote.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

CHOICE = "NCCLCHECK_SIGNS"
"""A variable that says it where it cannot be found out: ``ascii`` or ``unicode``."""
_BARE = re.compile(r"(linux|cons\d+|vt\d+|ansi|dumb)([-+.].*)?")
"""Terminals whose fonts have no tick and no cross, whatever the locale says; the Linux console has 256 or 512 signs."""
_UTF8 = re.compile(r"utf-?8", re.IGNORECASE)
_LOOKS_LIKE = {
    "+": "✓✔┌┐└┘├┬┴┼╭╮╰╯╔╗╚╝╠╣╦╩╬┏┓┗┛┣┫┳┻╋",
    "x": "✗✘×",
    ">": "→›▸▶»",
    "<": "←‹◂◀«",
    "^": "↑▲",
    "v": "↓▼",
    "~": "…≈",
    ".": "·•",
    "-": "–—−─━╌┄┈▔▀▃▄",
    "|": "│┃║┆┊┤▎▏▍▌▋▊▉▐▕",
    "_": "▁▂",
    "=": "═▅▆",
    "#": "█▇▓",
    ":": "▒░",
    "'": "‘’",
    '"': "“”„",
    "u": "µμ",
    "o": "●○°",
}
_SAME = {ord(sign): look for look, signs in _LOOKS_LIKE.items() for sign in signs}


class _Table(dict[int, str]):
    """Finds what stands for a character when it first comes."""

    def __missing__(self, code: int) -> str:
        look = self[code] = chr(code) if code < 128 else _look(chr(code))
        return look


_TABLE = _Table(_SAME)


def to_ascii(text: str) -> str:
    """The text in ASCII, as wide as it was; escape sequences are ASCII and stay."""
    return text if text.isascii() else text.translate(_TABLE)


def ascii_wanted(environment: Mapping[str, str], encoding: str | None) -> bool:
    """Whether what is shown should be ASCII, by the variables of the user and the encoding of what shows it.

    A locale that was never chosen says nothing: most containers have none, and most terminals know UTF-8.
    """
    chosen = environment.get(CHOICE, "")
    if chosen in ("ascii", "unicode"):
        return chosen == "ascii"
    if bare(environment) or not _UTF8.search(encoding or "ascii"):
        return True
    locale = _locale(environment)
    return bool(locale) and not _UTF8.search(locale)


def bare(environment: Mapping[str, str]) -> bool:
    """Whether the terminal is one of the old kind: few signs, and no second screen."""
    return bool(_BARE.fullmatch(environment.get("TERM", "")))


def monochrome(environment: Mapping[str, str]) -> bool:
    """Whether a terminal is known to have no colours, though the user did not say so."""
    return bool(re.fullmatch(r"vt\d+([-+.].*)?", environment.get("TERM", "")))


def _locale(environment: Mapping[str, str]) -> str:
    every, characters, language = (environment.get(name, "") for name in ("LC_ALL", "LC_CTYPE", "LANG"))
    if not every and characters == "C.UTF-8":
        # Python itself puts it there where it finds the C locale, or none (PEP 538).
        return language
    return every or characters or language


def _look(character: str) -> str:
    from rich.cells import cell_len

    base = unicodedata.normalize("NFKD", character)[:1]
    width = cell_len(character)
    return base if base.isascii() and width == 1 else "?" * width
