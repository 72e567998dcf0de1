"""Text from strangers, made safe for a terminal and for a shell."""

from __future__ import annotations

import re
import shlex

_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\ufeff\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """The text with control characters and direction marks shown as ``\\xNN``; newline and tab stay."""
    return _UNSAFE.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def one_line(text: str, tab: int = 8) -> str:
    """The text as one line in which every character has its place: tabs become blanks, line ends are shown."""
    return text if text.isprintable() else printable(text.expandtabs(tab)).replace("\n", "\\x0a")


def shell_word(text: str) -> str:
    """The text as one word of a command line, for sh, bash and zsh: zsh reads ``=eth1`` as a command's path."""
    return f"'{text}'" if text.startswith(("=", "^")) and shlex.quote(text) == text else shlex.quote(text)
