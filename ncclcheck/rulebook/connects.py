"""The subject ``connect``: a call that nobody answered, with what is known of caller and called. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from ncclcheck.model import Attempt, Endpoint, Job, Rank, Stage, Where
from ncclcheck.rulebook.networks import POOR, Place, Places, address_look, in_pool, same_network
from ncclcheck.rulebook.subject import Subject, Value, host_of, known, ranks_of

_FEW = 5
"""Refusals up to here are what ranks see that start a little earlier; up to 2.23 a line stands for a thousand tries."""

_MOST_LINES = 12
"""Lines of announcement kept for a call, as many as a finding shows: a bridge's address may be on all hosts."""
_PEER = "the peer"
_ANNOUNCING = ("bootstrap.interface", "socket.interface", "net.interface")


_Spot = tuple[str, str]
"""A host and an address."""


def connect_subjects(job: Job, places: Places, common: dict[str, Value]) -> tuple[Subject, ...]:
    """Every connection that did not come about and was not got over."""
    failed = [attempt for attempt in job.attempts if not attempt.recovered]
    if not failed:
        return ()
    announced = _Announced(job, places)
    calls = (_Call(announced.ranks[attempt.process], attempt, places, announced) for attempt in failed)
    return tuple(_subject(call, common) for call in calls)


class _Announced:
    """Who announced which bootstrap address, in which lines, and came how far: worked out once."""

    def __init__(self, job: Job, places: Places) -> None:
        self.ranks = {rank.process: rank for rank in job.ranks}
        self.by_source: dict[str, Endpoint] = {}
        self.stages: dict[_Spot, Stage] = {}
        self._roots: defaultdict[_Spot, list[Rank]] = defaultdict(list)
        self._lines: list[tuple[_Spot, Where]] = []
        self._lines_of: defaultdict[_Spot, list[int]] = defaultdict(list)
        for rank in job.ranks:
            self._take(rank)
        self._places = [p for p in places if "bootstrap" in p.roles and (p.host, p.address) in self.stages]
        self._suspects = {place for place in self._places if _unreachable(place, places)}
        events = ((host_of(rank), event) for rank in job.ranks for event in rank.events if event.kind in _ANNOUNCING)
        for number, (host, event) in enumerate(events):
            self._lines.append(((host, event.get("address")), event.where))
            self._lines_of[self._lines[-1][0]].append(number)

    def _take(self, rank: Rank) -> None:
        if rank.bootstrap is None:
            return
        spot = (host_of(rank), rank.bootstrap.address)
        self.by_source.setdefault(rank.process.source, rank.bootstrap)
        self.stages[spot] = max(rank.stage, self.stages.get(spot, rank.stage))
        if 0 in rank.numbers or rank.root:
            self._roots[spot].append(rank)

    def suspects(self, announced: Sequence[Place]) -> tuple[Place, ...]:
        """Those among several that can't be reached by the look of it, if any."""
        return tuple(place for place in announced if place in self._suspects) or tuple(announced)

    def roots(self, caller: Rank) -> list[Place]:
        """The addresses of the processes, other than the caller, that may be the root."""
        places = (place for place in self._places if (place.host, place.address) in self._roots)
        return [p for p in places if any(r.process != caller.process for r in self._roots[p.host, p.address])]

    def elsewhere(self, host: str) -> list[Place]:
        """The addresses of all other hosts."""
        return [place for place in self._places if place.host != host]

    def lines(self, places: Iterable[Place]) -> tuple[Where, ...]:
        """The first lines in which these addresses were announced."""
        spots = {(place.host, place.address) for place in places}
        if len(spots) > _MOST_LINES:
            found = (where for spot, where in self._lines if spot in spots)
        else:
            numbers = sorted(chain.from_iterable(self._lines_of.get(spot, ()) for spot in spots))
            found = (self._lines[number][1] for number in numbers)
        return tuple(islice(_distinct(found), _MOST_LINES))


def _distinct(places: Iterable[Where]) -> Iterator[Where]:
    seen: set[Where] = set()
    for place in places:
        if place not in seen:
            seen.add(place)
            yield place


@dataclass(frozen=True, slots=True)
class _Call:
    """One attempt with all that may tell who called whom."""

    rank: Rank
    attempt: Attempt
    places: Places
    announced: _Announced

    @property
    def host(self) -> str:
        return host_of(self.rank)


def _subject(call: _Call, common: dict[str, Value]) -> Subject:
    caller, called = _caller(call), _called(call)
    values = {
        **common,
        **_attempt_values(call),
        **_caller_values(caller, call.places),
        **_data_values(call),
        **_called_values(call, caller, called),
    }
    if caller and not call.attempt.address:
        values["used_interface"] = caller.interface
    evidence = call.attempt.evidence + call.announced.lines((*called, caller) if caller else called)
    return Subject("connect", values, evidence, ranks_of(call.rank))


