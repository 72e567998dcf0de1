"""A guide's placeholders: ``{interface}`` becomes its value, or ``<INTERFACE>`` where there is none. Pure.

Values come from other machines too. In a command a value is one word and no option; where quoting can't be told, only
what needs none is put in. ``{{`` and ``}}`` are braces.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping

from ncclcheck.printable import shell_word

_TOKEN = re.compile(r"(?P<brace>\{\{|\}\})|\{(?P<name>[a-z][a-z0-9_]*)\}")
_WITHIN = re.compile(_TOKEN.pattern + r"|(?P<escaped>\\['\"\\])|(?P<quote>['\"])")
_OUTSIDE = re.compile(_WITHIN.pattern + r"|(?P<comment>(?:(?<=\s)|^)\#[^\n]*)", re.MULTILINE)
_NESTED = re.compile(r"\$[({']|`|<<")
"""A shell's texts within texts, where a quote may begin or end what a scan of the line does not see."""
_PLAIN = re.compile(r"(?!-)[A-Za-z0-9_@%+=:,./^-]*")
_SETTING = re.compile(r"([A-Za-z_]\w*)=(.*)", re.ASCII | re.DOTALL)
_NO_SETTING = re.compile(r"(?<!\S)(?:env )?\{setting\} +")
"""What stands before a command that needs no setting; a blank too many would make it look as if one were lost."""
_SHELL_WORDS = frozenset({"setting", "invitation"})
"""Placeholders that are several words of a command line, or none."""


def placeholders(text: str) -> tuple[str, ...]:
    """The names that a text asks for, in their order."""
    return tuple(match["name"] for match in _TOKEN.finditer(text) if match["name"])


def without_placeholders(text: str) -> str:
    """What a text says by itself."""
    return _TOKEN.sub(" ", text)


def stray_brace(text: str) -> str:
    """The first brace that is neither a placeholder's nor doubled, with what follows it."""
    match = re.search(r"[{}][^{}\n]{0,20}\}?", without_placeholders(text))
    return match[0] if match else ""


def fill(text: str, values: Mapping[str, str]) -> str:
    """The text with its values, each on one line; what has none is shown as ``<NAME>``.

    What stands between backticks is filled as a command: somebody will copy it.
    """
    parts = text.split("`")
    last = len(parts) - 1
    return "`".join(
        fill_command(part, values) if place % 2 and place < last else _fill_words(part, values)
        for place, part in enumerate(parts)
    )


def _fill_words(text: str, values: Mapping[str, str]) -> str:
    return _TOKEN.sub(lambda match: _put(match, values, lambda name: " ".join(values[name].split())), text)


def fill_block(text: str, values: Mapping[str, str]) -> str:
    """A file or a manifest with its values: only those that mean nothing to a shell, to YAML or to nccl.conf."""
    return _TOKEN.sub(lambda match: _put(match, values, lambda name: _unquoted(name, values[name])), text)


def fill_command(text: str, values: Mapping[str, str]) -> str:
    """A command with its values, each quoted for sh, bash and zsh as the place asks where it stands."""
    if values.get("setting") == "":
        text = _NO_SETTING.sub("", text)
    if _NESTED.search(text):
        return fill_block(text, values)
    pieces, at, within = [], 0, ""
    while match := (_WITHIN if within else _OUTSIDE).search(text, at):
        pieces += [text[at : match.start()], _piece(match, within, values)]
        within, at = _after(match, within), match.end()
    return "".join((*pieces, text[at:]))


def _piece(match: re.Match[str], within: str, values: Mapping[str, str]) -> str:
    """What stands in a command in a token's stead; ``within`` is the quote that is open."""
    if match["name"] or match["brace"]:
        form = _unquoted if within else _quoted
        return _put(match, values, lambda name: form(name, values[name]))
    return match[0] if within or not match["comment"] else fill_block(match[0], values)


def _after(match: re.Match[str], within: str) -> str:
    """The quote that is open behind a token; a backslash means nothing between single quotes."""
    quote = match["quote"] or ("'" if within == "'" and match[0] == "\\'" else "")
    if not quote or within not in ("", quote):
        return within
    return "" if within else quote


def _put(match: re.Match[str], values: Mapping[str, str], form: Callable[[str], str | None]) -> str:
    name = match["name"]
    if not name:
        return match["brace"][0]
    put = form(name) if values.get(name) or (name in values and name in _SHELL_WORDS) else None
    return f"<{name.upper()}>" if put is None else put


def _unquoted(name: str, value: str) -> str | None:
    """The value as it is, where it needs no quotes."""
    words = _words(value) if name in _SHELL_WORDS else [value]
    return " ".join(words) if all(map(_PLAIN.fullmatch, words)) else None


def _quoted(name: str, value: str) -> str | None:
    """The value as one word, or as the words that it is; None for a line end or what would be read as an option."""
    if not value.isprintable() or value.startswith("-"):
        return None
    if name not in _SHELL_WORDS:
        return shell_word(value)
    return " ".join(map(_word, _words(value)))


def _words(value: str) -> list[str]:
    try:
        return shlex.split(value)
    except ValueError:
        return [value]


def _word(word: str) -> str:
    setting = _SETTING.fullmatch(word)
    return f"{setting[1]}={shell_word(setting[2])}" if setting else shell_word(word)
