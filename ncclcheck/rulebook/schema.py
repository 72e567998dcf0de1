"""The shape of a rule file. Unknown keys are errors; every error names file and key.

These structures mirror the TOML one to one; ``rules/README.md`` explains them to rule authors.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, get_args

import msgspec

Scalar = str | int | float | bool


class Bound(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A condition that is more than "equals" or "one of"."""

    min: float | None = None
    max: float | None = None
    pattern: str | None = None
    is_not: tuple[Scalar, ...] | None = None
    present: bool | None = None


Condition = Scalar | tuple[Scalar, ...] | Bound


class LineSample(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line, and the fields that must be read from it; ``match = false`` marks a near miss."""

    line: str
    match: bool = True
    values: dict[str, str] = {}


class EventShape(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[[event]]`` in ``rules/events/*.toml``."""

    kind: str
    literal: str
    pattern: str
    sample: tuple[LineSample, ...]
    fields: dict[str, str] = {}
    repeated: bool = False
    beside: tuple[str, ...] = ()
    """Further kinds that the same line may be."""
    versions: str = ""
    note: str = ""


class EventFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file in ``rules/events/``."""

    event: tuple[EventShape, ...]


SubjectKind = Literal[
    "event",
    "connect",
    "interface",
    "setting",
    "rank",
    "job",
    "node",
    "conf",
    "pair",
    "path",
    "node-setting",
    "name",
]


class Also(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A further subject that must be there (``with``) or must not (``without``)."""

    subject: SubjectKind
    where: dict[str, Condition] = {}
    same: tuple[str, ...] = ()
    """Attributes that must be equal to the first subject's."""
    differ: tuple[str, ...] = ()
    """Attributes that must be known and different."""
    name: str = ""
    """Under this name its attributes are placeholders: ``{setting.value}``."""


class Match(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One way in which a rule can be met; several are alternatives."""

    subject: SubjectKind
    where: dict[str, Condition] = {}
    with_: tuple[Also, ...] = msgspec.field(default=(), name="with")
    without: tuple[Also, ...] = ()
    confidence: Literal["possible", "likely", "certain"] | None = None
    count: int = 1
    """How many such subjects there must be at least."""


class FixSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[[fix]]``: left out where a placeholder has no value."""

    title: str
    scope: Literal["this-node", "all-nodes", "launcher"]
    risk: Literal["safe", "disruptive", "manual"]
    env: dict[str, str] = {}
    commands: tuple[str, ...] = ()
    conf: bool = False
    """Offer the settings as lines of nccl.conf too."""
    when: dict[str, Condition] = {}
    hosts: str = ""
    """Whom it is for, ``{host}`` or ``{one}, {other}``; empty for all of the scope."""


class JobSample(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A small log on which the rule must speak (``match = true``) or stay silent."""

    log: str = ""
    logs: dict[str, str] = {}
    """Several logs by name."""
    nodes: dict[str, tuple[str, ...]] = {}
    """Nodes by host name, as ``rulebook.sketch`` reads them."""
    cells: tuple[str, ...] = ()
    """Connections between these nodes: ``node-a > node-b eth1 10.0.0.12 dropped``."""
    match: bool = True
    values: dict[str, str] = {}
    contain: tuple[str, ...] = ()


class RuleSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file in ``rules/causes/``."""

    id: str
    name: str
    cause: str
    title: str
    severity: Literal["info", "warning", "error"]
    confidence: Literal["possible", "likely", "certain"]
    explanation: str
    not_proof_of: str
    match: tuple[Match, ...]
    sample: tuple[JobSample, ...]
    by: tuple[str, ...] = ()
    """One finding for each value of these attributes; without them one in all."""
    explains: tuple[str, ...] = ()
    """Rules whose findings are echoes of this one and are folded under it."""
    echo: bool = False
    """Usually the echo of something else: only told where nothing else was found."""
    fix: tuple[FixSpec, ...] = ()
    links: tuple[str, ...] = ()
    missing: str = ""
    """For a rule that can only suspect: what would settle it."""


_Structures = tuple[type[msgspec.Struct], ...]
STRUCTURES: _Structures = (Bound, LineSample, EventShape, EventFile, Also, Match, FixSpec, JobSample, RuleSpec)
_KINDS = {"int": "a number, without quotes", "str": "text, between quotes", "bool": "true or false", "array": "[ … ]"}


def nearest(name: str, choices: Iterable[str]) -> str:
    """Advice to a misspelt name: the nearest one, else all of them where they are few."""
    from difflib import get_close_matches

    known = sorted(set(choices))
    begun = [choice for choice in known if name and choice.startswith(name)]
    if close := begun[:1] or get_close_matches(name, known, n=1, cutoff=0.6):
        return f"did you mean {close[0]}?"
    return f"one of: {', '.join(known[:12])}{' …' if len(known) > 12 else ''}" if known else ""


def _keys(structures: _Structures) -> Iterator[str]:
    """The keys of a file of these structures."""
    return (field.encode_name for structure in structures for field in msgspec.structs.fields(structure))


def _choices(structures: _Structures) -> Iterator[str]:
    """What keys take that take only certain words."""
    for structure in structures:
        for field in msgspec.structs.fields(structure):
            for kind in (field.type, *get_args(field.type)):
                yield from (choice for choice in get_args(kind) if isinstance(choice, str))


def advice(problem: str, structures: _Structures = STRUCTURES) -> str:
    """What to write instead of what msgspec refused in a file of these structures."""
    quoted = re.findall(r"[`']([^`']+)[`']", problem)
    if "unknown field" in problem and quoted:
        return nearest(quoted[0], _keys(structures))
    if "missing required field" in problem and quoted:
        return f"add: {quoted[0]} = …"
    if "enum" in problem and quoted:
        return nearest(quoted[0], _choices(structures))
    return _KINDS.get(quoted[0] if quoted else "", "rules/README.md lists the keys and what they take")
