"""How fast a link is, where anybody can know.

A driver of real hardware reports what was negotiated on the wire. A virtual one has no wire: veth says 10 Gbit/s,
vmxnet3 and hv_netvsc the number of a virtual switch, virtio_net what its host was told to say; none was measured.
"""

from __future__ import annotations

from pathlib import Path

from ncclcheck.model import LinkKind

_VIRTUAL_DRIVERS = ("virtio_net", "veth", "vmxnet3", "hv_netvsc", "xen_netfront", "vif", "netvsc", "dummy", "tun")
_STACKED = (LinkKind.BOND, LinkKind.VLAN)
_VIRTUAL_KINDS = {
    LinkKind.LOOPBACK: "it has no wire",
    LinkKind.VETH: "a veth pair has no wire; the number that it reports is made up",
    LinkKind.BRIDGE: "a bridge is as fast as the way through it",
    LinkKind.DOCKER: "a bridge is as fast as the way through it",
    LinkKind.VIRBR: "a bridge is as fast as the way through it",
    LinkKind.TUNNEL: "a tunnel is as fast as the way under it",
}


def driver_of(folder: Path) -> str | None:
    """The driver of a link, from its folder in /sys; ``None`` where it has no hardware."""
    try:
        return (folder / "device/driver").readlink().name
    except OSError:
        return None


def speed_of(kind: LinkKind, folder: Path) -> tuple[int | None, str]:
    """Mbit/s, or why nobody knows."""
    if kind in _VIRTUAL_KINDS:
        return None, _VIRTUAL_KINDS[kind]
    objection = _objection(kind, folder)
    if objection:
        return None, objection
    speed = _number(folder / "speed")
    return (speed, "") if speed else (None, "its driver does not tell, as without carrier")


def _objection(kind: LinkKind, folder: Path) -> str:
    if kind in _STACKED:
        below = sorted(folder.glob("lower_*"))
        whole = below and not any(_objection(LinkKind.ETHERNET, one) for one in below)
        return "" if whole else "the links below it are not all real hardware"
    driver = driver_of(folder)
    if driver in _VIRTUAL_DRIVERS:
        return f"its driver {driver} is that of a virtual machine and reports what the host was told to say"
    return "" if driver else "no hardware is to be seen behind it"


def _number(path: Path) -> int | None:
    try:
        speed = int(path.read_text())
    except (OSError, ValueError):
        return None
    return speed if speed > 0 else None
