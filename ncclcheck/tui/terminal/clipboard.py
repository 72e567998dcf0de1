"""A copy that survives: the terminal's clipboard, through whatever runs in between, and a file beside it.

OSC 52 (xterm, ctlseqs, "Operating System Commands") is lost without a word on many terminals, so that it is never all.
"""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path

from ncclcheck.errors import NcclcheckError
from ncclcheck.state_folder import state_folder

_MOST = 100_000
"""Bytes of a sequence; some terminals print what is longer, or hang."""
_MOST_OF_SCREEN = 252
"""Bytes between the marks of a string that GNU screen passes on: it cuts off beyond 256 (4.0), later beyond 768."""


def fits(text: str) -> bool:
    """Whether a terminal may be asked to take it."""
    return len(_osc52(text)) <= _MOST


def passed_through(text: str, environment: Mapping[str, str] = os.environ) -> str:
    """What makes tmux or GNU screen hand it to the terminal around them; nothing where neither is there.

    tmux from 3.3 wants ``allow-passthrough`` for it; with ``set-clipboard on`` it takes the plain sequence itself.
    """
    if environment.get("TMUX"):
        return f"\x1bPtmux;{_osc52(text).replace(chr(27), chr(27) * 2)}\x1b\\"
    if environment.get("STY"):
        whole = _osc52(text)
        pieces = (whole[at : at + _MOST_OF_SCREEN] for at in range(0, len(whole), _MOST_OF_SCREEN))
        return "".join(f"\x1bP{piece}\x1b\\" for piece in pieces)
    return ""


def _osc52(text: str) -> str:
    return f"\x1b]52;c;{b64encode(text.encode('utf-8', 'replace')).decode('ascii')}\x07"


def save(text: str, into: Path | None = None) -> str:
    """Write the text where it can be found again, readable by its owner only, and give the path."""
    path = (into or state_folder(os.environ)) / "copied.txt"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise NcclcheckError(f"cannot be written: {error.strerror}", place=str(path)) from error
    return str(path)
