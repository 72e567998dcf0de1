"""The subject ``connect``: a call that nobody answered, with what is known of caller and called. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from ncclcheck.model import Attempt, Job, Rank, Stage, Where
from ncclcheck.rulebook.networks import (
    POOR,
    Place,
    address_look,
    better_values,
    place_values,
    same_network,
    shared_by,
    twins,
)
from ncclcheck.rulebook.subject import Subject, Value, host_of, known, ranks_of

_FEW = 5
"""Refusals up to here are what ranks see that start a little earlier; up to 2.23 a line stands for a thousand tries."""

_ANNOUNCING = ("bootstrap.interface", "socket.interface", "net.interface")


def connect_subjects(job: Job, places: tuple[Place, ...], common: dict[str, Value]) -> tuple[Subject, ...]:
    """Every connection that did not come about and was not got over."""
    ranks = {rank.process: rank for rank in job.ranks}
    calls = (_Call(job, ranks[attempt.process], attempt, places) for attempt in job.attempts if not attempt.recovered)
    return tuple(_subject(call, common) for call in calls)


@dataclass(frozen=True, slots=True)
class _Call:
    """One attempt with all that may tell who called whom."""

    job: Job
    rank: Rank
    attempt: Attempt
    places: tuple[Place, ...]

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
    evidence = call.attempt.evidence + _announcements(call.job, (*called, caller) if caller else called)
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
    endpoint = rank.bootstrap or next((other.bootstrap for other in call.job.ranks if _same_log(other, rank)), None)
    if endpoint is None:
        return None
    wanted = (endpoint.interface, endpoint.address)
    return next((place for place in call.places if (place.interface, place.address) == wanted), None)


def _same_log(other: Rank, rank: Rank) -> bool:
    return other.bootstrap is not None and other.process.source == rank.process.source and rank.stage == Stage.SILENT


def _called(call: _Call) -> tuple[Place, ...]:
    """Who has the called address; where it is not printed (2.16 to 2.26), who must have been called."""
    ranks, places = call.job.ranks, call.places
    if call.attempt.address:
        return tuple(place for place in places if place.address == call.attempt.address)
    if call.attempt.link in ("store", "gloo", "data"):
        return ()
    root = [other for other in ranks if other.process != call.rank.process and (0 in other.numbers or other.root)]
    others = root if call.attempt.link == "root" else [other for other in ranks if host_of(other) != call.host]
    wanted = {(host_of(other), other.bootstrap.address) for other in others if other.bootstrap}
    announced = tuple(place for place in places if (place.host, place.address) in wanted and "bootstrap" in place.roles)
    return _suspects(announced, places) or announced


def _suspects(announced: tuple[Place, ...], places: tuple[Place, ...]) -> tuple[Place, ...]:
    """Those among several that can't be reached by the look of it."""
    return tuple(
        place for place in announced if place.look in POOR or twins(place, places) or shared_by(place, places) is False
    )


def _caller_values(caller: Place | None, places: tuple[Place, ...]) -> dict[str, Value]:
    """The caller's own interface, each attribute with ``own_`` before its name."""
    values = place_values(caller, places) if caller else {}
    return {f"own_{name}": value for name, value in values.items()}


def _data_values(call: _Call) -> dict[str, Value]:
    """The worst interface that the channels were given, by their device numbers (``via NET/Socket/1``)."""
    doubtful = _doubtful_interface(call) if call.attempt.link == "data" else None
    if doubtful is None:
        return {}
    peers = (place for place in call.places if place.host != doubtful.host and same_network(place, doubtful))
    return known(
        data_interface=doubtful.interface,
        data_address=doubtful.address,
        data_look=doubtful.look,
        data_peer=next((place.address for place in peers), None),
    )


def _doubtful_interface(call: _Call) -> Place | None:
    channels = (event for event in call.rank.events if event.kind == "channel" and event.get("path") == "NET/Socket")
    numbers = {event.get("device") for event in channels}
    used = {end.interface for number, end in enumerate(call.rank.sockets) if str(number) in numbers}
    mine = [place for place in call.places if place.host == call.host and place.interface in used]
    # The bootstrap's interface has just worked, so the other one is the first to suspect.
    second = [place for place in mine if "bootstrap" not in place.roles]
    poor = [place for place in mine if place.look in POOR]
    return next(iter((*poor, *second, *mine)), None)


def _called_values(call: _Call, caller: Place | None, called: tuple[Place, ...]) -> dict[str, Value]:
    addresses = sorted({place.address for place in called})
    if not call.attempt.address and len(addresses) > 1:
        return {"candidates": ", ".join(addresses), **better_values(caller, call.places)}
    owner = next(iter(sorted(called, key=lambda place: place.host == call.host)), None)
    target = owner or Place("", "", call.attempt.address)
    return {
        **_address_values(call, caller, target),
        **(_owner_values(call, owner) if owner else {}),
        **better_values(owner or caller, call.places),
    }


def _address_values(call: _Call, caller: Place | None, target: Place) -> dict[str, Value]:
    if not target.address:
        return {}
    mine = [place for place in call.places if place.host == call.host]
    return known(
        address=target.address,
        look=target.look if target.host else address_look(target.address),
        near=any(same_network(place, target) for place in mine) if mine else None,
        near_caller=same_network(caller, target) if caller else None,
    )


def _owner_values(call: _Call, owner: Place) -> dict[str, Value]:
    """Who has the called address, and how far that rank came."""
    same = twins(owner, call.places)
    stages = [rank.stage for rank in call.job.ranks if _announces(rank, owner)]
    return known(
        owner=owner.host,
        owner_interface=owner.interface,
        owner_role=" and ".join(sorted(owner.roles)),
        owner_stage=max(stages).name.lower() if stages else None,
        twin=bool(same),
        twin_hosts=" and ".join((owner.host, *same)) if same else None,
    )


def _announces(rank: Rank, place: Place) -> bool:
    return host_of(rank) == place.host and rank.bootstrap is not None and rank.bootstrap.address == place.address


def _announcements(job: Job, places: tuple[Place, ...]) -> tuple[Where, ...]:
    """The lines in which these addresses were announced."""
    wanted = {(place.host, place.address) for place in places}
    return tuple(
        event.where
        for rank in job.ranks
        for event in rank.events
        if event.kind in _ANNOUNCING and (host_of(rank), event.get("address")) in wanted
    )
