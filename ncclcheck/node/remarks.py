"""What is unusual about a machine beside its interfaces and settings (pure)."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from ncclcheck.model import Caller, Facts, Library, Limit, LinkKind, Machine, NameLookup, RdmaDevice, Setting

_SMALL_SHM = 512 << 20
_SMALL_MEMLOCK = 64 << 20
_FEW_FILES = 4096
_FEW_PORTS = 4096


def remarks(facts: Facts) -> Iterator[str]:
    """Remarks on libraries, names, limits, RDMA devices and users."""
    yield from _of_libraries(facts.libraries)
    if facts.machine is None:
        return
    yield from _of_names(facts.machine)
    yield from _of_limits(facts.machine)
    yield from _of_rdma(facts.machine.rdma, facts.settings)
    yield from _of_firewall(facts.machine)
    yield from _of_paths(facts)
    if facts.machine.caller:
        yield from _of_caller(facts.machine.caller, facts.settings)


def _of_libraries(libraries: tuple[Library, ...]) -> Iterator[str]:
    if len({library.version for library in libraries}) < 2:
        return
    first, *others = libraries
    listed = "; ".join(f"{one.version or 'unknown version'} at {one.path} ({one.why})" for one in others)
    yield (
        f"there are several NCCL: {first.version or 'unknown version'} at {first.path} is loaded ({first.why} goes"
        f" first); a program that links another one gets {listed}"
    )


def _of_names(machine: Machine) -> Iterator[str]:
    for one in machine.names:
        local = [address for address in one.found if _is_loopback(address)]
        if one.role == "own name":
            yield from _of_own_name(one, local)
        elif one.role == "MASTER_ADDR" and not one.found:
            yield f"MASTER_ADDR={one.name} leads to no address on this machine"
        elif one.role == "MASTER_ADDR" and local:
            yield f"MASTER_ADDR={one.name} leads to {local[0]} here: a rank on this machine would call itself"


def _of_own_name(one: NameLookup, local: list[str]) -> Iterator[str]:
    cure = "set GLOO_SOCKET_IFNAME, or mend /etc/hosts"
    if not one.found:
        yield f"this host's own name {one.name} leads to no address; Gloo looks it up: {cure}"
    elif len(local) == len(one.found):
        yield f"this host's own name {one.name} leads to {local[0]}, which Gloo would tell to other nodes: {cure}"


def _is_loopback(text: str) -> bool:
    try:
        return ipaddress.ip_address(text.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _of_limits(machine: Machine) -> Iterator[str]:
    limits = {limit.name: limit for limit in machine.limits}
    if machine.rdma and _below(limits.get("memlock"), _SMALL_MEMLOCK):
        yield f"only {_size(limits['memlock'])} may be locked, and RDMA locks its buffers: ulimit -l unlimited"
    if _below(limits.get("nofile_hard"), _FEW_FILES):
        yield f"no more than {limits['nofile_hard'].value} files may be open, sockets among them: raise ulimit -n"
    if _below(limits.get("shm"), _SMALL_SHM):
        yield (
            f"/dev/shm has {_size(limits['shm'])} (docker's default is 64 MiB), and NCCL keeps buffers between the GPUs"
            " of a node there: --shm-size=1g or --ipc=host"
        )
    first, last = limits.get("port_first"), limits.get("port_last")
    if first and last and (last.value or 0) - (first.value or 0) < _FEW_PORTS:
        yield f"only the ports {first.value} to {last.value} are free for new sockets (ip_local_port_range)"


def _below(limit: Limit | None, least: int) -> bool:
    return limit is not None and limit.value is not None and limit.value < least


def _size(limit: Limit) -> str:
    value = limit.value or 0
    return f"{value >> 20} MiB" if value >= 1 << 20 else f"{value >> 10} KiB"


def _of_rdma(devices: tuple[RdmaDevice, ...], settings: tuple[Setting, ...]) -> Iterator[str]:
    for device in devices:
        for port in device.ports:
            if port.state != "ACTIVE":
                state = port.state or "in an unknown state"
                yield f"port {port.number} of the RDMA device {device.name} is {state}, not ACTIVE"
    off = next((one for one in settings if one.wins and one.name == "NCCL_IB_DISABLE"), None)
    # NCCL reads the number with strtoll, base 0: text after it is dropped.
    if devices and off is not None and re.match(r"\s*[+-]?0*[1-9]", off.value):
        names = ", ".join(device.name for device in devices)
        yield f"NCCL_IB_DISABLE={off.value} ({off.origin}) keeps NCCL from {names}: all data goes over TCP"


def _of_firewall(machine: Machine) -> Iterator[str]:
    if machine.firewall:
        yield (
            "a firewall filters what comes in here; NCCL listens on ports that the kernel picks"
            " (ip_local_port_range), so the other nodes must be let through on all of them"
        )


def _of_paths(facts: Facts) -> Iterator[str]:
    """Strict reverse path filtering (rp_filter 1, RFC 3704) drops what comes in where answers would not go out."""
    strict = facts.machine is not None and any(
        one.name == "rp_filter" and one.value == 1 for one in facts.machine.limits
    )
    local = (LinkKind.LOOPBACK, LinkKind.DOCKER, LinkKind.VIRBR)
    ways = [link.name for link in facts.interfaces if link.addresses and link.up and link.kind not in local]
    if strict and len(ways) > 1:
        yield (
            f"rp_filter is 1 and there are {', '.join(ways)}: packets that come in over another interface than the"
            " answer would take are dropped without a word"
        )


def _of_caller(caller: Caller, settings: tuple[Setting, ...]) -> Iterator[str]:
    present = {one.name: one.value for one in settings if one.wins}
    other = [f"{name}={value}" for name, value in caller.values if present.get(name) != value]
    if other:
        yield f"this is root's view; a job of {caller.user} reads {caller.path}, which sets {', '.join(other)}"
    if not any(one.origin == "environment" for one in settings):
        yield f"sudo does not pass on the NCCL_* variables of {caller.user}: run it without sudo to see them"
