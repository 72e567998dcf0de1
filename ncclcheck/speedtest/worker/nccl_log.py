"""NCCL's own log, read while it is written, also while NCCL hangs.

It lies in memory (memfd_create(2)): nothing can be left on a disk, and no disk can be too full for it.
"""

from __future__ import annotations

import os
import re
import socket
import threading
from collections.abc import MutableMapping

SUBSYSTEMS = "INIT,BOOTSTRAP,ENV,NET,GRAPH"
MOST_LINES = 5000
"""NCCL at INFO prints some hundred; a loop of retries prints for ever."""
_AT_ONCE = 1 << 18
_LONGEST_LINE = 2000

# "NET/Socket : Using [0]eth1:10.0.0.11<0> [1]…" and "Bootstrap: Using eth1:10.0.0.11<0>" (NCCL 2.29, net_socket.cc,
# bootstrap.cc; a blank before the colon up to 2.25).
_USING = re.compile(r"(?:NET/Socket ?: Using \[0\]|Bootstrap ?: Using )([^:\s]+):([0-9a-fA-F.:]+)(?:%\w+)?<")
_FLOWS = re.compile(r"NET/Socket ?: Using ([0-9]+) threads and ([0-9]+) sockets per thread")


class Log:
    """What NCCL has printed; nothing where it can't be had."""

    def __init__(self, file: int | None = None, path: str = "", place: str = "") -> None:
        self._file, self._path, self._read, self._rest = file, path, 0, b""
        self.place = place
        """Where else it goes, by the user's own setting."""
        self.lines: list[str] = []
        self._one = threading.Lock()

    def more(self) -> list[str]:
        """New lines since the last time, each to one caller only."""
        with self._one:
            return self._more()

    def _more(self) -> list[str]:
        if self._file is None and self._path and os.path.exists(self._path):
            self._file = os.open(self._path, os.O_RDONLY)
        if self._file is None or len(self.lines) >= MOST_LINES:
            return []
        found = os.pread(self._file, _AT_ONCE, self._read)
        self._read += len(found)
        *whole, self._rest = (self._rest + found).split(b"\n")
        lines = [line.decode(errors="replace")[:_LONGEST_LINE] for line in whole]
        self.lines += lines
        return lines


def prepare(env: MutableMapping[str, str]) -> Log:
    """Make NCCL tell what it does, and where we can read it; whatever the user has set stays as it is."""
    env.setdefault("NCCL_DEBUG", "INFO")
    env.setdefault("NCCL_DEBUG_SUBSYS", SUBSYSTEMS)
    own = env.get("NCCL_DEBUG_FILE")
    if own:
        # %h and %p as in NCCL's debug.cc; anything else after a percent sign stands for itself.
        path = own.replace("%h", socket.gethostname().partition(".")[0]).replace("%p", str(os.getpid()))
        return Log(path=path, place=own)
    if not hasattr(os, "memfd_create"):
        return Log()
    file = os.memfd_create("ncclcheck-nccl-log")
    env["NCCL_DEBUG_FILE"] = f"/proc/self/fd/{file}"
    return Log(file)


def interface_of(lines: list[str]) -> tuple[str, str] | None:
    """Interface and address that NCCL uses between machines; the last one that it named."""
    found = [use for line in lines if (use := _USING.search(line))]
    if not found:
        return None
    name, address = found[-1][1], found[-1][2]
    return name, f"{address}%{name}" if address.startswith("fe80") else address


def flows_of(lines: list[str]) -> int:
    """Connections that share the data; one where NCCL says nothing of it."""
    found = [use for line in lines if (use := _FLOWS.search(line))]
    return int(found[-1][1]) * int(found[-1][2]) if found else 1
