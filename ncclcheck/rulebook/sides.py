"""What lies between nodes as subjects of rules: pairs, paths, settings across nodes, and names. Pure.

Only where nodes were compared (``Job.sides``); a single node, or a log alone, gives none of these.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import combinations

from ncclcheck.model import Cell, Facts, Job, NameLookup, Sides
from ncclcheck.peer.calls import bare
from ncclcheck.peer.match import link_local, usable_addresses
from ncclcheck.rulebook.subject import Subject, Value, known

_OWN, _MASTER = "own name", "MASTER_ADDR"


def side_subjects(job: Job, sides: Sides) -> dict[str, tuple[Subject, ...]]:
    """These subjects by kind."""
    return {
        "pair": tuple(_pair(one, other, sides) for one, other in combinations(job.nodes, 2)),
        "path": tuple(_path(cell, sides, job.nodes) for cell in sides.cells if not cell.interface),
        "node-setting": tuple(_settings(job.nodes)),
        "name": tuple(_names(job.nodes)),
    }


# Pairs ---------------------------------------------------------------------------------------------------------------


def _pair(one: Facts, other: Facts, sides: Sides) -> Subject:
    values = known(
        one=one.host,
        other=other.host,
        shared=any({one.host, other.host} <= {member.host for member in net.members} for net in sides.match.networks),
        families_shared=bool(_families(one) & _families(other)),
        one_families=_family_names(one),
        other_families=_family_names(other),
        same_machine=_machine(one) is not None and _machine(one) == _machine(other),
        one_nccl=_nccl(one),
        other_nccl=_nccl(other),
        proved=sides.match.proved,
    )
    if _nccl(one) and _nccl(other):
        values["same_nccl"] = _nccl(one) == _nccl(other)
    return Subject("pair", values | _joined(one, other, sides) | _mtus(one, other, sides), ())


def _families(node: Facts) -> set[int]:
    """Families of addresses that could lead to other nodes."""
    return {address.family for _, address in usable_addresses(node) if not link_local(address.address)}


def _family_names(node: Facts) -> str:
    return " and ".join(f"IPv{family}" for family in sorted(_families(node))) or "no"


def _machine(node: Facts) -> str | None:
    """The kernel that it runs on, by its last start; containers of one machine have the same."""
    return node.machine.boot if node.machine else None


def _nccl(node: Facts) -> str | None:
    return node.library.version if node.library else None


def _joined(one: Facts, other: Facts, sides: Sides) -> dict[str, Value]:
    """Which directions some connection passed in; absent where none was tried."""
    tried = {(cell.caller, cell.callee) for cell in sides.cells}
    passed = {(cell.caller, cell.callee) for cell in sides.cells if cell.passed}
    there, back = (one.host, other.host), (other.host, one.host)
    if not {there, back} <= tried:
        return {}
    works = [pair for pair in (there, back) if pair in passed]
    values: dict[str, Value] = {"joined": len(works) == 2, "one_way": len(works) == 1}
    if len(works) == 1:
        values |= {"from_host": works[0][0], "to_host": works[0][1]}
    return values


def _mtus(one: Facts, other: Facts, sides: Sides) -> dict[str, Value]:
    """The MTUs of the interfaces that both should use, in bytes."""
    use = {each.host: each.interface for each in sides.match.use}
    found = [
        (interface.name, interface.mtu)
        for node in (one, other)
        for interface in node.interfaces
        if interface.name == use.get(node.host)
    ]
    if len(found) != 2:
        return {}
    (one_name, one_mtu), (other_name, other_mtu) = found
    return known(
        one_interface=one_name,
        other_interface=other_name,
        one_mtu=one_mtu,
        other_mtu=other_mtu,
        mtu_differs=one_mtu is not None and other_mtu is not None and one_mtu != other_mtu,
    )


# Paths ---------------------------------------------------------------------------------------------------------------


def _path(cell: Cell, sides: Sides, nodes: tuple[Facts, ...]) -> Subject:
    here = (cell.callee, bare(cell.address))
    use = {one.host: one for one in sides.match.use}
    taken = {(node.host, bare(node.choice.address)) for node in nodes if node.choice and node.choice.address}
    met = {(one.caller, one.callee, bare(one.address)) for one in sides.meetings}
    values = known(
        caller=cell.caller,
        callee=cell.callee,
        target=cell.target,
        address=cell.address,
        outcome=cell.outcome.value,
        passed=cell.passed,
        detail=cell.detail,
        source=cell.source,
        mtu=cell.mtu,
        arrived=cell.arrived,
        lost=_lost(cell),
        wanted=cell.callee in use and here == (cell.callee, bare(use[cell.callee].address)),
        taken=here in taken,
        met=(cell.caller, *here) in met,
        caller_address=use[cell.caller].address if cell.caller in use else None,
        caller_interface=use[cell.caller].interface if cell.caller in use else None,
    )
    return Subject("path", values | _back(cell, sides), ())


def _lost(cell: Cell) -> str | None:
    """Where an unanswered call got lost."""
    if cell.arrived is None:
        return None
    if cell.arrived:
        return f"{cell.callee} got the call, and its answer was lost on the way back to {cell.caller}"
    return f"the call never reached {cell.callee}'s TCP: it was dropped by {cell.callee}'s own firewall or on the way"


def _back(cell: Cell, sides: Sides) -> dict[str, Value]:
    """Whether the callee reaches the caller over what both should use; absent where that was not tried."""
    own = next((use.address for use in sides.match.use if use.host == cell.caller), None)
    calls = [
        one
        for one in sides.cells
        if not one.interface and (one.caller, one.callee) == (cell.callee, cell.caller) and own in (one.address, None)
    ]
    return {"back_passed": any(one.passed for one in calls)} if calls else {}


# Settings and names --------------------------------------------------------------------------------------------------


def _settings(nodes: tuple[Facts, ...]) -> Iterator[Subject]:
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for node in nodes:
        for setting in node.settings:
            if setting.wins:
                found[setting.name][node.host] = setting.value
    for name, values in found.items():
        lacking = [node.host for node in nodes if node.host not in values]
        yield Subject("node-setting", known(name=name, **_across(values, lacking)), ())


def _across(values: Mapping[str, str], lacking: list[str]) -> dict[str, Value]:
    return {
        "host": " and ".join(values),
        "value": next(iter(values.values())),
        "values": ", ".join(f"{value} on {host}" for host, value in values.items()),
        "differs": len(set(values.values())) > 1,
        "lacking_hosts": len(lacking),
        "lacking": " and ".join(lacking),
    }


def _names(nodes: tuple[Facts, ...]) -> Iterator[Subject]:
    master = {node.host: look.found for node in nodes for look in _lookups(node, _MASTER)}
    for node in nodes:
        for look in (*_lookups(node, _OWN), *_lookups(node, _MASTER)):
            values = known(
                host=node.host,
                name=look.name,
                role=look.role,
                found=", ".join(look.found) or "nothing",
                leads=_leads(node, look),
                differs=look.role == _MASTER and len(set(master.values())) > 1,
                everywhere="; ".join(f"{', '.join(found) or 'nothing'} on {host}" for host, found in master.items()),
            )
            yield Subject("name", values, ())


def _lookups(node: Facts, role: str) -> Iterator[NameLookup]:
    yield from (look for look in (node.machine.names if node.machine else ()) if look.role == role)


def _leads(node: Facts, look: NameLookup) -> str:
    """nowhere, loopback, here (an address of this node), elsewhere."""
    own = {address.address for _, address in usable_addresses(node)}
    if not look.found:
        return "nowhere"
    if all(address.startswith("127.") or address == "::1" for address in look.found):
        return "loopback"
    return "here" if own & set(look.found) else "elsewhere"
