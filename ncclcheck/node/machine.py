"""This machine beside its interfaces and settings: everything that /proc, /sys and the environment tell.

``root`` is where those folders lie; a system without them (macOS) gives unknowns, never an error.
"""

from __future__ import annotations

import hashlib
import os
import pwd
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from ncclcheck.model import Caller, Machine, Unknown
from ncclcheck.node import conf, firewall, gpus, limits, places, rdma, routes
from ncclcheck.node.environment import read_file
from ncclcheck.node.places import Place

ROOT = Path("/")


def read(
    env: Mapping[str, str],
    host: str,
    table: tuple[Place, ...],
    root: Path = ROOT,
    ask: Callable[[], firewall.Ruleset] = firewall.ask_kernel,
) -> Machine:
    """Routes, RDMA devices, limits, GPUs, firewall, and where it runs."""
    proc = root / "proc"
    hints = places.hints(table, root, env, host)
    if not (proc / "self").exists():
        return Machine(hints=hints, caller=caller(env), unknown=(_no_proc(),))
    ways, no_ways = routes.read(proc)
    known, no_limits = limits.read(root)
    closed, no_rules = firewall.read(proc, ask)
    cards, no_cards = gpus.read(proc)
    return Machine(
        namespace=_namespace(proc),
        boot=_boot(proc),
        routes=ways,
        hints=hints,
        rdma=rdma.read(root / "sys/class/infiniband"),
        limits=known,
        firewall=closed,
        gpus=cards,
        caller=caller(env),
        unknown=(*no_ways, *no_limits, *no_rules, *no_cards, *_no_sysfs(root)),
    )


def _no_proc() -> Unknown:
    what = "routes, limits, RDMA devices, GPUs and firewall"
    return Unknown(what, f"/proc and /sys, which only Linux has (this is {sys.platform})")


def _no_sysfs(root: Path) -> tuple[Unknown, ...]:
    if (root / "sys/class/net").is_dir():
        return ()
    return (Unknown("RDMA devices, drivers and speeds", "/sys, which is not mounted here"),)


def _namespace(proc: Path) -> str | None:
    try:
        return os.readlink(proc / "self/ns/net")
    except OSError:
        return None


def _boot(proc: Path) -> str | None:
    """A digest of the kernel's id of this start (random(4)): the id itself is nobody's business."""
    try:
        identity = (proc / "sys/kernel/random/boot_id").read_text().strip()
    except (OSError, ValueError):
        return None
    return hashlib.sha256(identity.encode()).hexdigest()[:8] if identity else None


def _home_of(user: str) -> str | None:
    try:
        return pwd.getpwnam(user).pw_dir
    except KeyError:
        return None


def caller(
    env: Mapping[str, str],
    home_of: Callable[[str], str | None] = _home_of,
    read: Callable[[str], bytes] = read_file,
) -> Caller | None:
    """The user behind sudo, and what his nccl.conf sets: root does not read that file, his jobs do."""
    user = env.get("SUDO_USER", "root")
    home = home_of(user) if user != "root" else None
    if home is None:
        return None
    path = f"{home}/.nccl.conf"
    try:
        content = read(path)
    except (OSError, ValueError):
        return Caller(user, path)
    first: dict[str, str] = {}
    for entry in conf.entries(content, "2.30"):
        if entry.name.startswith("NCCL_"):
            first.setdefault(entry.name, entry.value)
    return Caller(user, path, tuple(first.items()))
