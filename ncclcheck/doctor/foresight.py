"""What would become of the findings with other settings: which would go, stay or come, and what cannot be told. Pure.

Only what follows from nodes and settings is worked out again: a job is imagined in which NCCL has just taken what it
would take, and the rules that need no more than that are run on it, as things are and as they would be. Whatever rests
on what happened in a run is left open, and called so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache

from msgspec import structs

from ncclcheck.doctor.diagnose import rulebook
from ncclcheck.model import (
    Change,
    Choice,
    Endpoint,
    Event,
    Facts,
    Finding,
    Job,
    Process,
    Rank,
    Severity,
    Sides,
    Stage,
    Unknown,
    WhatIf,
    Where,
)
from ncclcheck.node.environment import ENVIRONMENT, winning
from ncclcheck.node.subnet import Resolver, literal
from ncclcheck.node.whatif import rests_on_a_name, settings_with, what_if
from ncclcheck.rulebook.diagnose import findings
from ncclcheck.rulebook.schema import Also, Match, RuleSpec

_FORESEEN = frozenset({"interface", "setting", "node", "conf", "pair", "path", "node-setting", "name"})
"""Subjects of rules that a job has as soon as its nodes and settings are known."""
_NO_INTERFACE = "bootstrap.no-interface"
"""What NCCL is sure to print where it finds none (2.8 to 2.32, rules/events)."""
_OF_THE_CHOICE = frozenset(
    {
        "wrong-interface",
        "loopback-interface",
        "link-local-address",
        "no-route",
        "firewall-drop",
        "firewall-reject",
    }
)
"""Causes that are about an address which is only called because NCCL took it."""


class Fate(Enum):
    """What becomes of a finding."""

    GOES = "goes"
    COMES = "comes"
    STAYS = "stays"
    OPEN = "open"


_WORDS = {
    Fate.GOES: "would go",
    Fate.COMES: "would come",
    Fate.STAYS: "would stay",
    Fate.OPEN: "cannot tell",
}


@dataclass(frozen=True, slots=True)
class Foreseen:
    """A finding and what becomes of it."""

    fate: Fate
    rule: str
    title: str
    why: str = ""

    def __str__(self) -> str:
        reason = f" ({self.why})" if self.why else ""
        return f"{_WORDS[self.fate]}: {self.rule} {self.title}{reason}"


@dataclass(frozen=True, slots=True)
class Tried:
    """One node with the changes."""

    host: str
    answer: WhatIf | None
    """None where a name would have to be looked up for it."""
    now: Choice | None


@dataclass(frozen=True, slots=True)
class Foresight:
    """The whole answer."""

    changes: tuple[Change, ...]
    nccl: str
    nodes: tuple[Tried, ...]
    findings: tuple[Foreseen, ...] = ()
    unknown: tuple[Unknown, ...] = ()


@dataclass(frozen=True, slots=True)
class Present:
    """What is known now, beside the nodes."""

    findings: tuple[Finding, ...] = ()
    """Of a log or a probe."""
    sides: Sides | None = None
    """What was learnt between these nodes."""


NOTHING = Present()


def foresee(
    nodes: Sequence[Facts],
    changes: Sequence[Change],
    nccl: str,
    present: Present = NOTHING,
    resolve: Resolver = literal,
) -> Foresight:
    """What NCCL would choose on each node with these changes, and what would become of the findings."""
    tried = tuple(_tried(node, changes, nccl, resolve) for node in nodes)
    then = tuple(_then(node, one, changes, nccl) for node, one in zip(nodes, tried, strict=True))
    named = tuple(Unknown(f"what {one.host} would choose", _LOOKED_UP) for one in tried if one.answer is None)
    found = tuple(_fates(tuple(nodes), then, present)) if not named else tuple(_open(present.findings))
    order = list(Fate)
    ordered = tuple(sorted(found, key=lambda one: order.index(one.fate)))
    return Foresight(tuple(changes), nccl, tried, ordered, named + tuple(_unknown(tuple(nodes), then, nccl, present)))


_LOOKED_UP = "a look-up of the name: ncclcheck node --what-if …, on that node"


def _tried(node: Facts, changes: Sequence[Change], nccl: str, resolve: Resolver) -> Tried:
    named = resolve is literal and rests_on_a_name(node, changes)
    return Tried(node.host, None if named else what_if(node, changes, nccl, resolve), node.choice)


def _then(node: Facts, tried: Tried, changes: Sequence[Change], nccl: str) -> Facts:
    """The node as it would be."""
    if tried.answer is None:
        return node
    names = tuple(f"{one.name}=" for one in changes)
    kept = (one for one in node.conf_troubles if one.path != ENVIRONMENT or not one.text.startswith(names))
    return replace(
        node,
        settings=settings_with(node.settings, changes),
        conf_troubles=(*kept, *tried.answer.troubles),
        choice=tried.answer.choice,
        sockets=tried.answer.sockets,
        library=replace(node.library, version=nccl) if node.library else None,
    )


# Findings ------------------------------------------------------------------------------------------------------------


def _fates(nodes: tuple[Facts, ...], then: tuple[Facts, ...], present: Present) -> Iterator[Foreseen]:
    before, after = (_of_settings(one, present.sides) for one in (nodes, then))
    stays = {_key(one) for one in before} & {_key(one) for one in after}
    for finding in before:
        yield _foreseen(Fate.STAYS if _key(finding) in stays else Fate.GOES, finding)
    yield from (_foreseen(Fate.COMES, finding) for finding in after if _key(finding) not in stays)
    rules = {finding.rule for finding in (*before, *after)}
    for finding in present.findings:
        if finding.rule not in rules and finding.severity is not Severity.INFO:
            yield _by_choice(finding, nodes, then)


def _of_settings(nodes: tuple[Facts, ...], sides: Sides | None) -> tuple[Finding, ...]:
    found = findings(_imagined(nodes, sides), _rules())
    return tuple(finding for finding in found if finding.severity is not Severity.INFO)


def _key(finding: Finding) -> tuple[str, str]:
    return finding.rule, dict(finding.subject).get("host", "")


def _foreseen(fate: Fate, finding: Finding, why: str = "") -> Foreseen:
    return Foreseen(fate, finding.rule, finding.title, why)


def _by_choice(finding: Finding, nodes: tuple[Facts, ...], then: tuple[Facts, ...]) -> Foreseen:
    """A finding of a run: it has lost its ground where NCCL would not take any more what it is about."""
    for node, later in zip(nodes, then, strict=True):
        if finding.cause in _OF_THE_CHOICE and _is_about(finding, node.choice):
            taken = later.choice.interface if later.choice else None
            if _is_about(finding, later.choice):
                return _foreseen(Fate.STAYS, finding, f"NCCL would still take {taken} on {node.host}")
            return _foreseen(Fate.GOES, finding, f"NCCL would take {taken or 'no interface'} on {node.host}")
    return _foreseen(Fate.OPEN, finding, _RUN)


_RUN = "it rests on what happened in a run: only a new one can tell"


def _open(found: tuple[Finding, ...]) -> Iterator[Foreseen]:
    return (_foreseen(Fate.OPEN, one, _RUN) for one in found if one.severity is not Severity.INFO)


def _is_about(finding: Finding, choice: Choice | None) -> bool:
    address = dict(finding.subject).get("address")
    return choice is not None and address is not None and address == choice.address


# What cannot be told -------------------------------------------------------------------------------------------------


def _unknown(nodes: tuple[Facts, ...], then: tuple[Facts, ...], nccl: str, present: Present) -> Iterator[Unknown]:
    taken = {node.host: node.choice.interface for node in then if node.choice}
    changed = any(_interface(node) != _interface(later) for node, later in zip(nodes, then, strict=True))
    if changed and any(taken.values()) and not _proved(taken, present.sides):
        yield Unknown("do the nodes reach each other over it?", "connections between them: ncclcheck pair")
    read_for = {node.choice.nccl for node in nodes if node.choice}
    if read_for and read_for != {nccl} and any(node.conf_files for node in nodes):
        yield Unknown(f"does NCCL {nccl} read the same files?", f"a look at them: ncclcheck node --nccl {nccl}")


def _interface(node: Facts) -> str | None:
    return node.choice.interface if node.choice else None


def _proved(taken: dict[str, str | None], sides: Sides | None) -> bool:
    return (
        sides is not None
        and sides.match.proved
        and all(taken.get(use.host) == use.interface for use in sides.match.use)
    )


# The imagined job ----------------------------------------------------------------------------------------------------


def _imagined(nodes: tuple[Facts, ...], sides: Sides | None) -> Job:
    ranks = tuple(_rank(node) for node in nodes if node.choice)
    return Job(ranks=ranks, nodes=nodes, sides=_again(nodes, sides) if sides else None)


def _again(nodes: tuple[Facts, ...], sides: Sides) -> Sides:
    from ncclcheck.peer.match import match

    return replace(sides, match=match(nodes, sides.cells))


def _rank(node: Facts) -> Rank:
    """NCCL on the node, just after it chose."""
    choice, process, where = node.choice, Process(node.host, node.host), Where(node.host, 0)
    found = choice is not None and choice.interface is not None
    bootstrap = Endpoint(choice.interface or "", choice.address or "") if choice and found else None
    return Rank(
        process=process,
        host=node.host,
        numbers=(),
        world_size=None,
        nccl=choice.nccl if choice else None,
        stage=Stage.INTERFACE if found else Stage.SILENT,
        bootstrap=bootstrap,
        sockets=tuple(Endpoint(one.interface, one.address) for one in _data(node)),
        network=None,
        settings=tuple(winning(node.settings).items()),
        device=None,
        events=() if found else (Event(_NO_INTERFACE, where, process),),
        last=where,
    )


def _data(node: Facts) -> Iterator[Endpoint]:
    for one in node.sockets.candidates if node.sockets else ():
        if one.taken:
            yield Endpoint(one.interface, one.address)


@lru_cache(maxsize=1)
def _rules() -> tuple[RuleSpec, ...]:
    """The rules, as far as they need nothing that only a run shows."""
    cut = (structs.replace(rule, match=tuple(filter(_foreseeable, rule.match))) for rule in rulebook().rules)
    return tuple(rule for rule in cut if rule.match)


def _foreseeable(match: Match) -> bool:
    also: tuple[Also, ...] = (*match.with_, *match.without)
    return _known(match) and all(map(_known, also))


def _known(sought: Match | Also) -> bool:
    if sought.subject == "event":
        return sought.where.get("kind") == _NO_INTERFACE
    return sought.subject in _FORESEEN
