"""What does the real NCCL do on this node?"""

from __future__ import annotations

import socket
from collections.abc import Mapping

from ncclcheck.doctor.remote import ask
from ncclcheck.errors import ProbeError
from ncclcheck.model import Choice, Node, Probe
from ncclcheck.node import interfaces, libnccl, probing, selection
from ncclcheck.node.environment import conf_files, here, settings, winning
from ncclcheck.node.resolve import first_address
from ncclcheck.node.unique_id import root_of

_START = 30.0
"""Seconds that the far ncclcheck may take besides the probe itself."""


def probe(
    node: Node, *, python: str | None = None, env: tuple[tuple[str, str], ...] = (), limit: float = 60.0
) -> Probe:
    """Let NCCL choose an interface in a fresh process, and compare with the prediction; ``limit`` is in seconds."""
    if node.prefix:
        words = ["probe", "--json", "--limit", f"{limit:g}", *(["--python", python] if python else [])]
        words += [word for name, value in env for word in ("--env", f"{name}={value}")]
        return ask(node, words, Probe, limit + _START, error=ProbeError)
    variables = probing.environment_with((*node.env, *env))
    interpreter, library = libnccl.choose(python, variables)
    if interpreter is None or library is None:
        raise _no_library(interpreter.python if interpreter else "")
    answer = probing.run(interpreter.python, library.path, variables, limit)
    return Probe(
        host=socket.gethostname(),
        nccl=answer.nccl,
        code=answer.code,
        seen=probing.seen(answer),
        predicted=_predict(variables, answer.nccl),
        log=answer.log,
        root=None if answer.code else root_of(answer.unique_id, answer.nccl),
        python=interpreter.python,
        library=library.path,
    )


def _predict(env: Mapping[str, str], nccl: str) -> Choice | None:
    links, _ = interfaces.read()
    if not links:
        return None
    files, _ = conf_files(here(env), nccl)
    return selection.bootstrap(links, winning(settings(env, files, nccl)), nccl, first_address)


def _no_library(python: str) -> ProbeError:
    return ProbeError(
        "no libnccl.so.2 within its reach",
        place=python,
        next_step="Name the Python that your training uses: ncclcheck probe --python /path/to/bin/python3"
        " (or put NCCL's folder into LD_LIBRARY_PATH)",
    )
