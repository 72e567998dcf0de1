"""Networks with a fault each, as values: a lab, shell lines for its nodes, and how to try all calls in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ncclcheck.lab import LabLink, LabNode, Layout, built
from ncclcheck.model import Cell, Node
from ncclcheck.peer.reach import settled

ROOT = Path(__file__).parents[2]
SCRIPT = "tests.peer.reach_node"
NEW = "tcp flags & (syn|ack) == syn"
"""In nftables: the first packet of a connection, and no answer."""


@dataclass(frozen=True)
class Broken:
    """A lab and what is done on its nodes, before anybody calls."""

    layout: Layout
    shell: Mapping[str, str]
    as_nobody: bool = False
    """Call without any privilege."""
    near_only: bool = False
    """Call over each interface only what is on the other end's interface of the same name."""


def wall(hook: str, *rules: str) -> str:
    """Shell: these nftables rules at that hook."""
    kind = "nat" if hook == "postrouting" else "filter"
    lines = "\n".join(rules)
    return f"""nft -f - <<'END'
table inet {hook} {{
chain it {{
type {kind} hook {hook} priority 0
{lines}
}}
}}
END
"""


def six(interface: str, address: str) -> str:
    """Shell: one more IPv6 address, in use at once."""
    return f"ip -6 addr add {address} dev {interface} nodad\n"


# The kernel makes link-local addresses by itself, usable after a second or two: none but ours.
NO_LINK_LOCAL = "for link in /sys/class/net/*; do ip link set ${link##*/} addrgenmode none; done\n" + (
    "for link in /sys/class/net/*; do ip -6 addr flush dev ${link##*/} scope link; done\n"
)


@dataclass(frozen=True)
class Tried:
    """What came out."""

    cells: tuple[Cell, ...]
    seconds: Mapping[str, float]
    """How long each node took for its calls."""
    failed: Mapping[str, list[list[str]]]
    """Addresses on which a node could not listen."""
    known_port: Mapping[str, bool | None]
    unanswered: Mapping[str, list[tuple[str, int, str]]]

    def cell(self, caller: str, address: str, interface: str = "", callee: str = "") -> Cell:
        """The one cell for that call."""
        found = [
            one
            for one in self.cells
            if (one.caller, one.address, one.interface) == (caller, address, interface) and callee in ("", one.callee)
        ]
        assert len(found) == 1, found
        return found[0]


def tried(broken: Broken, known_port: Mapping[str, str] | None = None) -> Tried:
    """Build it, break it, and let every node call every other; ``known_port`` names whom a node calls at port 29500."""
    with built(broken.layout) as nodes, ExitStack() as stack:
        for node in nodes:
            _prepare(node, broken.shell.get(node.name, ""))
        running = {node.name: stack.enter_context(_started(node, broken.as_nobody)) for node in nodes}
        opened = {
            name: _ask(process, host=name, key="a secret", near_only=broken.near_only)
            for name, process in running.items()
        }
        doors = [door for one in opened.values() for door in one["doors"]]
        for name, process in running.items():
            _tell(process, doors=doors, known_port=(known_port or {}).get(name))
        called = {name: _answer(process) for name, process in running.items()}
        lost = {name: _ask(process) for name, process in running.items()}
        assert {name: process.wait(20) for name, process in running.items()} == dict.fromkeys(running, 0)
    cells = msgspec.convert([cell for one in called.values() for cell in one["cells"]], tuple[Cell, ...])
    unanswered = {name: [tuple(entry) for entry in one["unanswered"]] for name, one in lost.items()}
    return Tried(
        settled(cells, unanswered),
        {name: one["seconds"] for name, one in called.items()},
        {name: one["failed"] for name, one in opened.items()},
        {name: one["known_port"] for name, one in called.items()},
        unanswered,
    )


