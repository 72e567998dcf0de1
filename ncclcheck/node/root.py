"""Keeping NCCL's real bootstrap root alive in a process of its own, for ranks to call. [effects]

Its log goes to a file, as a probe's does (``probing``), but to one without a name: nothing is left, however we end.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ncclcheck.errors import ProbeError
from ncclcheck.node import probing, root_script
from ncclcheck.node.unique_id import root_of
from ncclcheck.node.version import from_code

_SCRIPT = Path(root_script.__file__)
_LONGEST_LOG = 1 << 20
_GRACE = 1.0
"""Seconds to end by itself once its standard input is closed."""
_COMM_ID_MAGIC = (0x0280028002800280).to_bytes(8, "little")
"""The magic of ids that come from NCCL_COMM_ID (bootstrap.cc)."""
_COMM_ID = "NCCL_COMM_ID set by environment to"


_Written = tuple[IO[bytes], ...]


@dataclass(frozen=True, slots=True)
class Root:
    """A root that serves, or NCCL's refusal to start one."""

    nccl: str
    unique_id: bytes
    address: str
    """With port, ``10.0.0.1:41234``; empty where NCCL refused."""
    interface: str | None
    """That NCCL reported."""
    code: int
    """ncclResult_t of ncclGetUniqueId."""
    written: _Written
    """Where NCCL's log grows, and what else the process says; gone when the root is."""

    def log(self) -> tuple[str, ...]:
        """NCCL's own lines so far; to be read inside the block."""
        return _lines(self.written)


@contextmanager
def serving(python: str, library: str, env: Mapping[str, str], limit: float = 20.0) -> Iterator[Root]:
    """Start a root that serves until the block is left, or until this process is gone, by whatever cause.

    ``limit`` is in seconds and only for its start. Raises ProbeError where it cannot be run.
    """
    with contextlib.ExitStack() as stack:
        log, chatter = (stack.enter_context(_nameless_file()) for _ in range(2))
        command = [python, str(_SCRIPT), library]
        process = stack.enter_context(_running(command, _environment(env, log), log, chatter))
        yield _started(process, library, (log, chatter), limit)


def _nameless_file() -> IO[bytes]:
    try:
        return tempfile.TemporaryFile()
    except OSError as error:
        problem = f"no file for the log can be made: {error.strerror}"
        raise ProbeError(problem, place="TMPDIR", next_step="Set TMPDIR to a folder that can be written") from error


def _environment(env: Mapping[str, str], log: IO[bytes]) -> dict[str, str]:
    asked = {
        "NCCL_DEBUG": "INFO",
        "NCCL_DEBUG_SUBSYS": "INIT,BOOTSTRAP,ENV,NET",
        "NCCL_DEBUG_FILE": f"/proc/self/fd/{log.fileno()}",
        # 2.24 and later: three retries after 0.1, 0.2 and 0.3 s instead of 34 in a minute, so that the root comes
        # to its own error while the rank still waits. There is nothing to wait for: a rank listens before it reports.
        "NCCL_SOCKET_RETRY_CNT": "3",
        "NCCL_SOCKET_RETRY_SLEEP_MSEC": "100",
    }
    return {**env, **asked}


@contextmanager
def _running(
    command: list[str], env: dict[str, str], log: IO[bytes], chatter: IO[bytes]
) -> Iterator[subprocess.Popen[bytes]]:
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(command, env=env, stdin=pipe, stdout=pipe, stderr=chatter, pass_fds=(log.fileno(),))
    except OSError as error:
        raise ProbeError(f"cannot be run: {error.strerror}", place=command[0]) from error
    with process:
        try:
            yield process
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    process.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE)
    process.kill()


def _started(process: subprocess.Popen[bytes], library: str, written: _Written, limit: float) -> Root:
    result = probing.decoded(_first_line(process, library, written, limit), library)
    if result.error:
        raise ProbeError(f"cannot be loaded: {result.error}", place=library, next_step=probing.OTHER_LIBRARY)
    nccl, unique_id, log = from_code(result.version), bytes.fromhex(result.id), _lines(written)
    if not result.code and (unique_id.startswith(_COMM_ID_MAGIC) or any(_COMM_ID in line for line in log)):
        raise _no_root(library)
    seen = probing.seen(probing.Answer(nccl, result.code, unique_id, log))
    address = None if result.code else root_of(unique_id, nccl)
    return Root(nccl, unique_id, address or "", seen.interface, result.code, written)


def _first_line(process: subprocess.Popen[bytes], library: str, written: _Written, limit: float) -> bytes:
    """What the script printed; ProbeError where nothing came in time."""
    assert process.stdout is not None
    # The script writes its line in one go, and it is short enough for a pipe to take it whole (pipe(7), PIPE_BUF).
    ready, _, _ = select.select([process.stdout], [], [], limit)
    line = process.stdout.readline() if ready else b""
    if line:
        return line
    said = "".join(f"; its last line: {line}" for line in _lines(written)[-1:])
    if not ready:
        raise ProbeError(f"no root within {limit:g} s{said}", place=library, next_step="Try again with more time")
    problem = f"NCCL's root {probing.ending(process.wait())}{said}"
    raise ProbeError(problem, place=library, next_step=probing.OTHER_LIBRARY)


def _no_root(library: str) -> ProbeError:
    return ProbeError(
        "NCCL_COMM_ID is set, and with it NCCL starts its root only in the training itself",
        place=library,
        next_step="Unset NCCL_COMM_ID for this test, in the environment or in nccl.conf",
    )


def _lines(written: _Written) -> tuple[str, ...]:
    # Read at a place, for the process writes at the same time, and shares the position of what it inherited.
    texts = [os.pread(file.fileno(), _LONGEST_LOG, 0).decode(errors="replace") for file in written]
    return tuple(line for text in texts for line in text.split("\n") if line.strip())
