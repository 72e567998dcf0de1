"""What carried the data of a run: read from what NCCL itself said, never from a name. Pure.

NCCL 2.3 to 2.32, transport/net.cc (channels), transport/net_socket.cc and net_ib.cc (interfaces, devices), init.cc.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from ncclcheck.model import Event, Job, Rank, Transport

_NET = "NET/"
_DEVICE = re.compile(r"\[\d+\](\S+)")


def transport_of(job: Job, backend: str, interface: str | None, host: str | None = None) -> Transport:
    """The network, and the interfaces or RDMA devices of it that were used on one machine.

    That machine is ``host``, or else the first one that says something of it. ``interface`` is gloo's, which logs none
    (two names with ``and`` between them where the sides differ).
    """
    if backend == "gloo":
        return Transport("gloo", tuple(interface.split(" and ")) if interface else ())
    ranks = _of_one_machine(job.ranks, host)
    channels = tuple(_events(ranks, "channel"))
    network = _network(channels, ranks)
    within = bool(channels) and not any(_over_network(channel) for channel in channels)
    return Transport(
        network,
        interfaces=_used(ranks, _interfaces) if network == "Socket" and not within else (),
        devices=_used(ranks, _devices) if network == "IB" and not within else (),
        gdr=_gdr(network, channels, ranks),
        threads=_flows(ranks, "threads"),
        sockets=_flows(ranks, "sockets"),
        within=within,
    )


def _of_one_machine(ranks: Sequence[Rank], host: str | None) -> tuple[Rank, ...]:
    telling = [rank for rank in ranks if rank.network or any(_events((rank,), "channel"))]
    chosen = host or next((rank.host for rank in telling), None)
    return tuple(rank for rank in telling if rank.host == chosen)


def _events(ranks: Sequence[Rank], kind: str) -> Iterator[Event]:
    return (event for rank in ranks for event in rank.events if event.kind == kind)


def _over_network(channel: Event) -> bool:
    return channel.get("path").startswith(_NET)


def _network(channels: Sequence[Event], ranks: Sequence[Rank]) -> str:
    """What the channels went over; before there are any, what NCCL announced."""
    carried = next((channel.get("path") for channel in channels if _over_network(channel)), "")
    return carried.removeprefix(_NET) or next((rank.network for rank in ranks if rank.network), "")


def _used(ranks: Sequence[Rank], offered: Callable[[Rank], tuple[str, ...]]) -> tuple[str, ...]:
    """Of what NCCL listed in each process, the entries that the channels number; all where they number none.

    ``offered`` gives the names in the order in which NCCL numbered them.
    """
    found: dict[str, None] = {}
    for rank in ranks:
        names = offered(rank)
        numbers = {channel.number("device") for channel in _events((rank,), "channel") if _over_network(channel)}
        known = [name for number, name in enumerate(names) if number in numbers]
        # A number beyond the list is that of merged cards (2.24 and later), so any of them may have been used.
        found.update(dict.fromkeys(known if numbers and len(known) == len(numbers) else names))
    return tuple(found)


def _interfaces(rank: Rank) -> tuple[str, ...]:
    return tuple(endpoint.interface for endpoint in rank.sockets)


def _devices(rank: Rank) -> tuple[str, ...]:
    listed = next((event.get("devices") for event in _events((rank,), "rdma.devices")), "")
    return tuple(_DEVICE.findall(listed))


def _gdr(network: str, channels: Sequence[Event], ranks: Sequence[Rank]) -> bool | None:
    """By the channels, which tell what was used; else by what was said of the cards, which tells what could be."""
    if network in ("", "Socket"):
        return None
    carrying = [channel for channel in channels if _over_network(channel)]
    if carrying:
        return any(channel.get("gdr") for channel in carrying)
    enabled, disabled = (any(_events(ranks, kind)) for kind in ("gdr.enabled", "gdr.disabled"))
    return enabled if enabled or disabled else None


def _flows(ranks: Sequence[Rank], name: str) -> int | None:
    return next((event.number(name) for event in _events(ranks, "socket.flows")), None)
