"""What rules can speak about: the job seen as subjects with attributes.

A rule names a kind of subject and conditions on its attributes; relations between ranks and hosts (one address on two
hosts, refused by whom, differs from the others) are attributes that are worked out here and listed in
``rules/README.md``. An attribute that is not known is absent, and a condition on it is not met.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from ncclcheck.logs.versions import version_of
from ncclcheck.model import Endpoint, Event, Job, Rank, Stage, Where
from ncclcheck.rulebook.connects import connect_subjects
from ncclcheck.rulebook.echoes import Echoes
from ncclcheck.rulebook.launch import launch_values
from ncclcheck.rulebook.networks import Places, places_of
from ncclcheck.rulebook.nodes import conf_subjects, node_subjects
from ncclcheck.rulebook.recovery import came_up, in_ras
from ncclcheck.rulebook.subject import Subject, Value, host_of, known, ranks_of
from ncclcheck.rulebook.values import setting_marks

__all__ = ["subjects"]

_IPOIB = re.compile("ib[0-9]")


def subjects(job: Job) -> dict[str, tuple[Subject, ...]]:
    """All subjects of the job by kind."""
    places = places_of(job)
    common = _common(job)
    return {
        "job": (_job(job, common),),
        "rank": tuple(_rank(rank, common) for rank in job.ranks),
        "event": tuple(_events(job, places, common)),
        "interface": tuple(_interfaces(job, places, common)),
        "connect": connect_subjects(job, places, common),
        "setting": tuple(_settings(job, common)),
        "node": tuple(node_subjects(job, places)),
        "conf": tuple(conf_subjects(job)),
        **_between(job),
    }


def _between(job: Job) -> dict[str, tuple[Subject, ...]]:
    """What lies between nodes; loaded only where nodes were compared."""
    if job.sides is None:
        return dict.fromkeys(("pair", "path", "node-setting", "name"), ())
    from ncclcheck.rulebook.sides import side_subjects

    return side_subjects(job, job.sides)


def _common(job: Job) -> dict[str, Value]:
    """Attributes that every subject has."""
    hosts = sorted({host_of(rank) for rank in job.ranks if rank.host} | {node.host for node in job.nodes})
    values: dict[str, Value] = {"hosts": len(hosts), "host_names": ", ".join(hosts)}
    several = _several_hosts(job, len(hosts))
    if several is not None:
        values["several_hosts"] = several
    if job.world_size is not None:
        values["world_size"] = job.world_size
    values["came_up"] = came_up(job)
    values["job_failing"] = any(not attempt.recovered for attempt in job.attempts)
    return values


def _several_hosts(job: Job, hosts: int) -> bool | None:
    nodes = [event.number("nodes") for rank in job.ranks for event in rank.events if event.number("nodes")]
    if hosts > 1 or any(number is not None and number > 1 for number in nodes):
        return True
    if nodes or (job.world_size is not None and len(_numbers(job)) >= job.world_size):
        return False
    return None


def _numbers(job: Job) -> set[int]:
    return {number for rank in job.ranks for number in rank.numbers}


@dataclass(frozen=True, slots=True)
class _Of:
    """A rank's own attributes."""

    rank: Rank

    def values(self, common: dict[str, Value]) -> dict[str, Value]:
        rank = self.rank
        return {
            **common,
            **known(
                host=host_of(rank),
                source=rank.process.source,
                rank=rank.number,
                nccl=rank.nccl,
                stage=rank.stage.name.lower(),
                stage_number=int(rank.stage),
                complete=rank.stage >= Stage.COMPLETE,
                network=rank.network,
                device=rank.device,
                socket_ifname=dict(rank.settings).get("NCCL_SOCKET_IFNAME"),
                interface=rank.bootstrap.interface if rank.bootstrap else None,
                address=rank.bootstrap.address if rank.bootstrap else None,
            ),
        }


def _rank(rank: Rank, common: dict[str, Value]) -> Subject:
    kinds = Counter(event.kind for event in rank.events)
    values = _Of(rank).values(common)
    values["last_kind"] = rank.events[-1].kind if rank.events else ""
    values["kinds"] = tuple(sorted(kinds))
    return Subject("rank", values, (rank.last,), ranks_of(rank))


def _events(job: Job, places: Places, common: dict[str, Value]) -> Iterator[Subject]:
    addresses, echoes = _addresses(job), Echoes(job, places)
    for rank in job.ranks:
        of_rank = {**_Of(rank).values(common), "addresses_of_host": len(addresses[host_of(rank)])}
        echoes_of_rank = echoes.of(rank)
        for event in rank.events:
            numbers = (event.rank,) if event.rank is not None else ranks_of(rank)
            values = {**of_rank, **echoes_of_rank.values(event), **in_ras(rank, event)}
            yield Subject("event", _event(event, values), (event.where,), numbers)


def _event(event: Event, values: dict[str, Value]) -> dict[str, Value]:
    values.update({"kind": event.kind, **{f"event.{name}": value for name, value in event.fields if value}})
    values.update({name: value for name, value in event.fields if value and name not in values})
    joined, expected = event.number("joined"), event.number("expected") or event.number("world_size")
    if joined and expected:
        values["surplus"] = joined > expected
    return values


