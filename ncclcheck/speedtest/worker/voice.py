"""What a side says: one JSON object a line on standard output, whole and at once."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import threading
from typing import Any

# torch and gloo put the place in their own source into an error: "[/…/pair.cc:152] ".
_SOURCE_LINE = re.compile(r"\[\S*/\S+:[0-9]+\] ")
_NOT_CONNECTED = re.compile(r"SO_ERROR: ([^,]+), remote=\[([^\]]+)\]")
_GONE = re.compile(
    r"Connection closed by peer \[([^\]]+)\]|(?:Read|Write|Send|Recv) error \[([^\]]+)\](?::\d+)?: ([^.]*)"
)
_NO_ROOM = re.compile(r"not enough memory|out of memory|allocate memory", re.IGNORECASE)


class Failure(Exception):
    """The test cannot go on; the text says why and what to look at."""

    def __init__(self, reason: str, told: dict[str, Any] | None = None) -> None:
        super().__init__(reason)
        self.told = told
        """Where another rank failed first: its ``rank`` and ``reason``, to be passed on as they are."""


class Voice:
    """Standard output, or what is left of it: a full disk or a closed pipe is said once, and the test goes on."""

    def __init__(self, rank: int, target: int = 1) -> None:
        self.rank = rank
        self._target: int | None = target
        self._one = threading.Lock()

    def say(self, event: str, **fields: Any) -> None:
        """Print one event."""
        with self._one:
            self._print({"event": event, "rank": self.rank, **fields})

    def last(self, event: str, **fields: Any) -> None:
        """Print one event and no other any more, whatever other threads still find."""
        with self._one:
            self._print({"event": event, "rank": self.rank, **fields})
            self._target = None

    def _print(self, words: dict[str, Any]) -> None:
        line = json.dumps(words).encode() + b"\n"
        try:
            # Not by way of a buffer: a line that could not be written would come back at the next one.
            while line and self._target is not None:
                line = line[os.write(self._target, line) :]
        except OSError as error:
            self._target = None
            _complain(f"speed test: results cannot be written ({error.strerror}); going on without\n")


def _complain(text: str) -> None:
    # Where nobody listens there either, nothing is lost.
    with contextlib.suppress(OSError, ValueError):
        os.write(sys.stderr.fileno(), text.encode())


def in_words(error: str) -> str:
    """What torch's or gloo's own text says, in a sentence where we know one."""
    if refused := _NOT_CONNECTED.search(error):
        return f"{refused[2]} did not take the connection ({refused[1]})"
    if gone := _GONE.search(error):
        why = gone[3] or "closed by the other side"
        return f"the connection to {gone[1] or gone[2]} broke ({why.rstrip('.').lower()})"
    first = _SOURCE_LINE.sub("", error.strip().split("\n")[0])
    if _NO_ROOM.search(first):
        return f"there is not enough memory for this SIZE here ({first})"
    return first
