"""Which Python runs the user's training, and what it would load.

The interpreter is asked for its folders by a one-line script; torch is never imported.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ncclcheck.errors import ProbeError

_QUESTION = "import json, sys; print(json.dumps([sys.executable, sys.prefix, [p for p in sys.path if p]]))"
_LIMIT = 20.0
"""Seconds; a Python on a slow network file system needs a few."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python, and where it looks for packages."""

    python: str
    prefix: str
    paths: tuple[str, ...]
    why: str
    """Why this one was chosen."""


def named(python: str, env: Mapping[str, str], why: str = "as asked for") -> Interpreter:
    """The interpreter of that path or name; ProbeError where it cannot be run."""
    found = shutil.which(python, path=env.get("PATH"))
    if found is None:
        raise ProbeError(
            "there is no such Python",
            place=python,
            next_step="Name the interpreter that your training uses: --python /path/to/bin/python3",
        )
    return _ask(found, env, why)


def candidates(env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Where the training's Python may be, best first, each with the reason."""
    for variable, title in (("VIRTUAL_ENV", "virtual environment"), ("CONDA_PREFIX", "conda environment")):
        if env.get(variable):
            yield f"{env[variable]}/bin/python", f"active {title} ({variable})"
    on_path = shutil.which("python3", path=env.get("PATH"))
    if on_path:
        yield on_path, "python3 on PATH"
    if sys.executable:
        yield sys.executable, "the Python that runs ncclcheck"


def _ask(python: str, env: Mapping[str, str], why: str) -> Interpreter:
    try:
        done = subprocess.run(
            [python, "-c", _QUESTION], env=dict(env), capture_output=True, text=True, timeout=_LIMIT, check=True
        )
        executable, prefix, paths = json.loads(done.stdout.splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        raise ProbeError(
            f"this Python does not answer: {_last_words(error)}",
            place=python,
            next_step="Name another interpreter with --python, or make this one run first",
        ) from error
    return Interpreter(python=executable or python, prefix=prefix, paths=tuple(map(os.fspath, paths)), why=why)


def _last_words(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError) and error.stderr.strip():
        return str(error.stderr.strip().splitlines()[-1])
    return str(error)


def ask_if_it_runs(python: str, env: Mapping[str, str], why: str) -> Interpreter | None:
    """As ``named``, for a Python that nobody asked for by name."""
    try:
        return named(python, env, why)
    except ProbeError:
        return None
