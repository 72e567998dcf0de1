"""Work in the background makes way for the person at the keys.

Python runs one thread at a time, and a thread that wants to run waits 5 ms for one that never rests
(``sys.getswitchinterval``); a key press takes several turns. So whoever works long rests while keys are pressed.
One for the whole process, as is that lock.
"""

from __future__ import annotations

import gc
import time

_AWAKE = 0.15
"""Seconds after a key in which its effect is drawn, and the next one may come."""
_REST = 0.015
"""Seconds."""

_last_key = [0.0]


def key_pressed() -> None:
    """Somebody wants something."""
    _last_key[0] = time.monotonic()


def make_way() -> None:
    """Rest a little where somebody is at the keys; to be called every few milliseconds of work."""
    if time.monotonic() - _last_key[0] < _AWAKE:
        time.sleep(_REST)


SETTLED = 1.0
"""Seconds after the start in which everything that every start needs is loaded."""


def settle() -> None:
    """Let the garbage collector pass over all that is there now: it stays, and a full collection stops every thread.

    Measured with Textual 8.2: 55 ms twice a second while somebody scrolls, and nothing to speak of afterwards. While
    everything is being loaded it does not run at all (``tui.run``).
    """
    gc.freeze()
    gc.enable()
