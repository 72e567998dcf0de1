"""Run Python in a fresh network namespace, as root or as an ordinary user."""

from __future__ import annotations

import subprocess
import sys

ENTER = ("unshare", "--user", "--map-root-user", "--net")


def run(setup: str, code: str) -> str:
    """Run shell commands, then Python code, in one new namespace; gives what the code printed."""
    command = [*ENTER, "sh", "-ec", f'{setup}\nexec "$0" -W error -c "$1"', sys.executable, code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout
