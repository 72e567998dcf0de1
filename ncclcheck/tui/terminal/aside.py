"""A text on the normal screen, where the terminal's own marking and scrolling work. [effects]

For while the app is suspended: the terminal is then as it was before the app began.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from ncclcheck.printable import printable
from ncclcheck.tui.terminal.signs import ascii_wanted, to_ascii

_BACK = "\n-- Enter goes back to ncclcheck --"


def show(text: str, out: TextIO | None = None, keys: TextIO | None = None) -> None:
    """Print it, inert, and wait for Enter; the end of the input and Ctrl-C go back as well.

    It goes where Textual draws, to standard error: standard output may lead into a file.
    """
    out, keys = out or sys.__stderr__, keys or sys.__stdin__
    if out is None or keys is None:
        return
    inert = printable(text)
    if ascii_wanted(os.environ, out.encoding):
        inert = to_ascii(inert)
    with _interruptible():
        out.write(f"{inert.rstrip()}\n{_BACK}")
        out.flush()
        keys.readline()


@contextmanager
def _interruptible() -> Iterator[None]:
    # asyncio's own handler would end the app instead, once the wait is over.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        return
    finally:
        signal.signal(signal.SIGINT, before)
