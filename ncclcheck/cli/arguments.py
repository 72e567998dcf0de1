"""Words of the command line that several commands take, each with the sentence that refuses another one."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def seconds(text: str) -> float:
    """A time limit in seconds."""
    try:
        limit = float(text)
    except ValueError:
        limit = 0.0
    if not 0 < limit < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time limit in seconds")
    return limit


def setting(text: str) -> tuple[str, str]:
    """A variable to set, ``NAME=VALUE``."""
    name, equals, value = text.partition("=")
    if not (name and equals) or "\0" in text:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def whole(least: int, most: int, what: str) -> Callable[[str], int]:
    """A whole number in these bounds; ``what`` completes “is not …”."""

    def read(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
        return int(text)

    return read