def _attempt_values(call: _Call) -> dict[str, Value]:
    rank, attempt = call.rank, call.attempt
    return known(
        host=call.host,
        source=rank.process.source,
        rank=rank.number,
        nccl=rank.nccl,
        stage=rank.stage.name.lower(),
        result=attempt.result,
        count=attempt.count,
        port=attempt.port,
        limit=attempt.limit,
        link=attempt.link,
        gave_up=attempt.gave_up,
        persistent=attempt.gave_up or attempt.count >= (_FEW if attempt.limit else 2),
        printed=bool(attempt.address),
        got_over_bootstrap=rank.stage >= Stage.RING,
    )


def _caller(call: _Call) -> Place | None:
    """The caller's bootstrap interface; in a log of one node that of any process will do."""
    rank = call.rank
    silent = rank.stage == Stage.SILENT
    endpoint = rank.bootstrap or (call.announced.by_source.get(rank.process.source) if silent else None)
    return call.places.with_endpoint(endpoint.interface, endpoint.address) if endpoint else None


def _called(call: _Call) -> tuple[Place, ...]:
    """Who has the called address; where it is not printed (2.16 to 2.26), who must have been called."""
    if call.attempt.address:
        return tuple(call.places.at(call.attempt.address))
    if call.attempt.link in ("store", "gloo", "data"):
        return ()
    root = call.attempt.link == "root"
    return call.announced.suspects(call.announced.roots(call.rank) if root else call.announced.elsewhere(call.host))


def _unreachable(place: Place, places: Places) -> bool:
    return place.look in POOR or places.has_twin(place) or places.shared_by(place) is False


def _caller_values(caller: Place | None, places: Places) -> dict[str, Value]:
    """The caller's own interface, each attribute with ``own_`` before its name."""
    values = {**places.values(caller), "pool": in_pool(caller.address)} if caller else {}
    return {f"own_{name}": value for name, value in values.items()}


def _data_values(call: _Call) -> dict[str, Value]:
    """The worst interface that the channels were given, by their device numbers (``via NET/Socket/1``)."""
    doubtful = _doubtful_interface(call) if call.attempt.link == "data" else None
    if doubtful is None:
        return {}
    peer = call.places.peer_of(doubtful)
    return known(
        data_interface=doubtful.interface,
        data_address=doubtful.address,
        data_look=doubtful.look,
        data_peer=peer.address if peer else None,
    )


def _doubtful_interface(call: _Call) -> Place | None:
    channels = (event for event in call.rank.events if event.kind == "channel" and event.get("path") == "NET/Socket")
    numbers = {event.get("device") for event in channels}
    used = {end.interface for number, end in enumerate(call.rank.sockets) if str(number) in numbers}
    mine = [place for place in call.places.of_host(call.host) if place.interface in used]
    # The bootstrap's interface has just worked, so the other one is the first to suspect.
    second = [place for place in mine if "bootstrap" not in place.roles]
    poor = [place for place in mine if place.look in POOR]
    return next(iter((*poor, *second, *mine)), None)


def _called_values(call: _Call, caller: Place | None, called: tuple[Place, ...]) -> dict[str, Value]:
    addresses = [] if call.attempt.address else sorted({place.address for place in called})
    if len(addresses) > 1:
        return {"candidates": ", ".join(addresses), **call.places.better_values(caller)}
    owner = next((place for place in called if place.host != call.host), next(iter(called), None))
    target = owner or Place("", "", call.attempt.address)
    return {
        **_address_values(call, caller, target),
        **(_owner_values(call, owner) if owner else {}),
        **call.places.better_values(owner or caller),
    }


def _address_values(call: _Call, caller: Place | None, target: Place) -> dict[str, Value]:
    if not target.address:
        return {}
    mine = call.places.of_host(call.host)
    return known(
        address=target.address,
        announcer=target.host or _PEER,
        look=target.look if target.host else address_look(target.address),
        pool=in_pool(target.address),
        near=any(same_network(place, target) for place in mine) if mine else None,
        near_caller=same_network(caller, target) if caller else None,
    )


def _owner_values(call: _Call, owner: Place) -> dict[str, Value]:
    """Who has the called address, and how far that rank came."""
    stage = call.announced.stages.get((owner.host, owner.address))
    return known(
        owner=owner.host,
        owner_interface=owner.interface,
        owner_role=" and ".join(sorted(owner.roles)),
        owner_stage=None if stage is None else stage.name.lower(),
        **call.places.twin_values(owner),
    )
