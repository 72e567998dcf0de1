"""Running the real NCCL in a fresh process, and reading what it said.

NCCL keeps its choice for the life of a process, so each probe is a process of its own. Its log goes to a file:
on a pipe NCCL's output is block-buffered, and a probe that has to be killed would lose it.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ncclcheck.errors import ProbeError
from ncclcheck.model import Choice
from ncclcheck.node import bootstrap_probe
from ncclcheck.node.subnet import literal
from ncclcheck.node.version import from_code

_SCRIPT = Path(bootstrap_probe.__file__)
_USING = re.compile(r"NCCL INFO Bootstrap ?: Using (?P<place>.*)<\d+>\s*$")
_LONGEST_LOG = 1 << 20


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back from ncclGetUniqueId."""

    nccl: str
    code: int
    unique_id: bytes
    log: tuple[str, ...]


def run(python: str, library: str, env: Mapping[str, str], limit: float) -> Answer:
    """Ask this library for a unique id; ProbeError where no answer came within ``limit`` seconds."""
    with _scratch_folder() as folder:
        log = Path(folder) / "nccl.log"
        finished = _finish([python, str(_SCRIPT), library], _environment(env, log), limit)
        lines = _lines(log, finished.chatter)
    return _answer(finished, lines, library, limit)


def _scratch_folder() -> tempfile.TemporaryDirectory[str]:
    try:
        return tempfile.TemporaryDirectory(prefix="ncclcheck-probe-")
    except OSError as error:
        problem = f"no folder for the log can be made: {error.strerror}"
        raise ProbeError(problem, place="TMPDIR", next_step="Set TMPDIR to a folder that can be written") from error


def _environment(env: Mapping[str, str], log: Path) -> dict[str, str]:
    # The process environment wins over every nccl.conf, so the log comes whatever those files say.
    asked = {
        "NCCL_DEBUG": "INFO",
        "NCCL_DEBUG_SUBSYS": "INIT,BOOTSTRAP,ENV,NET",
        "NCCL_DEBUG_FILE": str(log),
    }
    return {**env, **asked}


@dataclass(frozen=True, slots=True)
class _Finished:
    status: int | None
    """Exit status, negative for a signal; ``None`` where it had to be killed."""
    result: str
    chatter: str


def _finish(command: list[str], env: Mapping[str, str], limit: float) -> _Finished:
    try:
        process = subprocess.Popen(
            command,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
    except OSError as error:
        raise ProbeError(f"cannot be run: {error.strerror}", place=command[0]) from error
    with process:
        try:
            result, chatter = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.kill()
            result, chatter = process.communicate()
            return _Finished(None, result, chatter)
        except BaseException:
            process.kill()
            raise
    return _Finished(process.returncode, result, chatter)


def _lines(log: Path, chatter: str) -> tuple[str, ...]:
    text = ""
    with contextlib.suppress(FileNotFoundError), log.open("rb") as file:
        text = file.read(_LONGEST_LOG).decode(errors="replace")
    return tuple(line for line in (text + chatter).split("\n") if line.strip())


def _answer(finished: _Finished, lines: tuple[str, ...], library: str, limit: float) -> Answer:
    said = f"; NCCL's last line: {lines[-1]}" if lines else ""
    if finished.status is None:
        raise ProbeError(f"no answer within {limit:g} s{said}", place=library, next_step="Raise --limit and try again")
    if finished.status != 0:
        raise ProbeError(f"the probe {ending(finished.status)}{said}", place=library, next_step=OTHER_LIBRARY)
    result = decoded(finished.result, library)
    if result.error:
        raise ProbeError(f"cannot be loaded: {result.error}", place=library, next_step=OTHER_LIBRARY)
    return Answer(nccl=from_code(result.version), code=result.code, unique_id=bytes.fromhex(result.id), log=lines)


class Result(msgspec.Struct):
    """What bootstrap_probe.py prints."""

    version: int = 0
    code: int = 0
    id: str = ""
    error: str = ""


def decoded(text: str | bytes, library: str) -> Result:
    """What the script printed; ProbeError where nobody can read it."""
    try:
        return msgspec.json.decode(text, type=Result)
    except msgspec.DecodeError as error:
        problem = "it gave no answer that can be read"
        raise ProbeError(problem, place=library, next_step=OTHER_LIBRARY) from error


OTHER_LIBRARY = "Name the Python of your training with --python; its own NCCL is used then"
"""The next step where a library does not do."""


def ending(status: int) -> str:
    """How a process came to its end, by its exit status as Popen gives it."""
    if status > 0:
        return f"ended with exit status {status}"
    return f"was ended by signal {-status} ({signal.Signals(-status).name})"


def seen(answer: Answer) -> Choice:
    """The choice that NCCL itself reported."""
    for line in answer.log:
        found = _USING.search(line)
        if found and not answer.code:
            interface, address = split_place(found["place"])
            return Choice(answer.nccl, interface, address, reason=line.strip())
    warnings = tuple(line for line in answer.log if "NCCL WARN" in line)
    reason = warnings[-1].strip() if warnings else "NCCL printed no interface"
    return Choice(answer.nccl, None, None, reason=reason, code=answer.code)


def split_place(text: str) -> tuple[str, str]:
    """``eth0:1:192.168.1.5`` as ("eth0:1", "192.168.1.5"): the name ends where an address begins."""
    for colon in (match.start() for match in re.finditer(":", text)):
        if literal(text[colon + 1 :].partition("%")[0]):
            return text[:colon], text[colon + 1 :]
    return text, ""


def environment_with(env: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """This process's environment with some variables set besides."""
    return {**os.environ, **dict(env)}
