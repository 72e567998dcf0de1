"""The subject ``connect``: a call that nobody answered, with what is known of caller and called. Pure."""

from __future__ import annotations

from ncclcheck.model import Attempt, Job, Rank, Stage, Where
from ncclcheck.rulebook.networks import POOR, Place, address_look, better_than, same_network, shared_by, twins
from ncclcheck.rulebook.subject import Subject, Value, host_of, known, ranks_of


def connect_subjects(job: Job, places: tuple[Place, ...], common: dict[str, Value]) -> tuple[Subject, ...]:
    """Every connection that did not come about and was not got over."""
    found = []
    for attempt in job.attempts:
        rank = next(rank for rank in job.ranks if rank.process == attempt.process)
        if not attempt.recovered:
            found.append(_connect(job, rank, attempt, places, common))
    return tuple(found)


def _connect(job: Job, rank: Rank, attempt: Attempt, places: tuple[Place, ...], common: dict[str, Value]) -> Subject:
    host = host_of(rank)
    caller = _caller(job, rank, places)
    called = _called(job, rank, attempt, places)
    values = {
        **common,
        **known(
            host=host,
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
            printed=bool(attempt.address),
            got_over_bootstrap=rank.stage >= Stage.RING,
        ),
        **_caller_values(caller, places),
        **_data_values(rank, attempt, places),
        **_called_values(job, host, attempt, called, caller, places),
    }
    evidence = attempt.evidence + tuple(_announcements(job, called, caller))
    return Subject("connect", values, evidence, ranks_of(rank))


def _caller(job: Job, rank: Rank, places: tuple[Place, ...]) -> Place | None:
    """The caller's bootstrap interface; in a log of one node that of any process will do."""
    endpoint = rank.bootstrap or next((other.bootstrap for other in job.ranks if _same_log(other, rank)), None)
    if endpoint is None:
        return None
    return next((p for p in places if (p.interface, p.address) == (endpoint.interface, endpoint.address)), None)


def _same_log(other: Rank, rank: Rank) -> bool:
    return other.bootstrap is not None and other.process.source == rank.process.source and rank.stage == Stage.SILENT


def _called(job: Job, rank: Rank, attempt: Attempt, places: tuple[Place, ...]) -> tuple[Place, ...]:
    """Who has the called address; where it is not printed (2.16 to 2.26), who must have been called."""
    if attempt.address:
        return tuple(place for place in places if place.address == attempt.address)
    if attempt.link in ("store", "gloo", "data"):
        return ()
    root = [other for other in job.ranks if other.process != rank.process and (0 in other.numbers or other.root)]
    others = root if attempt.link == "root" else [other for other in job.ranks if host_of(other) != host_of(rank)]
    wanted = {(host_of(other), other.bootstrap.address) for other in others if other.bootstrap}
    announced = tuple(place for place in places if (place.host, place.address) in wanted and "bootstrap" in place.roles)
    return _suspects(announced, places) or announced


def _suspects(announced: tuple[Place, ...], places: tuple[Place, ...]) -> tuple[Place, ...]:
    """Those among several that can't be reached by the look of it."""
    return tuple(
        place for place in announced if place.look in POOR or twins(place, places) or shared_by(place, places) is False
    )


def _caller_values(caller: Place | None, places: tuple[Place, ...]) -> dict[str, Value]:
    if caller is None:
        return {}
    better = better_than(caller, places)
    return known(
        own_interface=caller.interface,
        own_address=caller.address,
        own_look=caller.look,
        own_shared=shared_by(caller, places),
        own_twin=bool(twins(caller, places)),
        own_better=better.interface if better else None,
        own_better_address=better.address if better else None,
    )


def _data_values(rank: Rank, attempt: Attempt, places: tuple[Place, ...]) -> dict[str, Value]:
    """The worst interface that the channels were given, by their device numbers (``via NET/Socket/1``)."""
    if attempt.link != "data":
        return {}
    numbers = {
        event.get("device") for event in rank.events if event.kind == "channel" and event.get("path") == "NET/Socket"
    }
    used = [endpoint for number, endpoint in enumerate(rank.sockets) if str(number) in numbers]
    named = [
        place for place in places if place.host == host_of(rank) and place.interface in {e.interface for e in used}
    ]
    # The bootstrap's interface has just worked, so the other one is the first to suspect.
    doubtful = [place for place in named if "bootstrap" not in place.roles]
    worst = next((place for place in named if place.look in POOR), next(iter((*doubtful, *named)), None))
    if worst is None:
        return {}
    peer = next((place for place in places if place.host != worst.host and same_network(place, worst)), None)
    return known(
        data_interface=worst.interface,
        data_address=worst.address,
        data_look=worst.look,
        data_peer=peer.address if peer else None,
    )


def _called_values(
    job: Job, host: str, attempt: Attempt, called: tuple[Place, ...], caller: Place | None, places: tuple[Place, ...]
) -> dict[str, Value]:
    address = attempt.address or (called[0].address if called else "")
    if not attempt.address and len({place.address for place in called}) > 1:
        return {"candidates": ", ".join(sorted({place.address for place in called}))}
    theirs = [place for place in called if place.host != host]
    owner = next(iter((*theirs, *called)), None)
    known_end = owner or caller
    better = better_than(known_end, places) if known_end else None
    owner_stage = max((rank.stage for rank in job.ranks if owner and _announces(rank, owner)), default=None)
    mine = [place for place in places if place.host == host]
    target = owner or Place("", "", address)
    near = any(same_network(place, target) for place in mine) if mine and address else None
    return known(
        address=address,
        look=owner.look if owner else address_look(address),
        owner=owner.host if owner else None,
        owner_interface=owner.interface if owner else None,
        owner_role=" and ".join(sorted(owner.roles)) if owner else None,
        owner_stage=owner_stage.name.lower() if owner_stage is not None else None,
        own_too=any(place.host == host for place in called) if called else None,
        twin=bool(twins(owner, places)) if owner else None,
        twin_hosts=" and ".join((owner.host, *twins(owner, places))) if owner and twins(owner, places) else None,
        near=near,
        near_caller=same_network(caller, target) if caller and address else None,
        better=better.interface if better else None,
        better_address=better.address if better else None,
        better_shared=shared_by(better, places) if better else None,
    )


def _announces(rank: Rank, place: Place) -> bool:
    return host_of(rank) == place.host and rank.bootstrap is not None and rank.bootstrap.address == place.address


def _announcements(job: Job, called: tuple[Place, ...], caller: Place | None) -> list[Where]:
    wanted = {(place.host, place.address) for place in (*called, *((caller,) if caller else ()))}
    kinds = ("bootstrap.interface", "socket.interface", "net.interface")
    return [
        event.where
        for rank in job.ranks
        for event in rank.events
        if event.kind in kinds and (host_of(rank), event.get("address")) in wanted
    ]
