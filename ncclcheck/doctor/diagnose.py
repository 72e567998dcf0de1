"""The use case "what is wrong?": log text in, diagnosis out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache, partial

from ncclcheck.logs.attempts import ConnectLines
from ncclcheck.logs.catalogue import Catalogue
from ncclcheck.logs.job import read_job
from ncclcheck.logs.sources import Source, open_sources, pasted
from ncclcheck.model import Diagnosis, Facts, Job, Probe, Unknown, Verdict
from ncclcheck.node.selection import bootstrap
from ncclcheck.rulebook.diagnose import findings
from ncclcheck.rulebook.launchers import in_launchers_words
from ncclcheck.rulebook.load import BETWEEN, Rulebook, load, load_connects, load_messages
from ncclcheck.rulebook.verdict import unknowns, verdict

_CURRENT = "2.29.7"
"""For a pasted interface list without a word about the version: the NCCL of torch 2.12 and 2.13."""

_REACHABLE = Unknown("do the nodes reach each other over what NCCL took?", "the speed test between them")

Clock = Callable[[], float]


@lru_cache(maxsize=1)
def rulebook() -> Rulebook:
    """The built-in rules and the user's, loaded once."""
    return load()


@lru_cache(maxsize=1)
def _of_logs() -> Rulebook:
    """The same without those that no log alone can meet."""
    return load(but=BETWEEN)


@lru_cache(maxsize=1)
def _connects() -> tuple[ConnectLines, ...]:
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
    began, book = now(), book or _of_logs()
    reading = read_job(sources, book.shapes, _connects(), book.launchers, facts)
    job = _with_choices(reading.job)
    found = findings(job, book.rules)
    if launcher := next((launcher for launcher in book.launchers if launcher.name == job.launcher), None):
        found = tuple(in_launchers_words(finding, launcher) for finding in found)
    answer = verdict(job, found)
    return Diagnosis(
        answer, found, unknowns(job, answer, reading.lines, _messages), job, reading.lines, reading.bytes, now() - began
    )


def _with_choices(job: Job) -> Job:
    """The job with what NCCL would take, without any setting, on the nodes that were pasted."""
    if not any(node.places for node in job.nodes):
        return job
    nccl = next((rank.nccl for rank in job.ranks if rank.nccl), _CURRENT)
    choose = partial(bootstrap, values={}, nccl=nccl)
    nodes = (replace(node, choice=choose(node.interfaces)) if node.places else node for node in job.nodes)
    return replace(job, nodes=tuple(nodes))
