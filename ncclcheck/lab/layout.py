"""What a lab looks like, as values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LabLink:
    """An interface of a node; links of one network reach each other, whatever node they are on."""

    interface: str
    network: str
    """Up to 12 characters of a bridge's name; a network that one node alone is on leads nowhere."""
    address: str
    """With prefix length: ``10.0.0.11/24``."""


@dataclass(frozen=True, slots=True)
class LabNode:
    """A node; its links are made in this order, so the first one has the lowest index."""

    name: str
    links: tuple[LabLink, ...]
    etc: tuple[tuple[str, str], ...] = ()
    """Files of its own ``/etc``: name below it, and content."""
    env: tuple[tuple[str, str], ...] = ()
    """Variables that every command on it gets."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A whole lab."""

    name: str
    title: str
    nodes: tuple[LabNode, ...]

    @property
    def shared(self) -> frozenset[str]:
        """Names of the networks that more than one node is on."""
        seen = [{link.network for link in node.links} for node in self.nodes]
        return frozenset(name for one in seen for name in one if sum(name in other for other in seen) > 1)


def hosts(layout: Layout) -> str:
    """An ``/etc/hosts`` that names every node by its addresses on shared networks."""
    lines = ["127.0.0.1 localhost", "::1 localhost"]
    for node in layout.nodes:
        shared = [link for link in node.links if link.network in layout.shared]
        lines += [f"{link.address.partition('/')[0]} {node.name}" for link in shared]
    return "\n".join(lines) + "\n"


def _docker(interface: str, letter: str) -> LabLink:
    """A container's usual way out. Both nodes have the same address, as containers on different hosts often do."""
    return LabLink(interface, f"docker-{letter}", "172.17.0.2/16")


DOCKER_FIRST = Layout(
    "docker-first",
    "eth0 is each node's own docker bridge, eth1 the network they share (AutoDL, gpuhub)",
    (
        LabNode("node-a", (_docker("eth0", "a"), LabLink("eth1", "overlay", "10.0.0.11/24"))),
        LabNode("node-b", (_docker("eth0", "b"), LabLink("eth1", "overlay", "10.0.0.12/24"))),
    ),
)

# What a guide for docker-first machines tells its readers to write; here it names the wrong side.
_COPIED = (("nccl.conf", "NCCL_SOCKET_IFNAME=eth1\nNCCL_DEBUG=WARN\n"),)

OVERLAY_FIRST = Layout(
    "overlay-first",
    "eth0 is the network they share (vast.ai overlays), eth1 each node's own docker bridge; "
    "nccl.conf was copied from a guide for the other lay-out",
    (
        LabNode("node-a", (LabLink("eth0", "overlay", "10.0.0.11/24"), _docker("eth1", "a")), _COPIED),
        LabNode("node-b", (LabLink("eth0", "overlay", "10.0.0.12/24"), _docker("eth1", "b")), _COPIED),
    ),
)

LAYOUTS = {layout.name: layout for layout in (DOCKER_FIRST, OVERLAY_FIRST)}
