"""Where everything is kept that outlives a run (XDG Base Directory Specification, ``XDG_STATE_HOME``)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def state_folder(env: Mapping[str, str]) -> Path:
    """Our folder in the user's own one; a relative variable does not count, as the specification has it."""
    state = env.get("XDG_STATE_HOME", "")
    return (Path(state) if state.startswith("/") else Path(os.path.expanduser("~/.local/state"))) / "ncclcheck"
