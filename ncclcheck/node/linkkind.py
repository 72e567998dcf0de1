"""What kind of link an interface is, by what the kernel says of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ncclcheck.model import LinkKind

_BY_DRIVER = {
    "veth": LinkKind.VETH,
    "bond": LinkKind.BOND,
    "vlan": LinkKind.VLAN,
    "ipoib": LinkKind.IPOIB,
    **dict.fromkeys(
        ("tun", "vxlan", "geneve", "gre", "gretap", "ip6gre", "ip6gretap", "ipip", "sit", "ip6tnl", "wireguard"),
        LinkKind.TUNNEL,
    ),
    **dict.fromkeys(("vti", "vti6", "xfrm", "erspan", "ip6erspan", "gtp", "ppp"), LinkKind.TUNNEL),
}
"""By IFLA_INFO_KIND."""

# if_arp.h: ARPHRD_ETHER, _INFINIBAND, _PPP, _TUNNEL, _TUNNEL6, _LOOPBACK, _SIT, _IPGRE, _NONE (tun, wireguard)
_BY_HARDWARE = {
    1: LinkKind.ETHERNET,
    32: LinkKind.IPOIB,
    512: LinkKind.TUNNEL,
    768: LinkKind.TUNNEL,
    769: LinkKind.TUNNEL,
    772: LinkKind.LOOPBACK,
    776: LinkKind.TUNNEL,
    778: LinkKind.TUNNEL,
    65534: LinkKind.TUNNEL,
}

_DOCKER_BRIDGE = re.compile(r"docker\d+|docker_gwbridge|br-[0-9a-f]{12}")
"""Names that Docker gives to its bridges: the default one, swarm's, and those of user networks."""


def kind_of(link: Any, name: str, sysfs: Path) -> LinkKind:
    """The kind of a link from its netlink message, with /sys where that says nothing."""
    kind = _by_message(link)
    if kind is not LinkKind.ETHERNET:
        return _whose_bridge(name) if kind is LinkKind.BRIDGE else kind
    if (sysfs / "bridge").exists():
        return _whose_bridge(name)
    if (sysfs / "bonding").exists():
        return LinkKind.BOND
    return LinkKind.WIRELESS if (sysfs / "wireless").exists() or (sysfs / "phy80211").exists() else kind


def _by_message(link: Any) -> LinkKind:
    about = link.get_attr("IFLA_LINKINFO")
    driver = about.get_attr("IFLA_INFO_KIND") if about else None
    if driver == "bridge":
        return LinkKind.BRIDGE
    if driver in _BY_DRIVER:
        return _BY_DRIVER[driver]
    return LinkKind.OTHER if driver else _BY_HARDWARE.get(link["ifi_type"], LinkKind.OTHER)


def _whose_bridge(name: str) -> LinkKind:
    if _DOCKER_BRIDGE.fullmatch(name):
        return LinkKind.DOCKER
    return LinkKind.VIRBR if name.startswith("virbr") else LinkKind.BRIDGE
