"""What the rows of a log can be narrowed down to: choices taken from the job itself. Pure.

A line belongs to a rank by NCCL's prefix or the launcher's (``logs.records``), else by its source where that has one
rank alone. Of a stage are the lines of the ranks that came no further.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ncclcheck.logs.records import records
from ncclcheck.model import Diagnosis, Rank, Stage, Where
from ncclcheck.tui.text.scan import SieveFor
from ncclcheck.tui.text.sieve import EVERY, Search, Sieve, gated

_MOST_GATED = 50
"""Ranks up to which it pays to look for their numbers first."""
_LEVELS = {
    "WARN": r"NCCL WARN(?: |$)|(?<=:\d\d\d )WARN ",
    "INFO": r"NCCL INFO(?: |$)|(?<=\] )INFO ",
}
"""How NCCL's lines begin, the second way up to 2.2 (``logs.records``)."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Some lines of a log."""

    label: str
    sieve_for: SieveFor
    about: str = ""
    """What the label stands for."""
    places: frozenset[Where] | None = None
    """The lines themselves, where they are known."""

    @property
    def words(self) -> str:
        """The whole of it."""
        return f"{self.label}: {self.about}" if self.about else self.label


def choices(diagnosis: Diagnosis | None) -> Iterator[Filter]:
    """Everything that the log can be narrowed down to, besides a text that is typed."""
    yield from (Filter(f"level {level}", _level(pattern)) for level, pattern in _LEVELS.items())
    yield Filter("no level", _level(None), "what NCCL did not print")
    if diagnosis is None:
        return
    for finding in diagnosis.findings:
        yield Filter(f"evidence of {finding.rule}", _lines_at, finding.title, frozenset(finding.evidence))
    every = diagnosis.job.ranks
    for stage in sorted({rank.stage for rank in every}):
        yield Filter(f"stage {stage.name.lower()}", _ranks(every, _at_stage(stage)), "ranks that came no further")
    for host in sorted({rank.host for rank in every if rank.host}):
        yield Filter(f"host {host}", _ranks(every, _on(host)))
    for number in sorted({rank.number for rank in every if rank.number is not None}):
        yield Filter(f"rank {number}", _ranks(every, _numbered(number)))


def matching(words: str, every: Iterable[Filter]) -> list[Filter]:
    """The choices in which all of these words stand, a number as a whole one; those that begin so come first."""
    wanted = [_word(word) for word in words.split()]
    found = [one for one in every if all(word.search(one.words) for word in wanted)]
    return sorted(found, key=lambda one: not one.label.lower().startswith(words.lower()))


def _word(word: str) -> re.Pattern[str]:
    return re.compile(re.escape(word) + (r"(?!\d)" if word[-1:].isdecimal() else ""), re.IGNORECASE)


def text(sought: Search) -> Filter:
    """Lines with a text in them."""
    return Filter(f"with “{sought.text}”", sought.sieve_for)


# Ranks ---------------------------------------------------------------------------------------------------------------

Wanted = Callable[[Rank], bool]


def _at_stage(stage: Stage) -> Wanted:
    return lambda rank: rank.stage is stage


def _on(host: str) -> Wanted:
    return lambda rank: rank.host == host


def _numbered(number: int) -> Wanted:
    return lambda rank: rank.number == number


def _ranks(every: Sequence[Rank], wanted: Wanted) -> SieveFor:
    def sieve_for(source: str) -> Sieve | None:
        there = [rank for rank in every if rank.process.source == source]
        meant = [rank for rank in there if wanted(rank)]
        if len(meant) == len(there):
            return EVERY if meant else None
        return _of_ranks(meant, source) if meant else None

    return sieve_for


def _of_ranks(ranks: Sequence[Rank], source: str) -> Sieve:
    """Lines of these ranks among those of others."""
    import regex

    processes = {(rank.process.host, rank.process.pid) for rank in ranks}
    numbers = {rank.number for rank in ranks if rank.number is not None}
    place = Where(source, 0)

    def accepts(line: str) -> bool:
        found = [
            (record.process.host, record.process.pid) in processes
            if record.process.pid is not None
            else record.rank in numbers
            for record in records(place, line)
        ]
        return any(found)

    if len(ranks) > _MOST_GATED:
        return Sieve(EVERY.find, accepts)
    return gated(regex.compile("|".join(_signs(ranks)), regex.MULTILINE), accepts)


def _signs(ranks: Sequence[Rank]) -> Iterator[str]:
    """What a line of these ranks has in it, whatever its wrapper."""
    for rank in ranks:
        if rank.process.pid is not None:
            yield f":{rank.process.pid}[: ]"
        if rank.number is not None:
            yield f"(?:rank=?|,|^[^\\S\\n]*){rank.number}(?![0-9])"


# Levels and lines ----------------------------------------------------------------------------------------------------


def _level(pattern: str | None) -> SieveFor:
    def sieve_for(source: str) -> Sieve:
        import regex

        if pattern is not None:
            return gated(regex.compile(pattern, regex.MULTILINE))
        ours = re.compile("|".join(_LEVELS.values()) + r"|NCCL [A-Z]{4,7} ")
        return Sieve(EVERY.find, lambda line: ours.search(line) is None)

    return sieve_for


def _lines_at(source: str) -> None:
    """Their places are known."""
