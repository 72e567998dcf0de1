"""The only writer of standard output."""

from __future__ import annotations

import shutil
import sys
from typing import Any

import msgspec

from ncclcheck.printable import printable


def write(text: str) -> None:
    """Print text for people; whatever strangers put into it is escaped."""
    sys.stdout.write(printable(text) + "\n")
    sys.stdout.flush()


def write_json(value: Any) -> None:
    """Print a value as one JSON object on a line of its own."""
    sys.stdout.buffer.write(msgspec.json.encode(value) + b"\n")
    sys.stdout.buffer.flush()


def columns() -> int | None:
    """How wide the terminal is that shows the text; None where it goes elsewhere, to be searched or kept."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
