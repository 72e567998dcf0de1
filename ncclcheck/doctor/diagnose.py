"""The use case "what is wrong?": log text in, diagnosis out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from ncclcheck.logs.attempts import ConnectLines
from ncclcheck.logs.job import read_job
from ncclcheck.logs.sources import Source, open_sources, pasted
from ncclcheck.model import Diagnosis, Facts, Probe
from ncclcheck.rulebook.diagnose import findings
from ncclcheck.rulebook.load import Rulebook, load, load_connects
from ncclcheck.rulebook.verdict import unknowns, verdict

Clock = Callable[[], float]


@lru_cache(maxsize=1)
def rulebook() -> Rulebook:
    """The built-in rules and the user's, loaded once."""
    return load()


@lru_cache(maxsize=1)
def _connects() -> tuple[ConnectLines, ...]:
    return load_connects()


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
    return diagnose_sources([pasted("\n".join(probe.log), probe.host) for probe in probes], facts=facts)


def diagnose_sources(
    sources: Iterable[Source],
    *,
    facts: tuple[Facts, ...] = (),
    book: Rulebook | None = None,
    now: Clock = time.perf_counter,
) -> Diagnosis:
    """The whole line: sources → job → findings → verdict."""
    began, book = now(), book or rulebook()
    reading = read_job(sources, book.shapes, _connects(), facts)
    found = findings(reading.job, book.rules)
    answer = verdict(reading.job, found)
    unsettled = unknowns(reading.job, answer)
    return Diagnosis(answer, found, unsettled, reading.job, reading.lines, reading.bytes, now() - began)
