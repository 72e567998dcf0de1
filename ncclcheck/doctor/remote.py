"""Asking a node that a command prefix leads to."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from typing import TypeVar

import msgspec

from ncclcheck.errors import NcclcheckError, NodeError
from ncclcheck.model import Node

T = TypeVar("T")


def ask(
    node: Node,
    arguments: Sequence[str],
    type_: type[T],
    limit: float,
    *,
    error: type[NcclcheckError] = NodeError,
    given: bytes = b"",
) -> T:
    """Run ``ncclcheck <arguments>`` there and decode the JSON it prints.

    ``limit`` is in seconds; ``given`` is its standard input. Raises ``error`` with the far side's own words.
    """
    command = [*node.prefix, sys.executable, "-m", "ncclcheck", *arguments]
    env = {**os.environ, **dict(node.env)}
    try:
        done = subprocess.run(command, env=env, input=given, capture_output=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired as expired:
        raise error(f"no answer within {limit:g} s", place=node.name) from expired
    except OSError as failed:
        raise error(f"{command[0]} cannot be run: {failed.strerror}", place=node.name) from failed
    try:
        return msgspec.json.decode(done.stdout, type=type_)
    except msgspec.DecodeError as undecodable:
        raise _far_error(node, done, error) from undecodable


def _far_error(node: Node, done: subprocess.CompletedProcess[bytes], error: type[NcclcheckError]) -> NcclcheckError:
    said = done.stderr.decode(errors="replace").strip()
    problem, _, next_step = said.partition("\n  ")
    problem = problem.removeprefix("ncclcheck: ") or f"exit status {done.returncode} and no answer"
    return error(problem, place=node.name, next_step=next_step)
