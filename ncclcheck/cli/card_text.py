"""A card in plain words: all that is on it, and what is not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ncclcheck.cli.machine_text import machine_lines, networks
from ncclcheck.cli.node_text import choice_sentence, section, table
from ncclcheck.model import Choice, Facts, Interface, Machine, Route, Setting

_NOT_IN_IT = (
    "no keys, tokens or passwords: a variable whose name or value looks like one is left out",
    "no variables but those that begin with NCCL_, GLOO_ or MASTER_, and none that another one hides",
    "no home folders: they are written ~",
    "no loopback interface, and no links that lead to this machine's own containers",
    "no processes, no logs, no serial numbers, nothing of the training itself",
)


def card_text(facts: Facts) -> str:
    """The whole card."""
    machine = facts.machine or Machine()
    sections = (
        ("", [f"The card of {facts.host or 'a node without a name'} tells:"]),
        ("What NCCL will take", list(_choices(facts))),
        ("Interfaces, in the kernel's order", table(_link_row(link, machine.routes) for link in facts.interfaces)),
        ("Routes", table(map(_route_row, machine.routes))),
        ("Settings that count", table(map(_setting_row, facts.settings)) or ["none"]),
        ("The machine", list(_machine(facts, machine))),
        ("Left out for its size", [f"- {one.question}" for one in facts.unknown]),
        ("What is not on it", [f"- {line}" for line in _NOT_IN_IT]),
        ("", ["Host names and addresses are on it: give it to those who may know them."]),
    )
    return "\n\n".join(section(title, lines) for title, lines in sections if lines)


def _choices(facts: Facts) -> Iterator[str]:
    yield choice_sentence(facts.choice)
    taken = _taken(facts.sockets)
    if taken:
        yield f"Data goes over {', '.join(taken)}, unless InfiniBand or RoCE carries it."


def _taken(choice: Choice | None) -> list[str]:
    return [f"{one.interface} ({one.address})" for one in choice.candidates if one.taken] if choice else []


def _link_row(link: Interface, routes: tuple[Route, ...]) -> tuple[str, ...]:
    kind = f"{link.kind.value} ({link.driver})" if link.driver not in (None, link.kind.value) else link.kind.value
    mtu = "mtu ?" if link.mtu is None else f"mtu {link.mtu}"
    speed = "speed unknown" if link.speed is None else f"{link.speed} Mbit/s"
    addresses = ", ".join(f"{address.address}/{address.prefix}" for address in link.addresses) or "no address"
    return link.name, kind, _state(link), mtu, speed, addresses, _beside(link, routes)


def _state(link: Interface) -> str:
    if link.up is None or not link.up:
        return "state ?" if link.up is None else "down"
    return "running" if link.running else "no carrier"


def _beside(link: Interface, routes: tuple[Route, ...]) -> str:
    family = f"with {', '.join(link.members)}" if link.members else f"part of {link.master}" if link.master else ""
    return "; ".join(part for part in (family, networks(routes, link.name)) if part)


def _route_row(route: Route) -> tuple[str, ...]:
    goal = "everything else" if route.default else route.destination
    family = " (IPv6)" if route.destination == "::/0" else ""
    way = f"through {route.gateway}" if route.gateway else "on the wire itself"
    return f"{goal}{family}", route.interface, way, f"metric {route.metric}"


def _setting_row(setting: Setting) -> tuple[str, str]:
    origin = setting.origin if setting.line is None else f"{setting.origin}, line {setting.line}"
    return f"{setting.name}={setting.value}", origin


def _machine(facts: Facts, machine: Machine) -> Iterator[str]:
    version = facts.library.version or "version unknown" if facts.library else "none found"
    yield f"NCCL: {version}"
    yield f"nccl.conf files read: {', '.join(facts.conf_files) or 'none'}"
    if machine.hints:
        yield f"signs of: {', '.join(hint.name for hint in machine.hints)}"
    if machine.boot:
        yield f"start of the machine: {machine.boot}, the same on all cards of one machine until it restarts"
    for name in dict.fromkeys(gpu.name for gpu in machine.gpus):
        yield f"GPUs: {sum(gpu.name == name for gpu in machine.gpus)} x {name}"
    # The default route has its own section here.
    yield from machine_lines(replace(machine, hints=(), gpus=(), routes=()))
