"""Limits that NCCL and its sockets meet: of this process (getrlimit(2)), of /dev/shm, and of the kernel (tcp(7))."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ncclcheck.model import Limit, Unknown

_SYSCTLS = (
    ("somaxconn", "net/core/somaxconn"),
    ("tcp_syn_retries", "net/ipv4/tcp_syn_retries"),
    ("rp_filter", "net/ipv4/conf/all/rp_filter"),
)


def read(root: Path) -> tuple[tuple[Limit, ...], tuple[Unknown, ...]]:
    """The limits, and those that could not be read."""
    found = (*_of_process(), *_of_shm(root / "dev/shm"), *_of_kernel(root / "proc/sys"))
    known = tuple(one for one in found if isinstance(one, Limit))
    return known, tuple(one for one in found if isinstance(one, Unknown))


def _of_process() -> Iterator[Limit]:
    import resource

    for name, which, unit in (
        ("memlock", resource.RLIMIT_MEMLOCK, "bytes"),
        ("nofile", resource.RLIMIT_NOFILE, "files"),
    ):
        soft, hard = resource.getrlimit(which)
        for suffix, value in (("", soft), ("_hard", hard)):
            yield Limit(f"{name}{suffix}", None if value == resource.RLIM_INFINITY else value, unit)


def _of_shm(folder: Path) -> Iterator[Limit | Unknown]:
    try:
        room = os.statvfs(folder)
    except OSError as error:
        yield Unknown("/dev/shm", f"{error.strerror}; NCCL keeps buffers between the processes of a node there")
        return
    yield Limit("shm", room.f_blocks * room.f_frsize, "bytes")
    yield Limit("shm_free", room.f_bavail * room.f_frsize, "bytes")


def _of_kernel(folder: Path) -> Iterator[Limit | Unknown]:
    ports = _numbers(folder / "net/ipv4/ip_local_port_range")
    if len(ports) == 2:
        yield Limit("port_first", ports[0])
        yield Limit("port_last", ports[1])
    else:
        yield Unknown("ip_local_port_range", f"{folder / 'net/ipv4/ip_local_port_range'} cannot be read")
    for name, path in _SYSCTLS:
        numbers = _numbers(folder / path)
        yield Limit(name, numbers[0]) if numbers else Unknown(name, f"{folder / path} cannot be read")


def _numbers(path: Path) -> list[int]:
    try:
        return [int(word) for word in path.read_text().split()]
    except (OSError, ValueError):
        return []
