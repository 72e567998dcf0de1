"""Builds a lab and hands out its nodes; when the caller leaves, or dies, the lab is gone."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from ncclcheck.errors import LabError
from ncclcheck.lab.layout import LabNode, Layout
from ncclcheck.lab.report import Report
from ncclcheck.lab.storage import ENVIRONMENT
from ncclcheck.model import Node

_ENTER = str(Path(__file__).with_name("enter.py"))
_BUILD_LIMIT = 20.0
"""Seconds; it takes less than one."""
_CREDENTIALS = struct.Struct("3i")
"""struct ucred of unix(7): process, user, group."""

# Variables of this machine's user that must not reach a node: they would hide what its nccl.conf says.
_FOREIGN = ("NCCL_", "GLOO_", "TORCH_", "MASTER_")


def _failure(problem: str) -> LabError:
    return LabError(
        f"no lab can be built here ({problem})",
        next_step="Building one takes Linux and either root (in a container: CAP_SYS_ADMIN and CAP_NET_ADMIN) "
        "or user namespaces (check /proc/sys/user/max_user_namespaces and, on Ubuntu, "
        "kernel.apparmor_restrict_unprivileged_userns).",
    )


def entry(pid: int, node: LabNode, environment: Mapping[str, str]) -> Node:
    """The node that process ``pid`` holds, as commands see it."""
    kept = {name for name, _ in (*ENVIRONMENT, *node.env)}
    foreign = sorted(name for name in environment if name.startswith(_FOREIGN) and name not in kept)
    without = ("env", *(word for name in foreign for word in ("-u", name))) if foreign else ()
    return Node(node.name, (sys.executable, "-I", _ENTER, str(pid), *without), (*ENVIRONMENT, *node.env))


def _receive(lab: socket.socket) -> tuple[Report | None, int]:
    """The next report and its sender's process number; no report where the lab has ended."""
    message, ancillary, _, _ = lab.recvmsg(65536, socket.CMSG_SPACE(_CREDENTIALS.size))
    if not message:
        return None, 0
    pid = next(_CREDENTIALS.unpack(content)[0] for _, kind, content in ancillary if kind == socket.SCM_CREDENTIALS)
    return msgspec.json.decode(message, type=Report), int(pid)


def _await_nodes(lab: socket.socket, layout: Layout) -> dict[str, int]:
    """Process numbers of the holders by node, once all stand."""
    pids: dict[str, int] = {}
    while len(pids) < len(layout.nodes):
        try:
            report, pid = _receive(lab)
        except TimeoutError:
            raise _failure(f"it did not stand after {_BUILD_LIMIT:.0f} s") from None
        if report is None:
            raise _failure("its first process ended")
        if report.failure:
            raise _failure(report.failure)
        pids[report.node] = pid
    return pids


def _start(layout: Layout) -> tuple[socket.socket, subprocess.Popen[bytes]]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    ours.settimeout(_BUILD_LIMIT)
    command = [sys.executable, "-m", "ncclcheck.lab.inside", msgspec.json.encode(layout).decode()]
    # A session of its own: Ctrl-C is for us, and the lab ends when we do.
    process = subprocess.Popen(command, stdin=theirs.fileno(), stdout=subprocess.DEVNULL, start_new_session=True)
    theirs.close()
    return ours, process


@contextmanager
def built(layout: Layout) -> Iterator[tuple[Node, ...]]:
    """The layout's nodes, ready for commands; raises LabError, with what is missing, where no lab can be built."""
    if sys.platform != "linux":
        raise _failure(f"this is {sys.platform}")
    lab, process = _start(layout)
    try:
        pids = _await_nodes(lab, layout)
        yield tuple(entry(pids[node.name], node, os.environ) for node in layout.nodes)
    finally:
        # The lab's first process reads the end of this socket; the launcher ends when nothing of the lab runs any more.
        lab.close()
        process.wait()
