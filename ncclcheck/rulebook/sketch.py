"""Nodes and connections in a few words, for the samples of rules about two sides. Pure.

A node is a list of texts: ``eth0 172.17.0.2/16 mtu 9000``, ``docker0 docker 172.17.0.1/16``, ``eth1 down``,
``NCCL_SOCKET_IFNAME==eth1``, ``nccl 2.18.3``, ``ports 40000-40009``, ``boot 1f2e``, ``name MASTER_ADDR head 10.0.0.1``;
``pasted`` where it is somebody's text, of which ``conf NCCL_DEBUG = INFO`` is a line, with routes only ``unordered``.
A cell is ``node-a > node-b eth1 10.0.0.12 dropped``; more may follow: ``mtu=1400``, ``arrived``, ``met``,
``source=10.9.9.9``, ``icmp:host unreachable``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ncclcheck.errors import RuleError
from ncclcheck.model import (
    Address,
    Cell,
    Facts,
    Interface,
    Job,
    Library,
    Limit,
    LinkKind,
    Machine,
    Meeting,
    NameLookup,
    Outcome,
    Setting,
    Sides,
    Where,
)
from ncclcheck.node.lint import lint
from ncclcheck.node.selection import bootstrap
from ncclcheck.node.version import NEWEST
from ncclcheck.peer.match import match

_CELL = re.compile(r"(\S+) > (\S+) (\S+) (\S+) ([a-z-]+)(.*)")
_PORT = 29500


def sketched_job(sketch: Mapping[str, Sequence[str]], connections: Sequence[str]) -> Job:
    """The job that a sample's nodes and cells make; RuleError where one of their texts means nothing."""
    known = nodes(sketch)
    tried, met = cells(connections)
    return Job(nodes=known, sides=Sides(match(known, tried), tried, met))


def nodes(sketch: Mapping[str, Sequence[str]]) -> tuple[Facts, ...]:
    """The nodes, each with what NCCL would take on it; RuleError where a text means nothing."""
    return tuple(_node(host, texts) for host, texts in sketch.items())


def _node(host: str, texts: Sequence[str]) -> Facts:
    facts = Facts(host, (Interface("lo", 1, LinkKind.LOOPBACK, True, True, 65536, None, (Address("127.0.0.1", 8),)),))
    facts = replace(facts, machine=Machine())
    for text in texts:
        facts = _with(facts, text)
    version = (facts.library.version if facts.library else None) or NEWEST
    values = {setting.name: setting.value for setting in facts.settings}
    return replace(facts, choice=bootstrap(facts.interfaces, values, version))


def _with(facts: Facts, text: str) -> Facts:
    words = text.split()
    if re.match(r"[A-Z_]+=", text):
        name, _, value = text.partition("=")
        return replace(facts, settings=(*facts.settings, Setting(name, value, "environment")))
    if words[0] in ("pasted", "unordered", "conf"):
        return _pasted(facts, words[0], text.partition(" ")[2])
    if words[0] in ("ports", "boot", "name"):
        return replace(facts, machine=_machine(facts.machine or Machine(), words))
    if words[0] == "nccl":
        return replace(facts, library=Library("libnccl.so.2", words[1]))
    return replace(facts, interfaces=(*facts.interfaces, _interface(words, len(facts.interfaces) + 1)))


def _machine(machine: Machine, words: Sequence[str]) -> Machine:
    if words[0] == "ports":
        first, last = words[1].split("-")
        return replace(machine, limits=(Limit("port_first", int(first)), Limit("port_last", int(last))))
    if words[0] == "boot":
        return replace(machine, boot=words[1])
    look = NameLookup(words[2], words[1].replace("own", "own name"), tuple(words[3:]))
    return replace(machine, names=(*machine.names, look))


def _pasted(facts: Facts, word: str, line: str) -> Facts:
    """Somebody's text rather than a look at the node: ``conf`` has a line as in nccl.conf behind it."""
    if word == "unordered":
        return replace(facts, interfaces=tuple(replace(link, index=0) for link in facts.interfaces))
    if word == "conf":
        wrong = lint(line.encode(), facts.host, NEWEST)
        return replace(facts, conf_troubles=(*facts.conf_troubles, *wrong))
    return replace(facts, places=(Where(facts.host, 1),))


def _interface(words: list[str], index: int) -> Interface:
    kinds = {kind.value: kind for kind in LinkKind}
    kind = next((kinds[word] for word in words if word in kinds), LinkKind.ETHERNET)
    numbers = {word: int(words[at + 1]) for at, word in enumerate(words[:-1]) if word in ("mtu", "speed")}
    addresses = (word.split("/") for word in words if "/" in word)
    up = "down" not in words
    return Interface(
        words[0],
        index,
        kind,
        up,
        up,
        numbers.get("mtu", 1500),
        numbers.get("speed"),
        tuple(Address(address, int(prefix)) for address, prefix in addresses),
    )


def cells(sketch: Sequence[str]) -> tuple[tuple[Cell, ...], tuple[Meeting, ...]]:
    """The connections of the way that the kernel takes by itself, and where the nodes met; RuleError for nonsense."""
    found, met = [], []
    for text in sketch:
        parsed = _CELL.fullmatch(text)
        outcomes = {outcome.value.replace(" ", "-"): outcome for outcome in Outcome}
        if parsed is None or parsed[5] not in outcomes:
            raise RuleError(
                f"{text!r} is no connection",
                next_step=f"node-a > node-b eth1 10.0.0.12 and one of {', '.join(outcomes)}",
            )
        caller, callee, target, address, outcome, more = parsed.groups()
        found.append(_more(Cell(caller, "", callee, target, address, outcomes[outcome]), more))
        if " met" in more:
            met.append(Meeting(caller, callee, address, _PORT))
    return tuple(found), tuple(met)


def _more(cell: Cell, more: str) -> Cell:
    if found := re.search(r"mtu=(\d+)", more):
        cell = replace(cell, mtu=int(found[1]))
    if found := re.search(r"source=(\S+)", more):
        cell = replace(cell, source=found[1])
    if found := re.search(r"icmp:(.*)", more):
        cell = replace(cell, detail=found[1].strip())
    if " arrived" in more:
        cell = replace(cell, arrived=True)
    return replace(cell, arrived=False) if " never-arrived" in more else cell
