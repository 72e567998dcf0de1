"""The network interfaces of this machine, as the kernel describes them.

Through pyroute2 (netlink) and /sys; works as an ordinary user. Where there is no netlink (macOS) the answer is
an ``Unknown``, never an error.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ncclcheck.model import Address, Interface, Unknown
from ncclcheck.node.linkkind import kind_of
from ncclcheck.node.linkspeed import driver_of, speed_of

_UP = 0x1
_RUNNING = 0x40
_ROOT = Path("/sys/class/net")


@dataclass(frozen=True, slots=True)
class Dump:
    """What the kernel answered, in its own order: links, and IPv4 before IPv6 addresses."""

    links: tuple[Any, ...]
    addresses: tuple[Any, ...]


def ask_kernel() -> Dump:
    """Links and addresses of this network namespace."""
    import socket

    from pyroute2 import IPRoute

    with IPRoute() as kernel:
        links = tuple(kernel.link("dump"))
        families = (socket.AF_INET, socket.AF_INET6)
        addresses = tuple(message for family in families for message in kernel.addr("dump", family=family))
    return Dump(links=links, addresses=addresses)


def read(
    sysfs: Path = _ROOT, ask: Callable[[], Dump] = ask_kernel
) -> tuple[tuple[Interface, ...], tuple[Unknown, ...]]:
    """All interfaces by index, and what could not be learned."""
    try:
        dump = ask()
    except ImportError:
        return (), (Unknown("interfaces", "netlink: this system has none, so only Linux can be looked at"),)
    except OSError as error:
        return (), (Unknown("interfaces", f"an answer of the kernel (netlink): {error.strerror or error}"),)
    return from_dump(dump, sysfs), ()


def from_dump(dump: Dump, sysfs: Path) -> tuple[Interface, ...]:
    """The interfaces in the order of their index; ``sysfs`` tells the speed, the driver and marks of their kind."""
    addresses = _addresses(dump.addresses)
    family = _family(dump.links)
    found = (_interface(link, addresses[link["index"]], family, sysfs) for link in dump.links)
    return tuple(sorted(found, key=lambda interface: interface.index))


@dataclass(frozen=True, slots=True)
class _Family:
    """Which links belong to which bridge or bond."""

    names: dict[int, str]
    members: dict[int, list[str]]


def _family(links: Iterable[Any]) -> _Family:
    found = _Family({}, defaultdict(list))
    for link in links:
        name = str(link.get_attr("IFLA_IFNAME"))
        found.names[link["index"]] = name
        if master := link.get_attr("IFLA_MASTER"):
            found.members[master].append(name)
    return found


def _interface(link: Any, addresses: Iterable[tuple[Any, ...]], family: _Family, sysfs: Path) -> Interface:
    name, index = str(link.get_attr("IFLA_IFNAME")), int(link["index"])
    flags = int(link["flags"])
    shown = _sysfs_of(sysfs / name, index)
    kind = kind_of(link, name, shown)
    speed, speed_unknown = speed_of(kind, shown)
    return Interface(
        name=name,
        index=index,
        kind=kind,
        up=bool(flags & _UP),
        running=bool(flags & _RUNNING),
        mtu=link.get_attr("IFLA_MTU"),
        speed=speed,
        addresses=tuple(_address(message, name) for message in addresses),
        driver=driver_of(shown) or _kind_name(link),
        speed_unknown=speed_unknown,
        master=family.names.get(link.get_attr("IFLA_MASTER") or 0),
        members=tuple(family.members.get(index, ())),
    )


def _kind_name(link: Any) -> str | None:
    """What the kernel calls a link without hardware: veth, bridge, vlan …"""
    about = link.get_attr("IFLA_LINKINFO")
    name = about.get_attr("IFLA_INFO_KIND") if about else None
    return str(name) if name else None


def _addresses(messages: Iterable[Any]) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = defaultdict(list)
    for message in messages:
        found[message["index"]].append(message)
    return found


def _address(message: Any, interface: str) -> Address:
    # On a point-to-point link IFA_ADDRESS is the far end; IFA_LOCAL is ours (rtnetlink(7)).
    text = message.get_attr("IFA_LOCAL") or message.get_attr("IFA_ADDRESS")
    label = message.get_attr("IFA_LABEL")
    return Address(
        address=str(text), prefix=int(message["prefixlen"]), label=label if label and label != interface else None
    )


def _sysfs_of(folder: Path, index: int) -> Path:
    """The link's folder in /sys, or an empty place where /sys shows another network namespace."""
    try:
        return folder if int((folder / "ifindex").read_text()) == index else Path("/nonexistent")
    except (OSError, ValueError):
        return Path("/nonexistent")
