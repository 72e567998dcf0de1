"""Folds the events of all logs into the job's story: one owner, ``job()`` gives a frozen snapshot.

Owns the question who printed a line. NCCL's prefix says it; text without one belongs to the launcher's rank, else to
the process that the same log was about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ncclcheck.logs.attempts import ConnectLines
from ncclcheck.logs.story import Story
from ncclcheck.model import Event, Job, Rank

if TYPE_CHECKING:
    from ncclcheck.model import Facts

_Key = tuple[str, str, int]


class Timeline:
    """All processes of the job."""

    def __init__(self, connects: Sequence[ConnectLines] = ()) -> None:
        self._connects = tuple(connects)
        self._stories: dict[_Key, Story] = {}
        self._alias: dict[_Key, _Key] = {}
        self._latest: dict[str, _Key] = {}
        self._by_rank: dict[int, _Key] = {}
        self._by_pid: dict[tuple[str, int], list[_Key]] = {}

    def take(self, event: Event) -> None:
        """Fold one event into its process's story."""
        key = self._key(event)
        story = self._stories.get(key)
        if story is None:
            story = self._stories[key] = Story(event.process, event)
            if event.process.pid is not None:
                self._by_pid.setdefault((event.process.source, event.process.pid), []).append(key)
        if event.process.pid is not None:
            self._latest[event.process.source] = key
        if event.rank is not None:
            self._by_rank.setdefault(event.rank, key)
        story.take(event)

    def job(self, nodes: tuple[Facts, ...] = ()) -> Job:
        """What has been told so far."""
        version = self._common_version()
        ranks = self._placed([story.rank(version) for story in self._stories.values()])
        attempts = tuple(
            attempt for story in self._stories.values() for attempt in story.attempts(version, self._connects)
        )
        return Job(ranks=ranks, attempts=attempts, world_size=_world_size(ranks), nodes=nodes)

    def _placed(self, ranks: Sequence[Rank]) -> tuple[Rank, ...]:
        """Lines without a host's name are of the host that the rest of their log is of, if it is one."""
        hosts: dict[str, set[str]] = {}
        for rank in ranks:
            if rank.host:
                hosts.setdefault(rank.process.source, set()).add(rank.host)
        only = {source: next(iter(names)) for source, names in hosts.items() if len(names) == 1}
        return tuple(rank if rank.host else replace(rank, host=only.get(rank.process.source)) for rank in ranks)

    def _common_version(self) -> str | None:
        """Up to 2.21 only rank 0 prints the version: it stands for all where there is just one."""
        versions = {story.nccl for story in self._stories.values() if story.nccl}
        return versions.pop() if len(versions) == 1 else None

    def _key(self, event: Event) -> _Key:
        process = event.process
        if process.pid is not None:
            key = ("pid", process.host or process.source, process.pid)
            return self._known(key, event) if key not in self._stories else key
        if event.rank is not None:
            return self._by_rank.get(event.rank, ("rank", "", event.rank))
        return self._latest.get(process.source, ("source", process.host or process.source, 0))

    def _known(self, key: _Key, event: Event) -> _Key:
        """A process under a second name: people replace host names by hand, and not everywhere."""
        if key not in self._alias:
            same = self._by_pid.get((event.process.source, key[2]), [])
            begins = Story(event.process, event).from_start
            self._alias[key] = same[0] if len(same) == 1 and not begins else key
        return self._alias[key]


def _world_size(ranks: Sequence[Rank]) -> int | None:
    return max((rank.world_size for rank in ranks if rank.world_size is not None), default=None)