def _prepare(node: Node, shell: str) -> None:
    done = subprocess.run(
        [*node.prefix, "sh", "-ec", NO_LINK_LOCAL + shell],
        env={**os.environ, **dict(node.env)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), f"{node.name}: {done.stderr}"


def _started(node: Node, as_nobody: bool) -> subprocess.Popen[str]:
    # In a user namespace of its own it has no rights in the node's network namespace (user_namespaces(7)).
    less = ["unshare", "--user"] if as_nobody else []
    return subprocess.Popen(
        [*node.prefix, *less, sys.executable, "-W", "error", "-m", SCRIPT],
        env={**os.environ, **dict(node.env), "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _tell(process: subprocess.Popen[str], **words: object) -> None:
    print(json.dumps(words), file=process.stdin, flush=True)


def _answer(process: subprocess.Popen[str]) -> dict:
    return json.loads(process.stdout.readline())


def _ask(process: subprocess.Popen[str], **words: object) -> dict:
    _tell(process, **words)
    return _answer(process)


# ---- two nodes, and a network between them for each fault ----

REJECTED = {
    "port": ("port-unreachable", "port unreachable (ICMP 3/3)", "port-unreachable", "port unreachable (ICMPv6 1/4)"),
    "host": ("host-unreachable", "host unreachable (ICMP 3/1)", "addr-unreachable", "address unreachable (ICMPv6 1/3)"),
    "net": ("net-unreachable", "network unreachable (ICMP 3/0)", "no-route", "no route (ICMPv6 1/0)"),
    "admin": (
        "admin-prohibited",
        "administratively prohibited (ICMP 3/13)",
        "admin-prohibited",
        "administratively prohibited (ICMPv6 1/1)",
    ),
    "hostp": (
        "host-prohibited",
        "host prohibited (ICMP 3/10)",
        "policy-fail",
        "source address failed policy (ICMPv6 1/5)",
    ),
    "netp": ("net-prohibited", "network prohibited (ICMP 3/9)", "reject-route", "route rejected (ICMPv6 1/6)"),
    "proto": ("prot-unreachable", "protocol unreachable (ICMP 3/2)", None, None),
}
"""By interface: what node-b says to IPv4 calls, how we name that, and the same for IPv6."""

JOINED = ("plain", "drop", "oneway", "reset", *REJECTED, "outdrop", "outadmin", "six", "local", "narrow", "late")
"""Interfaces, each with a network of its own, on both nodes."""


def four_of(interface: str, node: int) -> str:
    """The node's IPv4 address there."""
    return f"10.0.{JOINED.index(interface)}.{node}"


def six_of(interface: str, node: int) -> str:
    """The node's IPv6 address there."""
    return f"fd00:{JOINED.index(interface) + 1:x}::{node:x}"


def _faulty_node(name: str, node: int) -> LabNode:
    links = [LabLink(one, one, f"{four_of(one, node)}/24") for one in JOINED]
    own = [
        LabLink("apart", f"apart{node}", f"10.9.9.{node}/24"),
        LabLink("cut", f"cut{node}", f"10.8.{node}.1/24"),
        LabLink("twin", f"twin{node}", "172.17.0.2/16"),
    ]
    return LabNode(name, (*links, *own))


def _addresses(node: int) -> str:
    lines = [six(one, f"{six_of(one, node)}/64") for one in JOINED if one != "local"]
    lines += [six("apart", f"fd09::{node}/64"), six("cut", f"fd08:{node}::1/64"), six("local", f"fe80::{node}/64")]
    without = "".join(f"ip -4 addr flush dev {one}\n" for one in ("six", "local"))
    return "".join(lines) + without


def _rejections() -> list[str]:
    four = [f'iifname "{name}" {NEW} reject with icmp type {kind}' for name, (kind, *_) in REJECTED.items()]
    return four + [
        f'iifname "{name}" {NEW} reject with icmpv6 type {kind}' for name, (*_, kind, _) in REJECTED.items() if kind
    ]


FAULTY = Broken(
    Layout("faulty", "", (_faulty_node("node-a", 1), _faulty_node("node-b", 2))),
    {
        "node-a": _addresses(1)
        # The first answer to each of two calls is lost; it has 60 bytes.
        + wall(
            "input", 'iifname "late" meta nfproto ipv4 tcp flags & (syn|ack) == (syn|ack) quota until 130 bytes drop'
        )
        + wall(
            "output",
            f'oifname "outdrop" {NEW} drop',
            f'oifname "outadmin" {NEW} reject with icmpx type admin-prohibited',
        ),
        "node-b": _addresses(2)
        + wall(
            "input",
            f'iifname "drop" {NEW} drop',
            'iifname "oneway" meta l4proto tcp drop',
            f'iifname "reset" {NEW} reject with tcp reset',
            f'iifname "narrow" {NEW} tcp dport != 29500 drop',
            *_rejections(),
        ),
    },
    near_only=True,
)


# ---- a router between two nodes ----

PATHS = ("hole", "back", "learnt", "nat", "guard")


def left(path: str, host: int = 1) -> str:
    """An address on node-a's side; the router has number 254."""
    return f"10.{PATHS.index(path) + 1}.1.{host}"


def right(path: str, host: int = 2) -> str:
    """An address on node-b's side."""
    return f"10.{PATHS.index(path) + 1}.2.{host}"


def _routed_nodes() -> tuple[LabNode, ...]:
    near = [LabLink(path, f"{path}-l", f"{left(path)}/24") for path in PATHS]
    far = [LabLink(path, f"{path}-r", f"{right(path)}/24") for path in PATHS]
    middle = [LabLink(f"l-{path}", f"{path}-l", f"{left(path, 254)}/24") for path in PATHS]
    middle += [LabLink(f"r-{path}", f"{path}-r", f"{right(path, 254)}/24") for path in PATHS]
    under = [LabLink("under", "under", f"10.50.0.{number}/24") for number in (1, 2)]
    return (
        LabNode("node-a", (*near, under[0])),
        LabNode("node-b", (*far, under[1])),
        LabNode("router", tuple(middle)),
    )


def _overlay(number: int) -> str:
    return (
        f"ip link add overlay type vxlan id 42 remote 10.50.0.{3 - number} dstport 4789 dev under\n"
        "ip link set overlay addrgenmode none\nip link set overlay up\n"
        f"ip addr add 10.60.0.{number}/24 dev overlay\n"
    )


def _narrow(path: str, side: str, network: str) -> str:
    """Shell: on the router, packets of at most 1400 bytes on that link."""
    return f"ip route replace {network} dev {side}-{path} mtu 1400\n"


ROUTED = Broken(
    Layout("routed", "", _routed_nodes()),
    {
        "node-a": _overlay(1)
        + "".join(f"ip route add {right(path, 0)}/24 via {left(path, 254)}\n" for path in PATHS)
        + six("hole", "fd00:1::1/64")
        + "ip -6 route add fd00:2::/64 via fd00:1::fe\n",
        "node-b": _overlay(2)
        + "".join(f"ip route add {left(path, 0)}/24 via {right(path, 254)}\n" for path in PATHS if path != "nat")
        + six("hole", "fd00:2::2/64")
        + "ip -6 route add fd00:1::/64 via fd00:2::fe\n",
        "router": "echo 1 > /proc/sys/net/ipv4/ip_forward\necho 1 > /proc/sys/net/ipv6/conf/all/forwarding\n"
        + six("l-hole", "fd00:1::fe/64")
        + six("r-hole", "fd00:2::fe/64")
        + _narrow("hole", "r", f"{right('hole', 0)}/24")
        + _narrow("back", "l", f"{left('back', 0)}/24")
        + _narrow("learnt", "r", f"{right('learnt', 0)}/24")
        + "ip -6 route replace fd00:2::/64 dev r-hole metric 256 mtu 1400\n"
        + wall(
            "output",
            "oifname { l-hole, r-back } icmp type destination-unreachable drop",
            "oifname l-hole icmpv6 type packet-too-big drop",
        )
        + wall("forward", f"iifname l-guard {NEW} reject with icmp type host-prohibited")
        + wall("postrouting", "oifname r-nat masquerade"),
    },
    near_only=True,
)


# ---- four nodes on one network ----


def _quarter(name: str, number: int) -> LabNode:
    second = (LabLink("eth1", "pair", f"10.5.0.{number}/24"),) if number <= 2 else ()
    return LabNode(name, (LabLink("eth0", "net", f"10.0.0.{number}/24"), *second))


FOUR = Broken(
    Layout("four", "", tuple(_quarter(f"node-{letter}", number) for number, letter in enumerate("abcd", 1))),
    {
        "node-b": "echo 40000 40009 > /proc/sys/net/ipv4/ip_local_port_range\n",
        "node-c": "echo 40000 40000 > /proc/sys/net/ipv4/ip_local_port_range\n",
        "node-d": wall("input", "meta l4proto tcp drop"),
    },
    as_nobody=True,
)
