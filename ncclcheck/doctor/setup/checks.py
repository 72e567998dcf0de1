"""A guide's checks, each answered from what was really seen. Pure: whoever looks is ``doctor.setup``."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ncclcheck.doctor.setup.evidence import Evidence
from ncclcheck.model import Facts, Handshake, Interface, Limit, LinkKind, Pattern, SpeedTest
from ncclcheck.peer.saying import uses
from ncclcheck.rulebook.guide_schema import Check, CheckKind

_WSL_NAT = ipaddress.ip_network("172.16.0.0/12")
"""From which WSL takes the network behind its NAT (learn.microsoft.com, WSL networking)."""

With = Mapping[str, int | bool]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a check says."""

    passed: bool | None
    """``None`` where nobody can tell."""
    said: str
    """What was seen; where nobody can tell, what is missing."""


def answer(check: Check, evidence: Evidence) -> Answer | None:
    """The answer; None as long as what it needs has not been looked at."""
    return _KINDS[check.kind](evidence, check.with_)


# Between the nodes ---------------------------------------------------------------------------------------------------


def _joined(evidence: Evidence, _: With) -> Answer | None:
    hosts = ", ".join(guest.host for guest in evidence.guests)
    if evidence.no_way:
        tried = ", ".join(one.address for one in evidence.no_way.tried)
        return Answer(False, f"none of these leads to the other node: {tried}")
    if evidence.missed:
        return Answer(False, evidence.missed)
    if len(evidence.guests) >= evidence.nodes - 1:
        return Answer(True, f"{hosts} {'takes' if len(evidence.guests) == 1 else 'take'} part")
    return None


def _shared(evidence: Evidence, _: With) -> Answer | None:
    if evidence.known is None:
        return None
    match = evidence.known.sides.match
    if evidence.reached:
        return Answer(True, f"{uses(match.use)}: {match.because}")
    return Answer(False, match.because)


def _settled(evidence: Evidence, _: With) -> Answer | None:
    if evidence.known is None or not evidence.use:
        return None
    if evidence.known.settled:
        return Answer(True, f"NCCL takes {uses(evidence.use)} as things are set")
    if evidence.refused:
        return Answer(False, f"{evidence.refused.host}: {evidence.refused.text}")
    if evidence.mended:
        return Answer(True, "; ".join(f"{one.host}: {one.text}" for one in evidence.made))
    taken = {node.host: node.choice.interface if node.choice else None for node in evidence.known.nodes}
    told = ", ".join(f"{name or 'nothing'} on {host}" for host, name in taken.items())
    return Answer(False, f"NCCL takes {told}") if evidence.ended and evidence.reached else None


def _port(evidence: Evidence, _: With) -> Answer | None:
    found = evidence.port
    if found is None:
        return None
    taken = f" (somebody has {', '.join(map(str, found.taken))})" if found.taken else ""
    return Answer(True, f"port {found.port} of {found.address} is free{taken}")


def _shaken(evidence: Evidence, _: With) -> Answer | None:
    shook = evidence.shook
    if shook is None or not (shook.passed or evidence.reached):
        # Where the nodes do not reach each other there is one cause, and it is told by the step before.
        return None
    if shook.passed:
        return Answer(True, f"NCCL {shook.nccl}'s own handshake passes, with the root at {shook.root}")
    settled = evidence.known is not None and evidence.known.settled
    return Answer(False, _refusal(shook)) if settled or evidence.ended or evidence.mended else None


def _refusal(shook: Handshake) -> str:
    """What went wrong first."""
    problems = (f"{one.host} at {one.address}: {one.problem}" for one in shook.contacts if one.problem)
    return shook.failure or next(problems, "nobody answered")


def _speed(evidence: Evidence, _: With) -> Answer | None:
    test = evidence.test
    if test is None:
        return None
    return Answer(test.passed, rates(test) if test.passed else test.failure or "some of what arrived was damaged")


def rates(test: SpeedTest) -> str:
    """The bandwidth of a test that passed, in words: ``one way 1.1 GB/s (8.8 Gbit/s)``."""
    best = [found for pattern in Pattern if (found := test.best(pattern))]
    told = [f"{one.pattern.value} {one.busbw:.3g} GB/s ({8 * one.busbw:.3g} Gbit/s)" for one in best]
    return f"{', '.join(told)}, over {test.interface or test.backend} with {test.backend}"


def _ddp(evidence: Evidence, _: With) -> Answer | None:
    test = evidence.ddp
    if test is None:
        return None
    if not test.passed or test.ddp is None:
        return Answer(False, test.failure or "the nodes did not end with the same weights")
    return Answer(True, f"{test.ddp.steps} steps on {test.ddp.ranks} ranks, the same weights on all at the end")


