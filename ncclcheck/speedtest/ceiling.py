"""What a link can carry at most, by what the kernel says of it. Pure.

TCP over Ethernet spends a header on each packet: 20 bytes of IPv4 (RFC 791) or 40 of IPv6 (RFC 8200), 20 of TCP
(RFC 9293) and 12 of its time stamps (RFC 7323, on by default in Linux), all within the MTU; around it 14 of Ethernet
header, 4 of checksum, 8 of preamble and 12 of gap (IEEE 802.3).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ncclcheck.model import Interface, RdmaDevice, RdmaPort, Transport

FAST = 25_000
"""Mbit/s; from here on one connection is limited by a CPU core, not by the wire (NVIDIA/nccl #450, #209)."""
USUAL_MTU = 1500
_AROUND = 38
_TCP = 32
_RATE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*Gb")
_DEVICE = re.compile(r"(.+?)(?::(\d{1,4}))?(?:/\w+)?")


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The most that a transport can carry in one direction."""

    rate: float | None
    """GB/s of payload; ``None`` where nobody knows."""
    line: float = 0.0
    """Mbit/s of the wire, headers and all."""
    source: str = ""
    missing: str = ""
    """What is not known, where there is no rate."""
    suspicious: float = 0.0
    """GB/s; less than this is no matter of settings any more."""


def payload_share(mtu: int, family: int = 4) -> float:
    """The share of a wire's rate that is left to TCP's payload; 0.94 with an MTU of 1500, 0.99 with 9000."""
    payload = mtu - _TCP - (40 if family == 6 else 20)
    return max(payload, 1) / (max(mtu, 1) + _AROUND)


def mss(mtu: int | None) -> int:
    """Bytes of payload in a full packet over IPv4."""
    return max((mtu or USUAL_MTU) - _TCP - 20, 1)


def gigabits(rate: str) -> float | None:
    """Gbit/s in the driver's words ``400 Gb/sec (4X NDR)`` (Linux, Documentation/ABI/stable/sysfs-class-infiniband)."""
    found = _RATE.match(rate)
    return float(found[1]) if found else None


def tcp_ceiling(used: tuple[Interface, ...], *, shared: bool) -> Ceiling:
    """What TCP can carry over these interfaces: their sum where the data is ``shared`` among them, else the slowest.

    Reported rates of NCCL over TCP (NVIDIA/nccl #450, #209): from 25 Gbit/s on, a healthy job may get 1 to 5 GB/s and
    no more, so only less than 0.4 of the link and than 1 GB/s is suspicious; below that it is 0.6 of the link.
    """
    unknown = [one for one in used if not one.speed or one.speed < 0]
    if unknown or not used:
        return Ceiling(None, missing=", ".join(map(_unknown_speed, unknown)) or "the interface that was used")
    rates = [(one.speed or 0) / 8000 * payload_share(one.mtu or USUAL_MTU, _family(one)) for one in used]
    combine = sum if shared else min
    rate, line = combine(rates), float(combine([one.speed or 0 for one in used]))
    floor = 0.6 * rate if line < FAST else min(0.4 * rate, 1.0)
    return Ceiling(rate, line, ", ".join(map(_described, used)) + ", less the headers of TCP/IP", suspicious=floor)


def _unknown_speed(one: Interface) -> str:
    return f"the speed of {one.name} ({one.speed_unknown or f'a {one.kind.value} link, whose driver reports none'})"


def _described(one: Interface) -> str:
    assumed = "" if one.mtu else " (assumed)"
    return f"{one.name}: {one.speed} Mbit/s, MTU {one.mtu or USUAL_MTU}{assumed}"


def _family(one: Interface) -> int:
    return 6 if one.addresses and all(address.family == 6 for address in one.addresses) else 4


def rdma_ceiling(names: tuple[str, ...], rdma: tuple[RdmaDevice, ...]) -> Ceiling:
    """What these devices, ``mlx5_0:1/RoCE``, carry together.

    Suspicious is less than 0.7 of InfiniBand (HDR 18 of 25 GB/s, NDR 35 of 50: NVIDIA/nccl #1576, nccl-tests #290) and
    less than 0.6 of RoCE, which gives 0.85 to 0.95 only where nothing is lost.
    """
    ports = [(name, port_named(name, rdma)) for name in names]
    rates = [gigabits(port.rate) if port else None for _, port in ports]
    known = [rate for rate in rates if rate]
    if not known or len(known) < len(rates):
        unknown = [name for name, rate in zip(names, rates, strict=True) if not rate]
        return Ceiling(
            None, missing=f"the rate of {', '.join(unknown)}" if unknown else "the RDMA device that was used"
        )
    rate = sum(known) / 8
    ethernet = any(port and port.link_layer == "Ethernet" for _, port in ports)
    source = ", ".join(f"{name}: {port.rate}" for name, port in ports if port)
    return Ceiling(rate, 1000 * sum(known), source, suspicious=(0.6 if ethernet else 0.7) * rate)


def port_named(name: str, rdma: tuple[RdmaDevice, ...]) -> RdmaPort | None:
    """The port that NCCL calls ``mlx5_0:1/RoCE``."""
    found = _DEVICE.fullmatch(name)
    device, number = (found[1], int(found[2] or 1)) if found else (name, 1)
    return next((port for one in rdma if one.name == device for port in one.ports if port.number == number), None)


def carries_tcp(transport: Transport) -> bool:
    """Whether the data went over plain sockets, as far as anybody said."""
    return transport.network in ("", "Socket", "gloo")
