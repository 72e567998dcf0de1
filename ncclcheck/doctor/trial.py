"""The use case "what do the rules make of this log?": hits by event and rule, and what nothing knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ncclcheck.doctor.diagnose import diagnose_sources
from ncclcheck.logs.events import skeleton
from ncclcheck.logs.records import records
from ncclcheck.logs.sources import Source, read
from ncclcheck.model import Diagnosis, Where
from ncclcheck.rulebook.load import Rulebook, load_messages

_MOST_UNKNOWN = 10_000
"""Different lines that are kept."""


@dataclass(frozen=True, slots=True)
class Hits:
    """How often something was seen, and where first."""

    name: str
    count: int
    first: Where


@dataclass(frozen=True, slots=True)
class Trial:
    """What the rules make of some logs."""

    events: tuple[Hits, ...]
    """By kind, the most frequent first."""
    diagnosis: Diagnosis
    strangers: tuple[Hits, ...]
    """NCCL's lines that no shape knows, alike but for numbers; warnings first, then the most frequent."""


def try_rules(sources: Sequence[Source], book: Rulebook) -> Trial:
    """The logs read twice: for the diagnosis, and for the lines that went unnoticed."""
    kinds, strangers = _tally(sources, book)
    return Trial(kinds.hits(), diagnose_sources(sources, book=book), strangers.hits())


class _Counts:
    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._names: dict[str, tuple[str, Where]] = {}

    def take(self, key: str, name: str, where: Where) -> None:
        if key in self._names or len(self._names) < _MOST_UNKNOWN:
            self._names.setdefault(key, (name, where))
            self._counts[key] += 1

    def hits(self) -> tuple[Hits, ...]:
        """Warnings first, then the most frequent."""
        found = [Hits(self._names[key][0], count, self._names[key][1]) for key, count in self._counts.most_common()]
        return tuple(sorted(found, key=lambda hit: not hit.name.startswith("WARN ")))


def _tally(sources: Sequence[Source], book: Rulebook) -> tuple[_Counts, _Counts]:
    kinds, strangers, message = _Counts(), _Counts(), _Messages()
    for source in sources:
        for where, text in read(source):
            candidates = book.shapes.candidates(text)
            for record in records(where, text) if candidates or "NCCL" in text else ():
                known = [event.kind for event in book.shapes.events(record, candidates)]
                for kind in known:
                    kinds.take(kind, kind, where)
                if known or not record.level or not record.text.strip():
                    continue
                if category := message.category(record.text):
                    kinds.take(f"message.{category}", f"message.{category}", where)
                else:
                    strangers.take(f"{record.level} {skeleton(record.text)}", f"{record.level} {record.text}", where)
    return kinds, strangers


class _Messages:
    """NCCL's own messages, asked once for lines that are alike but for numbers."""

    def __init__(self) -> None:
        self._catalogue = load_messages()
        self._seen: dict[str, str] = {}

    def category(self, text: str) -> str:
        """What the message is about; empty for a line that NCCL is not known to print."""
        key = skeleton(text)
        if key not in self._seen and len(self._seen) < _MOST_UNKNOWN:
            found = self._catalogue.find(text)
            self._seen[key] = found.category if found else ""
        return self._seen.get(key, "")
