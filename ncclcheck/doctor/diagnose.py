"""The use case "what is wrong?": log text in, diagnosis out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from ncclcheck.doctor.pasted import joined, told
from ncclcheck.logs.attempts import ConnectLines
from ncclcheck.logs.job import Reading, read_job
from ncclcheck.logs.sources import Source, open_sources, pasted
from ncclcheck.model import Diagnosis, Job, Unknown, Verdict
from ncclcheck.rulebook.diagnose import findings
from ncclcheck.rulebook.launchers import in_launchers_words
from ncclcheck.rulebook.load import BETWEEN, Rulebook, load, load_connects, load_messages
from ncclcheck.rulebook.verdict import unknowns, verdict

if TYPE_CHECKING:
    from ncclcheck.logs.catalogue import Catalogue
    from ncclcheck.model import Facts, Probe

_CURRENT = "2.29.7"
"""For a pasted interface list without a word about the version: the NCCL of torch 2.12 and 2.13."""

_REACHABLE = Unknown("do the nodes reach each other over what NCCL took?", "the speed test between them")

Clock = Callable[[], float]


@lru_cache(maxsize=1)
def rulebook() -> Rulebook:
    """The built-in rules and the user's, loaded once."""
    return load()


@lru_cache(maxsize=1)
def of_logs() -> Rulebook:
    """The same without those that no log alone can meet."""
    return load(but=BETWEEN)


@lru_cache(maxsize=1)
def connects() -> tuple[ConnectLines, ...]:
    return load_connects()


@lru_cache(maxsize=1)
def _messages() -> Catalogue:
    return load_messages()


def diagnose(paths: Sequence[str], *, facts: tuple[Facts, ...] = ()) -> Diagnosis:
    """What is wrong by these files, folders or standard input (``-``).

    Raises SourceError for what can't be read.
    """
    return diagnose_sources(open_sources(paths), facts=facts)


def diagnose_text(text: str, *, name: str = "pasted", facts: tuple[Facts, ...] = ()) -> Diagnosis:
    """What is wrong by a text that is already here."""
    return diagnose_sources((pasted(text, name),), facts=facts)


def diagnose_probes(probes: Sequence[Probe], facts: tuple[Facts, ...]) -> Diagnosis:
    """What is wrong by what NCCL printed in probes; evidence names the host and the line of its log."""
    found = diagnose_sources([pasted("\n".join(probe.log), probe.host) for probe in probes], facts=facts)
    # A probe always stops after the choice, so that is no question here.
    return replace(found, unknown=(_REACHABLE,)) if found.verdict is Verdict.UNKNOWN else found


def diagnose_sources(
    sources: Iterable[Source],
    *,
    facts: tuple[Facts, ...] = (),
    book: Rulebook | None = None,
    now: Clock = time.perf_counter,
) -> Diagnosis:
    """The whole line: sources → job → findings → verdict."""
    began, book, sources = now(), book or of_logs(), tuple(sources)
    known = told(sources, facts)
    return concluded(read_job(sources, book.shapes, connects(), book.launchers, known), book, now() - began)


def concluded(reading: Reading, book: Rulebook, seconds: float) -> Diagnosis:
    """What follows from what was read."""
    job = _with_choices(reading.job)
    found = tuple(in_launchers_words(one, book.launchers, job.launcher) for one in findings(job, book.rules))
    answer = verdict(job, found)
    left = unknowns(job, answer, reading.lines, _messages)
    return Diagnosis(answer, found, left, job, reading.lines, reading.bytes, seconds)


def _with_choices(job: Job) -> Job:
    """The job with what NCCL would take, by the settings that were pasted, on the nodes that were pasted."""
    if not any(node.places for node in job.nodes):
        return job
    job = joined(job)
    choose = partial(_chosen, nccl=next((rank.nccl for rank in job.ranks if rank.nccl), _CURRENT))
    return replace(job, nodes=tuple(choose(node) if node.places else node for node in job.nodes))


def _chosen(node: Facts, nccl: str) -> Facts:
    from ncclcheck.node.environment import winning
    from ncclcheck.node.selection import bootstrap

    # Without their order, which routes do not tell, nobody knows what NCCL takes.
    if not any(interface.index for interface in node.interfaces):
        return node
    version = (node.library.version if node.library else None) or nccl
    return replace(node, choice=bootstrap(node.interfaces, winning(node.settings), version))
