"""How the job was put together: sizes, ranks that occur twice, operations that do not fit. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ncclcheck.logs.versions import Version, version_of
from ncclcheck.model import Event, Job, Where
from ncclcheck.rulebook.subject import Value, host_of, known

_ANY: tuple[Version, Version] = ((2, 0), (2, 99, 99))


def launch_values(job: Job) -> dict[str, Value]:
    """Attributes of the subject ``job`` that tell of its launch."""
    watchdog = _first_by_number(job, "watchdog.timeout")
    return known(
        version_conflict=_version_conflict(job),
        sizes=_sizes_of_one_communicator(job),
        ranks_twice=_ranks_twice(job),
        headers=_headers_before_result(job),
        watchdog_ranks=len(watchdog),
        watchdog_sequences=len({event.get("sequence") for event in watchdog.values()}),
        watchdog_operations=len({(event.get("operation"), event.get("elements")) for event in watchdog.values()}),
        watchdog_sequence=", ".join(sorted({event.get("sequence") for event in watchdog.values()})),
        watchdog_operation=", ".join(sorted({event.get("operation") for event in watchdog.values()} - {""})),
        watchdog_numbers=", ".join(map(str, sorted(watchdog))),
    )


def _version_conflict(job: Job) -> str | None:
    """Hosts whose lines can't come from one version, where a version line alone does not show it."""
    ranges: dict[str, tuple[Version, Version]] = {}
    for rank in job.ranks:
        for event in rank.events:
            if found := _range(event):
                known_range = ranges.get(host_of(rank), _ANY)
                ranges[host_of(rank)] = (max(known_range[0], found[0]), min(known_range[1], found[1]))
    newest = max((first for first, _ in ranges.values()), default=_ANY[0])
    oldest = min((last for _, last in ranges.values()), default=_ANY[1])
    for host, (first, last) in ranges.items():
        if newest <= last and first <= oldest:
            continue  # It fits all others; without this, thousands of hosts would each be held against each.
        for other, (other_first, other_last) in ranges.items():
            if other > host and (last < other_first or other_last < first):
                return f"{_shown(first, last)} on {host}, {_shown(other_first, other_last)} on {other}"
    return None


def _range(event: Event) -> tuple[Version, Version] | None:
    if event.kind == "version":
        version = version_of(event.get("version"))
        return (version, version) if version else None
    if event.get("style") == "2.2":
        return (2, 0), (2, 2, 99)
    if event.kind != "wording":
        return ((2, 3), _ANY[1]) if event.get("level") else None  # "NCCL" stands before the level from 2.3 on.
    first, last = version_of(event.get("first")), version_of(event.get("last"))
    return (first, (*last, 99)) if first and last else None


def _shown(first: Version, last: Version) -> str:
    names = [".".join(map(str, version[:2] if 99 in version else version)) for version in (first, last)]
    return names[0] if first == last else f"{names[0]} to {names[1]}"


def _events(job: Job, kind: str) -> Iterator[Event]:
    return (event for rank in job.ranks for event in rank.events if event.kind == kind)


def _first_by_number(job: Job, kind: str) -> dict[int, Event]:
    first: dict[int, Event] = {}
    for event in _events(job, kind):
        first.setdefault(event.number("number") or 0, event)
    return first


def _sizes_of_one_communicator(job: Job) -> str | None:
    """Sizes that the ranks of one communicator give, where they differ."""
    sizes: defaultdict[str, set[int]] = defaultdict(set)
    for event in _events(job, "communicator"):
        if event.get("id") and (size := event.number("world_size")) is not None:
            sizes[event.get("id")].add(size)
    return next((" and ".join(map(str, sorted(found))) for found in sizes.values() if len(found) > 1), None)


def _ranks_twice(job: Job) -> int:
    """How many rank numbers two processes announce."""
    owners: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    result = _first_result(job)
    for event in _events(job, "rank.announced"):
        if result and event.where > result:
            continue  # A second run in the same log, after the first one's result.
        owners[event.get("number")].append((event.get("announced_host"), event.get("announced_pid")))
    return sum(len(set(found)) > 1 or (found[0] == ("", "") and len(found) > 1) for found in owners.values())


def _headers_before_result(job: Job) -> int:
    """Headers of nccl-tests before the first result: two say that two separate runs were started at once."""
    result = _first_result(job)
    headers = [event.where for event in _events(job, "tests.header")]
    same = [where for where in headers if where.source == headers[0].source and (result is None or where < result)]
    return len(same)


def _first_result(job: Job) -> Where | None:
    """Where the first run of nccl-tests ended, by its closing line."""
    return min((event.where for event in _events(job, "collective.finished")), default=None)
