"""The processes that are the lab: ``python -m ncclcheck.lab.inside`` with a layout, started by ``build``.

Three kinds, each the parent of the next: the *launcher* enters the namespaces and waits; the *first process* of the
lab's process namespace makes the links and ends when standard input does, and everything in the lab with it; a
*holder* for each node keeps that node's namespaces open. Standard input is a socket to whoever built the lab.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from ncclcheck.lab import kernel, links, storage
from ncclcheck.lab.layout import LabNode, Layout
from ncclcheck.lab.report import Report

_LAB = kernel.CLONE_NEWNS | kernel.CLONE_NEWNET | kernel.CLONE_NEWPID | kernel.CLONE_NEWUTS
_NODE = kernel.CLONE_NEWNS | kernel.CLONE_NEWNET | kernel.CLONE_NEWUTS


def _tell(builder: socket.socket, report: Report) -> None:
    builder.send(msgspec.json.encode(report))


def _enter_namespaces() -> None:
    """As root without a user namespace, so that every file can be read as before; else with one."""
    user, group = os.getuid(), os.getgid()
    try:
        kernel.unshare(_LAB, "namespaces")
    except PermissionError:
        kernel.unshare(kernel.CLONE_NEWUSER | _LAB, "user namespace")
        # Without this an ordinary user may not write gid_map (user_namespaces(7)).
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    kernel.make_private()


@contextmanager
def _netlink() -> Iterator[Any]:
    from pyroute2 import IPRoute

    with IPRoute() as netlink:
        yield netlink


def _hold(builder: socket.socket, turn: socket.socket, layout: Layout, node: LabNode) -> None:
    """Be a node: own namespaces, then (once the cables are there) its addresses, then nothing until the end."""
    kernel.set_name(f"lab {node.name}")
    kernel.unshare(_NODE, f"namespaces of {node.name}")
    kernel.make_private()
    socket.sethostname(node.name)
    storage.own_sys()
    storage.own_etc(layout, node)
    turn.send(b"ready")
    turn.recv(8)
    with _netlink() as netlink:
        links.set_addresses(netlink, node)
    # The kernel adds this process's number, as the builder sees it, to the message (unix(7), SO_PASSCRED).
    _tell(builder, Report(node=node.name))
    turn.close()
    builder.close()
    while True:
        signal.pause()


@contextmanager
def _told(builder: socket.socket) -> Iterator[None]:
    """What goes wrong in one of the lab's processes ends it, and the builder is told why."""
    from pyroute2.netlink.exceptions import NetlinkError

    try:
        yield
    except OSError as error:
        _give_up(builder, f"{error.filename or 'network'}: {error.strerror or error}")
    except NetlinkError as error:
        _give_up(builder, f"network: {error}")


def _give_up(builder: socket.socket, why: str) -> NoReturn:
    """End at once; a builder that was killed meanwhile hears nothing, and a forked netlink would never close."""
    with suppress(OSError):
        _tell(builder, Report(failure=why))
    os._exit(1)


def _start_holder(builder: socket.socket, layout: Layout, node: LabNode) -> tuple[int, socket.socket]:
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        ours.close()
        with _told(builder):
            _hold(builder, theirs, layout, node)
    theirs.close()
    return child, ours


def _run_lab(builder: socket.socket, layout: Layout) -> None:
    """Be the first process: build all, then wait for the builder to go away."""
    kernel.set_name("lab")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    storage.own_proc()
    with _netlink() as netlink:
        bridges = links.make_bridges(netlink, layout)
        for number, node in enumerate(layout.nodes):
            pid, turn = _start_holder(builder, layout, node)
            if turn.recv(8):
                links.plug_in(netlink, node, number, pid, bridges)
                turn.send(b"go")
            turn.close()
    while builder.recv(64):
        pass


def main() -> int:
    """Be the launcher."""
    builder = socket.socket(fileno=0)
    layout = msgspec.json.decode(sys.argv[1], type=Layout)
    with _told(builder):
        _enter_namespaces()
    first = os.fork()
    if first == 0:
        with _told(builder):
            _run_lab(builder, layout)
        os._exit(0)
    builder.close()
    os.waitpid(first, 0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
