"""InfiniBand and RoCE devices as /sys shows them (Documentation/ABI/stable/sysfs-class-infiniband)."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from pathlib import Path

from ncclcheck.model import Gid, RdmaDevice, RdmaPort

_KINDS = {"IB/RoCE v1": "RoCE v1", "RoCE v2": "RoCE v2"}


def read(folder: Path) -> tuple[RdmaDevice, ...]:
    """The devices under ``/sys/class/infiniband``; none where there is no such folder."""
    return tuple(map(_device, _entries(folder)))


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir(), key=lambda path: (len(path.name), path.name))
    except OSError:
        return []


def _device(folder: Path) -> RdmaDevice:
    ports = tuple(map(_port, _entries(folder / "ports")))
    beside = [path.name for path in _entries(folder / "device/net")]
    in_tables = [gid.interface for port in ports for gid in port.gids if gid.interface]
    return RdmaDevice(folder.name, tuple(dict.fromkeys([*beside, *in_tables])), ports)


def _port(folder: Path) -> RdmaPort:
    layer = _text(folder / "link_layer")
    return RdmaPort(
        number=int(folder.name) if folder.name.isdecimal() else 0,
        link_layer=layer,
        state=_text(folder / "state").partition(":")[2].strip(),
        rate=_text(folder / "rate"),
        gids=tuple(_gids(folder, layer)),
    )


def _gids(folder: Path, layer: str) -> Iterator[Gid]:
    for path in _entries(folder / "gids"):
        gid = _text(path)
        if path.name.isdecimal() and gid and int(ipaddress.IPv6Address(gid)):
            kind = _text(folder / "gid_attrs/types" / path.name)
            interface = _text(folder / "gid_attrs/ndevs" / path.name) or None
            # An InfiniBand port says "IB/RoCE v1" of its entries too.
            yield Gid(int(path.name), gid, "IB" if layer == "InfiniBand" else _KINDS.get(kind, kind), interface)


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:  # an empty entry of the table gives EINVAL
        return ""
