"""Exit codes, and the only writer of standard error."""

from __future__ import annotations

import sys
from enum import IntEnum

from ncclcheck.errors import NcclcheckError
from ncclcheck.printable import printable


class ExitCode(IntEnum):
    """What the shell gets; documented in the README and stable."""

    CLEAR = 0
    PROBLEM = 1
    USAGE = 2
    UNKNOWN = 3


def report(error: NcclcheckError) -> ExitCode:
    """Say what went wrong and what to do, and give the exit code for it."""
    print(f"ncclcheck: {printable(str(error))}", file=sys.stderr)
    return ExitCode.UNKNOWN


def note(text: str) -> None:
    """Say something beside the answer, such as progress."""
    print(printable(text), file=sys.stderr, flush=True)