def _addresses(job: Job) -> defaultdict[str, set[str]]:
    """The bootstrap addresses by host name: two may be two machines with one name."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for rank in job.ranks:
        if rank.bootstrap:
            found[host_of(rank)].add(rank.bootstrap.address)
    return found


def _job(job: Job, common: dict[str, Value]) -> Subject:
    numbers = _numbers(job)
    missing = sorted(set(range(job.world_size)) - numbers) if job.world_size is not None else []
    stages = {rank.stage.name.lower() for rank in job.ranks if rank.numbers}
    versions = sorted({rank.nccl for rank in job.ranks if rank.nccl and version_of(rank.nccl)})
    values = {
        **common,
        "ranks_seen": len(numbers),
        "ranks_missing": len(missing),
        "missing": ", ".join(map(str, missing[:8])) + (" …" if len(missing) > 8 else ""),
        "versions": len(versions),
        "version_names": " and ".join(versions),
        "complete": bool(job.ranks) and all(rank.stage >= Stage.COMPLETE for rank in job.ranks),
        "families": len({":" in rank.bootstrap.address for rank in job.ranks if rank.bootstrap}),
        "all_stages": stages.pop() if len(stages) == 1 else "",
        **launch_values(job),
    }
    evidence = tuple(event.where for rank in job.ranks for event in rank.events if event.kind == "version")[:4]
    return Subject("job", values, evidence or _first_places(job), tuple(sorted(numbers)))


def _first_places(job: Job) -> tuple[Where, ...]:
    return tuple(rank.events[0].where for rank in job.ranks if rank.events)[:4]


def _interfaces(job: Job, places: Places, common: dict[str, Value]) -> Iterator[Subject]:
    called = {attempt.address for attempt in job.attempts if not attempt.recovered and attempt.address}
    for rank in job.ranks:
        of_rank = {**_Of(rank).values(common), "announcer": host_of(rank), "listed": len(rank.sockets)}
        of_rank["via_sockets"] = any(event.get("path") == "NET/Socket" for event in rank.events)
        for role, endpoint in _endpoints(rank):
            place = places.named(host_of(rank), endpoint.interface, endpoint.address)
            values = {**of_rank, **places.values(place)}
            values.update({"role": role, "called_in_vain": endpoint.address in called})
            values["ipoib"] = _IPOIB.match(endpoint.interface) is not None
            yield Subject("interface", values, _announced(rank, endpoint), ranks_of(rank))


def _endpoints(rank: Rank) -> Iterator[tuple[str, Endpoint]]:
    if rank.bootstrap:
        yield "bootstrap", rank.bootstrap
    for endpoint in rank.sockets:
        yield "data", endpoint


def _announced(rank: Rank, endpoint: Endpoint) -> tuple[Where, ...]:
    kinds = ("bootstrap.interface", "socket.interface", "net.interface")
    places = (event.where for event in rank.events if event.kind in kinds and event.get("address") == endpoint.address)
    return tuple(dict.fromkeys(places))


def _settings(job: Job, common: dict[str, Value]) -> Iterator[Subject]:
    across = _across_hosts(job)
    for rank in job.ranks:
        for name, value in rank.settings:
            values = _Of(rank).values(common)
            values.update(known(name=name, value=value, **setting_marks(name, value)))
            values.update(across[name])
            if name == "NCCL_SOCKET_IFNAME" and rank.bootstrap:
                values.update(_prefix_marks(value, rank))
            yield Subject("setting", values, _echoed(rank, name), ranks_of(rank))


def _across_hosts(job: Job) -> dict[str, dict[str, Value]]:
    """lacking, lacking_hosts, differs by the setting's name."""
    hosts = {host_of(rank) for rank in job.ranks if rank.bootstrap or rank.settings}
    by_name: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for rank in job.ranks:
        for name, value in rank.settings:
            by_name[name][host_of(rank)] = value
    lacking = {name: sorted(hosts - set(found)) for name, found in by_name.items()}
    return {
        name: {
            "lacking": ", ".join(lacking[name]),
            "lacking_hosts": len(lacking[name]),
            "differs": len(set(found.values())) > 1,
        }
        for name, found in by_name.items()
    }


def _prefix_marks(value: str, rank: Rank) -> dict[str, Value]:
    """Whether a name, being a prefix, took another interface than the one called so."""
    names = {name.partition(":")[0] for name in value.split(",")}
    present = {endpoint.interface for _, endpoint in _endpoints(rank)}
    chosen = rank.bootstrap.interface if rank.bootstrap else ""
    return {
        "prefix_took_other": not value.startswith(("=", "^"))
        and chosen not in names
        and any(name and chosen.startswith(name) for name in names),
        "prefix_exact_exists": bool(names & present),
    }


def _echoed(rank: Rank, name: str) -> tuple[Where, ...]:
    return tuple(event.where for event in rank.events if event.kind == "setting" and event.get("name") == name)[:2]
