"""Nodes and the lines of their nccl.conf as subjects of rules. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ncclcheck.model import Job, Where
from ncclcheck.rulebook.networks import POOR, Place, Places
from ncclcheck.rulebook.subject import Subject, Value, known

if TYPE_CHECKING:
    from ncclcheck.model import Facts, Sides, Use

_MOST_SETTINGS = 6


def node_subjects(job: Job, places: Places) -> Iterator[Subject]:
    """What NCCL takes on each node, and, where several nodes are known, what it should take."""
    for node in job.nodes:
        names = [interface.name for interface in node.interfaces]
        values = known(
            host=node.host,
            interfaces=", ".join(names),
            count=len(names),
            choice=node.choice.interface if node.choice else None,
            address=node.choice.address if node.choice else None,
            look=_look(node),
            others=", ".join(_others(node)),
            pasted=bool(node.places),
            listed=_listed(node),
            settings=_settings(node),
            takes=_takes(node),
            networks=_networks(node),
            ports=_ports(node),
        )
        if job.sides is not None:
            values |= _among_others(node, job, job.sides, places)
        yield Subject("node", values, node.places)


def _look(node: Facts) -> str | None:
    """What the interface looks like that NCCL would take."""
    if node.choice is None or not node.choice.interface or not node.choice.address:
        return None
    return Place(node.host, node.choice.interface, node.choice.address).look


def _others(node: Facts) -> Iterator[str]:
    """Further interfaces that may be the shared one."""
    for interface in node.interfaces:
        for address in interface.addresses[:1]:
            taken = node.choice is not None and interface.name == node.choice.interface
            if not taken and Place(node.host, interface.name, address.address).look not in POOR:
                yield f"{interface.name} ({address.address})"


def _listed(node: Facts) -> str | None:
    """What it was that was pasted: whoever lists routes knows no order of the interfaces, and their index is 0."""
    if not node.places:
        return None
    if node.settings or not node.interfaces:
        return "settings"
    return "interfaces" if any(interface.index for interface in node.interfaces) else "routes"


def _settings(node: Facts) -> str | None:
    """Its settings that count, the first of many."""
    found = [f"{setting.name}={setting.value}" for setting in node.settings if setting.wins]
    return ", ".join(found[:_MOST_SETTINGS]) + (" …" if len(found) > _MOST_SETTINGS else "") or None


def _takes(node: Facts) -> str | None:
    """What NCCL would take, with the node's name."""
    if node.choice is None or node.choice.interface is None:
        return None
    return f"{node.choice.interface} ({node.choice.address}) on {node.host}"


def _networks(node: Facts) -> str | None:
    """Its interfaces with their addresses."""
    pairs = ((link.name, f"{one.address}/{one.prefix}") for link in node.interfaces for one in link.addresses)
    return ", ".join(f"{name} {network}" for name, network in pairs) or None


def _ports(node: Facts) -> int | None:
    """How many local ports the kernel gives out (ip_local_port_range, ip-sysctl of the kernel's documentation)."""
    limits = {limit.name: limit.value for limit in node.machine.limits} if node.machine else {}
    first, last = limits.get("port_first"), limits.get("port_last")
    return last - first + 1 if first is not None and last is not None else None


def _among_others(node: Facts, job: Job, sides: Sides, places: Places) -> dict[str, Value]:
    """What the other nodes make of this one; the room of the peers is only loaded for it."""
    from ncclcheck.peer.calls import bare

    others = [other.host for other in job.nodes if other.host != node.host]
    values = known(peers=" and ".join(others), peer_count=len(others))
    if node.choice and node.choice.interface and node.choice.address:
        # Also where the node does not list the address: what comes from elsewhere may not fit together.
        place = Place(node.host, node.choice.interface, bare(node.choice.address))
        place = next((one for one in places.at(place.address) if one.host == node.host), place)
        values |= {**known(shared=places.shared_by(place)), **places.twin_values(place)}
        values |= _reached(node.choice.address, node.host, sides)
    wanted = next((use for use in sides.match.use if use.host == node.host), None)
    return values | (_wanted(node, wanted, sides) if wanted else {})


def _reached(address: str, host: str, sides: Sides) -> dict[str, Value]:
    from ncclcheck.peer.calls import bare

    sought = (host, bare(address), "")
    calls = [cell for cell in sides.cells if (cell.callee, bare(cell.address), cell.interface) == sought]
    failed = sorted({cell.caller for cell in calls if not cell.passed})
    if not calls:
        return {}
    return known(reached=not failed, unreached_from=" and ".join(failed))


def _wanted(node: Facts, wanted: Use, sides: Sides) -> dict[str, Value]:
    place = Place(node.host, wanted.interface, wanted.address)
    return known(
        wanted=wanted.interface,
        wanted_address=wanted.address,
        wanted_look=place.look,
        wanted_proved=sides.match.proved,
        settled=node.choice is not None and node.choice.interface == wanted.interface,
        because=sides.match.because,
    )


def conf_subjects(job: Job) -> Iterator[Subject]:
    """The settings that NCCL reads in another way than they were meant."""
    for node in job.nodes:
        for line in node.conf_troubles:
            values = known(
                host=node.host,
                path=line.path,
                line=line.line,
                text=line.text,
                trouble=line.trouble.value,
                meaning=line.meaning,
                corrected=line.corrected if line.corrected not in ("", line.text) else None,
                useless=not line.corrected,
                pasted=bool(node.places),
            )
            yield Subject("conf", values, (Where(line.path, line.line),))
