"""A node for people: what NCCL will do, what is wrong, what is unusual, the facts; in that order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ncclcheck.cli.machine_text import machine_lines, networks
from ncclcheck.model import Choice, ConfLine, Facts, Interface, Route, Setting, Unknown
from ncclcheck.node.unusual import unusual
from ncclcheck.printable import printable

_CODES = {2: "unhandled system error", 3: "internal error", 4: "invalid argument", 5: "invalid usage"}
"""ncclGetErrorString, NCCL 2.13 to 2.32."""


def node_text(facts: Facts) -> str:
    """The whole screen."""
    sections = (
        ("", [choice_sentence(facts.choice)]),
        ("Why", why(facts.choice)),
        ("What is wrong", [line for trouble in facts.conf_troubles for line in trouble_lines(trouble)]),
        ("What is unusual", [f"- {remark}" for remark in unusual(facts)]),
        ("This machine", list(_machine(facts))),
        ("Interfaces, in the kernel's order", table(_interface_row(link, _routes(facts)) for link in facts.interfaces)),
        ("Settings", table(map(_setting_row, facts.settings)) or ["none"]),
        ("Not known", [f"- {unknown.question}: {unknown.missing}" for unknown in _unknown(facts)]),
    )
    return "\n\n".join(section(title, lines) for title, lines in sections if lines)


def section(title: str, lines: Sequence[str]) -> str:
    """Indented lines under a title; without one, the lines as they are."""
    return "\n".join([title, *(f"  {line}" for line in lines)]) if title else "\n".join(lines)


def choice_sentence(choice: Choice | None) -> str:
    """What NCCL will do, in a sentence."""
    if choice is None:
        return "Which interface NCCL will take cannot be told here."
    if choice.interface is None:
        meaning = _CODES.get(choice.code, "an error")
        return f"NCCL {choice.nccl} will find NO interface and fail with code {choice.code} ({meaning})."
    return f"NCCL {choice.nccl} will take {choice.interface}, {choice.address}, to find the other ranks."


def why(choice: Choice | None) -> list[str]:
    """The reason, and what became of each address."""
    if choice is None:
        return []
    rows = [(one.interface, one.address, "taken" if one.taken else "", one.reason) for one in choice.candidates]
    return [f"{choice.reason}.", *table(rows)]


def trouble_lines(trouble: ConfLine) -> Iterator[str]:
    """One misread line: where it is, what NCCL makes of it, and how it should be."""
    place = f"{trouble.path}, line {trouble.line}" if trouble.line else "environment"
    yield f"{place}: {trouble.text}"
    yield f"    {trouble.meaning}"
    if trouble.corrected and trouble.corrected != trouble.text:
        yield f"    should be: {trouble.corrected}"
    elif not trouble.corrected:
        yield "    unset it" if not trouble.line else "    the line should go"


def _machine(facts: Facts) -> Iterator[str]:
    yield f"host: {facts.host}"
    yield f"python: {facts.python or 'none found'}"
    library = facts.library
    yield f"NCCL: {library.version or 'version unknown'}, {library.path}" if library else "NCCL: none found"
    yield f"nccl.conf files read: {', '.join(facts.conf_files) or 'none'}"
    if facts.machine:
        yield from machine_lines(facts.machine)


def _unknown(facts: Facts) -> tuple[Unknown, ...]:
    return facts.unknown + (facts.machine.unknown if facts.machine else ())


def _routes(facts: Facts) -> tuple[Route, ...]:
    return facts.machine.routes if facts.machine else ()


def _interface_row(link: Interface, routes: tuple[Route, ...]) -> tuple[str, ...]:
    addresses = ", ".join(f"{address.address}/{address.prefix}" for address in link.addresses) or "no address"
    mtu = "mtu ?" if link.mtu is None else f"mtu {link.mtu}"
    speed = "speed unknown" if link.speed is None else f"{link.speed} Mbit/s"
    beside = "; ".join(part for part in (_belonging(link), networks(routes, link.name)) if part)
    return (link.name, _kind(link), _state(link), mtu, speed, addresses, beside)


def _kind(link: Interface) -> str:
    driver = link.driver if link.driver not in (None, link.kind.value) else ""
    return f"{link.kind.value} ({driver})" if driver else link.kind.value


def _belonging(link: Interface) -> str:
    if link.members:
        return f"with {', '.join(link.members)}"
    return f"part of {link.master}" if link.master else ""


def _state(link: Interface) -> str:
    if link.up is None:
        return "state ?"
    if not link.up:
        return "down"
    return "running" if link.running else "no carrier"


def _setting_row(setting: Setting) -> tuple[str, ...]:
    origin = setting.origin if setting.line is None else f"{setting.origin}, line {setting.line}"
    return (f"{setting.name}={setting.value}", origin, "" if setting.wins else "hidden by an earlier one")


def table(rows: Iterable[Sequence[str]]) -> list[str]:
    """Rows in columns that stand."""
    # Escaped before it is measured, or the columns would not stand.
    kept = [tuple(map(printable, row)) for row in rows]
    if not kept:
        return []
    widths = [max(map(len, column)) for column in zip(*kept, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in kept]
