"""A machine beside its interfaces, for people: a line for each thing that is there."""

from __future__ import annotations

from collections.abc import Iterator

from ncclcheck.model import Limit, Machine, RdmaDevice, RdmaPort, Route


def machine_lines(machine: Machine) -> Iterator[str]:
    """Where it runs, the ways out, RDMA devices, GPUs, names and limits."""
    for hint in machine.hints:
        yield f"signs of {hint.name}: {', '.join(hint.evidence)}"
    yield from _network(machine)
    for gpu in machine.gpus:
        memory = f", {gpu.memory >> 30} GiB" if gpu.memory else ""
        yield f"GPU: {gpu.name} at {gpu.pci}{memory}"
    for one in machine.names:
        yield f"{one.name} ({one.role}): {', '.join(one.found) or 'nothing found'}"
    if machine.limits:
        yield f"limits: {', '.join(map(_limit, machine.limits))}"


def _network(machine: Machine) -> Iterator[str]:
    if machine.namespace:
        yield f"network namespace: {machine.namespace}"
    if machine.routes:
        defaults = [_route(route) for route in machine.routes if route.default]
        yield f"default route: {', '.join(defaults) or 'none'}"
    for device in machine.rdma:
        yield from _rdma(device)
    if machine.firewall is not None:
        yield f"firewall for what comes in: {'yes' if machine.firewall else 'none'}"


def networks(routes: tuple[Route, ...], interface: str) -> str:
    """The networks that are reached over an interface through a gateway; those of its addresses are seen there."""
    found = [route for route in routes if route.interface == interface and route.gateway]
    return f"to {', '.join(dict.fromkeys(map(_goal, found)))}" if found else ""


def _goal(route: Route) -> str:
    return "everything else" if route.default else route.destination


def _route(route: Route) -> str:
    via = f" via {route.gateway}" if route.gateway else ""
    return f"{route.interface}{via}"


def _rdma(device: RdmaDevice) -> Iterator[str]:
    beside = f" ({', '.join(device.interfaces)})" if device.interfaces else ""
    for port in device.ports:
        yield f"RDMA: {device.name}:{port.number}{beside} {port.link_layer} {port.state}, {port.rate}{_gids(port)}"


def _gids(port: RdmaPort) -> str:
    if port.link_layer == "InfiniBand" or not port.gids:
        return ""
    return f"; GIDs: {', '.join(f'{gid.index} {gid.kind} {gid.gid}' for gid in port.gids)}"


def _limit(limit: Limit) -> str:
    if limit.value is None:
        return f"{limit.name} unlimited"
    if limit.unit == "bytes":
        return f"{limit.name} {size(limit.value)}"
    return f"{limit.name} {limit.value}"


def size(number: int) -> str:
    """Bytes in the largest unit that leaves a number in front of the point."""
    power = max(0, min(3, (number.bit_length() - 1) // 10))
    return f"{number / (1 << 10 * power):.4g} {('B', 'KiB', 'MiB', 'GiB')[power]}"
