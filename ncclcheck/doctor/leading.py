"""The far side that leads a handshake: it tells a ticket first and its result at the end. [effects]"""

from __future__ import annotations

import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

import msgspec

from ncclcheck.errors import ProbeError
from ncclcheck.model import Handshake, Node


class _Invitation(msgspec.Struct):
    """The first line of ``ncclcheck handshake --json``; another one where there is no root."""

    ticket: str = ""


@dataclass(slots=True)
class Leading:
    """A running ``ncclcheck handshake`` on the first node."""

    node: Node
    process: subprocess.Popen[bytes]
    complaints: IO[bytes]
    line: bytes = b""
    """The first one, if it was the result already."""

    def ticket(self, limit: float) -> str:
        """What the other ranks need; empty where NCCL refused to start a root. ProbeError where nothing came."""
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], limit)
        if not ready:
            raise ProbeError(f"no root within {limit:g} s", place=self.node.name)
        self.line = self.process.stdout.readline()
        try:
            return msgspec.json.decode(self.line, type=_Invitation).ticket
        except msgspec.DecodeError as error:
            raise self._far_error() from error

    def result(self, limit: float) -> Handshake:
        """Tell it that no more ranks will come, and take its result; ProbeError where there is none."""
        try:
            # This closes its standard input, which is the sign.
            rest, _ = self.process.communicate(timeout=limit)
        except subprocess.TimeoutExpired as expired:
            raise ProbeError(f"no result within {limit:g} s", place=self.node.name) from expired
        try:
            return msgspec.json.decode(rest or self.line, type=Handshake)
        except msgspec.DecodeError as error:
            raise self._far_error() from error

    def _far_error(self) -> ProbeError:
        self.process.kill()
        status = self.process.wait()
        self.complaints.seek(0)
        said = self.complaints.read().decode(errors="replace").strip()
        problem, _, next_step = said.partition("\n  ")
        problem = problem.removeprefix("ncclcheck: ") or f"exit status {status} and no answer"
        return ProbeError(problem, place=self.node.name, next_step=next_step)


@contextmanager
def leading(node: Node, arguments: Sequence[str]) -> Iterator[Leading]:
    """Run ``ncclcheck handshake`` there; it ends with the block in any case."""
    command = [*node.prefix, sys.executable, "-m", "ncclcheck", "handshake", "--json", "--attached", *arguments]
    with tempfile.TemporaryFile() as complaints:
        try:
            process = subprocess.Popen(
                command,
                bufsize=0,
                env={**os.environ, **dict(node.env)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
            )
        except OSError as failed:
            raise ProbeError(f"{command[0]} cannot be run: {failed.strerror}", place=node.name) from failed
        with process:
            try:
                yield Leading(node, process, complaints)
            finally:
                process.kill()
