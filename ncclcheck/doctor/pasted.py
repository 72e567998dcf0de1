"""The use case "what does this text say of a node?": lists of interfaces and routes, and settings, as facts.

A text of settings is read for the nodes that are known: what NCCL would take there with them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ncclcheck.logs.marks import is_log
from ncclcheck.logs.sources import Source, read
from ncclcheck.model import Where

if TYPE_CHECKING:
    from ncclcheck.model import ConfLine, Facts, FileKind, Job, Setting

_LARGEST = 1 << 18
"""Bytes of a text that may be something else than a log."""
_MOST_FILES = 8
"""Named files that are looked at for what they are; whoever names more has logs."""


def told(sources: Sequence[Source], facts: tuple[Facts, ...]) -> tuple[Facts, ...]:
    """The facts, and what the sources say of nodes beside their lines; of a source of settings, for each known node."""
    for source in sources:
        if (source.path is None or len(sources) <= _MOST_FILES) and source.size <= _LARGEST:
            facts = told_by(source.name, "\n".join(text for _, text in read(source)), facts)
    return facts


def told_by(name: str, text: str, facts: tuple[Facts, ...]) -> tuple[Facts, ...]:
    """The same of one text. What a node was known to be gives way to what it is with other settings."""
    # What tells the others apart need not be loaded for a log.
    found = () if len(text) > _LARGEST or is_log(text) else tuple(_of(name, text, facts))
    settled = {node.host for node in found if node.interfaces}
    return (*(known for known in facts if known.host not in settled), *found)


def joined(job: Job) -> Job:
    """The job with settings and interfaces that were pasted together as one node."""
    alone = {node.places[0].source: node for node in job.nodes if _only_settings(node)}
    if not alone:
        return job
    both = {node.places[0].source for node in job.nodes if node.places and node.interfaces} & set(alone)
    nodes = (_with(node, alone) for node in job.nodes if not (_only_settings(node) and node.places[0].source in both))
    return replace(job, nodes=tuple(nodes))


def _only_settings(node: Facts) -> bool:
    return bool(node.places) and not node.interfaces


def _with(node: Facts, alone: dict[str, Facts]) -> Facts:
    settings = alone.get(node.places[0].source) if node.places and node.interfaces else None
    if settings is None or node.settings:
        return node
    return replace(node, settings=settings.settings, conf_troubles=settings.conf_troubles, unknown=())


def _of(name: str, text: str, facts: tuple[Facts, ...]) -> Iterator[Facts]:
    from ncclcheck.doctor.recognise import Kind, recognise

    recognised = recognise(text)
    if recognised.kind in (Kind.INTERFACES, Kind.ROUTES):
        from ncclcheck.logs.pasted_lists import interfaces_in_json, routes_in

        node = interfaces_in_json(text, name) if recognised.kind is Kind.INTERFACES else routes_in(text, name)
        yield from () if node is None else (node,)
        facts = ()
    if recognised.file is not None:
        yield from _settings(name, text, recognised.file, facts)


def _settings(name: str, text: str, kind: FileKind, facts: tuple[Facts, ...]) -> Iterator[Facts]:
    from ncclcheck.model import Facts
    from ncclcheck.node.files.check import check, settings

    content = os.fsencode(text)
    found = settings(name, content, kind)
    places = tuple(Where(name, one.line or 1) for one in found) or (Where(name, 1),)
    # A text without a setting of NCCL's says nothing of what NCCL would take on a node.
    for known in (facts if found else ()) or (Facts(name, ()),):
        version = known.library.version if known.library else None
        yield _settled(known, found, check(name, content, version, kind).troubles, places)


def _settled(
    known: Facts, found: tuple[Setting, ...], troubles: Iterable[ConfLine], places: tuple[Where, ...]
) -> Facts:
    """A node with other settings: what was known of its old ones, and followed from them, is gone."""
    from ncclcheck.model import Facts

    return Facts(
        known.host,
        known.interfaces,
        settings=found,
        conf_troubles=tuple(sorted(troubles, key=lambda trouble: trouble.line)),
        library=known.library,
        places=places,
    )
