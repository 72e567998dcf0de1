"""What a lab could leave behind, and how to wait until it has not."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from ncclcheck.model import Node

KINDS = ("net", "mnt", "uts", "pid", "user")


def pid_of(node: Node) -> int:
    """Process number of the node's holder."""
    return int(next(word for word in node.prefix if word.isdigit()))


def namespaces(pid: int) -> frozenset[str]:
    """The namespaces of a process that are not ours."""
    return frozenset(_own(pid)) - frozenset(_own(os.getpid()))


def _own(pid: int) -> list[str]:
    try:
        return [os.readlink(f"/proc/{pid}/ns/{kind}") for kind in KINDS]
    except OSError:
        # It ended while we looked, or is a zombie.
        return []


def descendants(pid: int) -> list[int]:
    """Children of a process, and theirs."""
    try:
        children = [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
    return children + [below for child in children for below in descendants(child)]


def running(pids: Iterable[int]) -> list[int]:
    """Those that have not ended; whoever adopts orphans may take its time to bury them (state Z of proc(5))."""
    return [pid for pid in pids if _state(pid) not in ("Z", "")]


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def inhabitants(spaces: Iterable[str]) -> list[int]:
    """Processes that still live in any of these namespaces; links, bridges and mounts live exactly as long."""
    wanted = frozenset(spaces)
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [pid for pid in sorted(pids) if wanted & frozenset(_own(pid))]


def wait_for(look: Callable[[], list[int]], wanted: list[int], limit: float = 10.0) -> list[int]:
    """What is to be seen after at most ``limit`` seconds; the wanted as soon as it is."""
    end = time.monotonic() + limit
    while (seen := look()) != wanted and time.monotonic() < end:
        time.sleep(0.02)
    return seen


def wait_until_gone(spaces: Iterable[str]) -> list[int]:
    """Who lives in these namespaces at last; an empty list is what we want."""
    return wait_for(lambda: inhabitants(spaces), [])
