"""The lab's links, made through pyroute2 from inside its namespaces."""

from __future__ import annotations

from typing import Any

from ncclcheck.lab.layout import LabNode, Layout


def _up(netlink: Any, name: str) -> int:
    index = int(netlink.link_lookup(ifname=name)[0])
    netlink.link("set", index=index, state="up")
    return index


def make_bridges(netlink: Any, layout: Layout) -> dict[str, int]:
    """A bridge for each network, by name; none of them leads out of the lab."""
    names = sorted({link.network for node in layout.nodes for link in node.links})
    for name in names:
        netlink.link("add", ifname=name, kind="bridge")
    return {name: _up(netlink, name) for name in names}


def plug_in(netlink: Any, node: LabNode, number: int, pid: int, bridges: dict[str, int]) -> None:
    """Give the node, whose namespaces process ``pid`` holds, its end of a cable to each of its networks."""
    for position, link in enumerate(node.links):
        name = f"port{number}.{position}"
        netlink.link("add", ifname=name, kind="veth", peer={"ifname": link.interface, "net_ns_pid": pid})
        netlink.link("set", index=_up(netlink, name), master=bridges[link.network])


def set_addresses(netlink: Any, node: LabNode) -> None:
    """From inside the node: its addresses, and everything up."""
    _up(netlink, "lo")
    for link in node.links:
        address, _, prefix = link.address.partition("/")
        netlink.addr("add", index=_up(netlink, link.interface), address=address, prefixlen=int(prefix))