# This node -----------------------------------------------------------------------------------------------------------


def _of_node(answered: Callable[[Facts, With], Answer]) -> Callable[[Evidence, With], Answer | None]:
    """An answer that takes nothing but this node's facts."""
    return lambda evidence, given: answered(evidence.facts, given) if evidence.facts else None


def _clean(facts: Facts, _: With) -> Answer:
    if not facts.conf_troubles:
        return Answer(True, "NCCL reads every line as it looks")
    first = facts.conf_troubles[0]
    where = f"{first.path}, line {first.line}" if first.line else first.path
    return Answer(False, f"{where}: {first.text.strip()}: {first.meaning}")


def _interfaces(facts: Facts, given: With) -> Answer:
    found = [link.name for link in _outer(facts)]
    told = ", ".join(found) or "none"
    return Answer(len(found) >= given["least"], f"interfaces with an address: {told}")


def _outer(facts: Facts) -> list[Interface]:
    return [link for link in facts.interfaces if link.addresses and link.kind is not LinkKind.LOOPBACK]


def _shm(facts: Facts, given: With) -> Answer:
    return _at_least(facts, "shm", given["mebibytes"] * 1024**2, "/dev/shm", "bytes")


def _files(facts: Facts, given: With) -> Answer:
    return _at_least(facts, "nofile", int(given["least"]), "open files", "files")


def _at_least(facts: Facts, name: str, least: int, what: str, unit: str) -> Answer:
    limit = _limit(facts, name)
    if limit is None:
        return Answer(None, f"{what}: this system does not tell")
    shown = "without a limit" if limit.value is None else f"{limit.value} {unit}"
    return Answer(limit.value is None or limit.value >= least, f"{what}: {shown}, and at least {least} are needed")


def _memlock(facts: Facts, _: With) -> Answer:
    limit = _limit(facts, "memlock")
    if limit is None:
        return Answer(None, "how much memory may be locked: this system does not tell")
    shown = "without a limit" if limit.value is None else f"at most {limit.value} bytes"
    return Answer(limit.value is None, f"memory may be locked {shown}")


def _limit(facts: Facts, name: str) -> Limit | None:
    limits = facts.machine.limits if facts.machine else ()
    return next((one for one in limits if one.name == name), None)


def _gpu(evidence: Evidence, _: With) -> Answer | None:
    if evidence.facts is None:
        return None
    if evidence.cuda is None:
        return Answer(None, "the training's Python could not be asked for its CUDA devices")
    return Answer(evidence.cuda > 0, f"the training's Python sees {evidence.cuda} CUDA devices")


def _rdma(facts: Facts, _: With) -> Answer:
    devices = facts.machine.rdma if facts.machine else ()
    ports = [(device.name, port.state) for device in devices for port in device.ports]
    told = ", ".join(f"{name} is {state}" for name, state in ports) or "no RDMA device is here"
    return Answer(any(state == "ACTIVE" for _, state in ports), told)


def _name(facts: Facts, _: With) -> Answer:
    names = facts.machine.names if facts.machine else ()
    found = next((one for one in names if one.role == "own name"), None)
    if found is None:
        return Answer(None, f"what {facts.host} leads to: the resolver gave no answer")
    own = {address.address for link in _outer(facts) for address in link.addresses}
    told = f"{found.name} leads to {', '.join(found.found) or 'nothing'}"
    return Answer(any(address in own for address in found.found), told)


def _no_wsl_nat(facts: Facts, _: With) -> Answer:
    hints = facts.machine.hints if facts.machine else ()
    if not any(hint.name == "WSL" for hint in hints):
        return Answer(True, "this is not WSL")
    four = [one.address for link in _outer(facts) for one in link.addresses if one.family == 4]
    open_ones = [address for address in four if ipaddress.ip_address(address) not in _WSL_NAT]
    return Answer(bool(open_ones), f"addresses here: {', '.join(four) or 'none'}")


_KINDS: Mapping[CheckKind, Callable[[Evidence, With], Answer | None]] = {
    "nodes-joined": _joined,
    "shared-network": _shared,
    "settled": _settled,
    "port-free": _port,
    "handshake": _shaken,
    "speed": _speed,
    "ddp": _ddp,
    "gpu": _gpu,
    "conf-clean": _of_node(_clean),
    "interfaces": _of_node(_interfaces),
    "shm": _of_node(_shm),
    "open-files": _of_node(_files),
    "memlock": _of_node(_memlock),
    "rdma-device": _of_node(_rdma),
    "name-resolves": _of_node(_name),
    "not-wsl-nat": _of_node(_no_wsl_nat),
}
