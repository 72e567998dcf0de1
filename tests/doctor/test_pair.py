"""Pairing for real: nodes in namespaces whose network has one fault each, the real commands, the real NCCL."""

from __future__ import annotations

import signal
from contextlib import ExitStack

import msgspec
import pytest

from ncclcheck.doctor.part import Part
from ncclcheck.errors import PeerError
from ncclcheck.lab import DOCKER_FIRST, LabLink, LabNode, Layout, built
from ncclcheck.peer import card, messages
from ncclcheck.rulebook import sketch
from tests.doctor.paired import COMMAND, Wishes, finished, invited, paired, running, shell
from tests.peer.networks import NO_LINK_LOCAL, wall
from tests.yardstick import within

AWAITED = 15.0
"""Seconds that two newcomers may have to wait, all in all, on an ordinary machine."""


def layout(*links, name="pair"):
    """Nodes node-a, node-b … with these links each; ``{}`` in an address is the node's number."""
    nodes = [
        LabNode(
            f"node-{letter}", tuple(LabLink(link, network, address.format(number)) for link, network, address in links)
        )
        for number, letter in enumerate("ab", 1)
    ]
    return Layout(name, "", tuple(nodes))


NEWCOMERS = Layout(
    "newcomers",
    "",
    (
        LabNode("node-a", (LabLink("eth0", "lone-a", "172.17.0.2/16"), LabLink("eth1", "overlay", "10.0.0.11/24"))),
        LabNode("node-b", (LabLink("eth0", "lone-b", "172.17.0.2/16"), LabLink("ens5", "overlay", "10.0.0.12/24"))),
    ),
)
ONE_NETWORK = layout(("eth1", "net", "10.0.0.{}/24"))


def test_two_fresh_shells_two_commands_and_it_is_verified():
    """The newcomer's way: eth0 is a twin on both, the shared interface has another name on each."""
    with built(NEWCOMERS) as nodes:
        host, guest = paired(nodes, Wishes(pair=("--yes",), join=("--yes",)))
        written = [shell(node, "cat /etc/nccl.conf") for node in nodes]
    assert (host.code, guest.code, host.said, guest.said) == (0, 0, "", "")
    assert host.use == guest.use == {"node-a": "eth1", "node-b": "ens5"}
    assert host.conclusion["sides"]["match"]["proved"]
    assert host.rules == guest.rules == ["NC801"]
    assert written == ["NCCL_SOCKET_IFNAME==eth1\n", "NCCL_SOCKET_IFNAME==ens5\n"]
    # As it was, as proposed, and as it is now.
    assert host.handshakes == guest.handshakes == [(False, False), (True, True), (False, True)]
    assert [side.steps[-1]["verified"] for side in (host, guest)] == [True, True]
    assert within(AWAITED, max(host.seconds, guest.seconds))


def test_without_a_yes_nothing_is_written_anywhere():
    with built(DOCKER_FIRST) as nodes:
        host, guest = paired(nodes, Wishes(pair=(), join=("--yes",)))
        first = shell(nodes[0], "ls /etc/nccl.conf* 2>&1 || true")
        second = shell(nodes[1], "cat /etc/nccl.conf")
    assert "No such file" in first
    assert second == "NCCL_SOCKET_IFNAME==eth1\n"
    made = {step["host"]: step["applied"] for step in host.of("madefix")}
    assert made == {"node-a": False, "node-b": True}
    assert (host.code, guest.code) == (1, 1)
    assert "no --yes was given" in host.said


NEW = "tcp flags & (syn|ack) == syn"
FAULTS = {
    "one way": ({"node-b": wall("input", f'iifname "eth1" {NEW} drop')}, ["NC805"], "never reached node-b"),
    "answer lost": (
        {"node-a": wall("input", 'iifname "eth1" tcp flags & (syn|ack) == (syn|ack) drop')},
        ["NC805"],
        "node-b got the call, and its answer was lost on the way back to node-a",
    ),
    "rejected": (
        {"node-b": wall("input", f'iifname "eth1" {NEW} reject with icmp type admin-prohibited')},
        ["NC806"],
        "administratively prohibited",
    ),
    "forbidden": (
        {"node-b": wall("output", f'oifname "eth1" {NEW} tcp dport != 29500 drop')},
        ["NC816"],
        "node-b may not call 10.0.0.1",
    ),
    "known port": (
        {"node-a": wall("input", f'iifname "eth1" {NEW} tcp dport != 29500 drop')},
        ["NC814"],
        "node-b reaches 10.0.0.1 (eth1 on node-a) at the port that was agreed on",
    ),
    "few ports": ({"node-a": "sysctl -qw net.ipv4.ip_local_port_range='40000 40019'"}, ["NC815"], "only 20 local"),
    "healthy": ({}, [], ""),
}
"""By name: what is done on the nodes, the rules that must speak, and what they must say; node-a invites."""


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_named_with_the_node_and_the_address(fault):
    scripts, rules, said = FAULTS[fault]
    with built(ONE_NETWORK) as nodes:
        for node in nodes:
            shell(node, NO_LINK_LOCAL + scripts.get(node.name, ""))
        sides = paired(nodes, Wishes(pair=("--no-fix", "--port", "29500")))
    assert [side.rules for side in sides] == [rules, rules]
    assert said in sides[0].titles()
    healthy = not set(rules) - {"NC815"}
    assert [side.code for side in sides] == ([0, 0] if healthy else [1, 1])
    assert sides[0].handshakes == [(False, healthy)]
    assert sides[0].conclusion["sides"]["cells"] == sides[1].conclusion["sides"]["cells"]


def test_over_ipv6_alone():
    with built(ONE_NETWORK) as nodes:
        for number, node in enumerate(nodes, 1):
            shell(node, f"{NO_LINK_LOCAL} ip -4 addr flush dev eth1; ip -6 addr add fd00::{number}/64 dev eth1 nodad")
        sides = paired(nodes)
    assert [side.code for side in sides] == [0, 0]
    assert sides[0].rules == []
    assert sides[0].use == {"node-a": "eth1", "node-b": "eth1"}


def test_over_link_local_addresses_alone():
    with built(ONE_NETWORK) as nodes:
        for number, node in enumerate(nodes, 1):
            shell(node, f"{NO_LINK_LOCAL} ip -4 addr flush dev eth1; ip -6 addr add fe80::{number}/64 dev eth1 nodad")
        sides = paired(nodes)
    assert sides[0].rules == ["NC818"]
    assert "fe80::1" in sides[0].titles()
    assert [side.code for side in sides] == [0, 0]


def test_behind_a_router_that_translates_addresses():
    """node-a stands behind the router with a private address; node-b is outside and knows no way in."""
    three = Layout(
        "nat",
        "",
        (
            LabNode("router", (LabLink("in0", "inside", "192.168.7.1/24"), LabLink("out0", "outside", "10.0.0.1/24"))),
            LabNode("node-a", (LabLink("eth0", "inside", "192.168.7.2/24"),)),
            LabNode("node-b", (LabLink("eth0", "outside", "10.0.0.12/24"),)),
        ),
    )
    with built(three) as (router, inner, outer):
        shell(router, "sysctl -qw net.ipv4.ip_forward=1; " + wall("postrouting", 'oifname "out0" masquerade'))
        shell(inner, f"{NO_LINK_LOCAL} ip route add default via 192.168.7.1")
        shell(outer, NO_LINK_LOCAL)
        host, guest = paired((outer, inner))
    assert host.rules == guest.rules == ["NC808"]
    assert (
        "node-a reaches node-b only behind another address (10.0.0.1), and node-b cannot call it back" in host.titles()
    )
    assert [host.code, guest.code] == [1, 1]


ROUTED = Layout(
    "routed",
    "",
    (
        LabNode("router", (LabLink("left0", "left", "10.1.0.254/24"), LabLink("right0", "right", "10.2.0.254/24"))),
        LabNode("node-a", (LabLink("eth0", "left", "10.1.0.1/24"),)),
        LabNode("node-b", (LabLink("eth0", "right", "10.2.0.1/24"),)),
    ),
)


@pytest.mark.parametrize(
    ("narrow", "rules", "said"),
    [
        ("", [], ""),
        (
            "ip link set right0 mtu 1400; " + wall("output", "icmp type destination-unreachable drop"),
            ["NC809"],
            "the largest that pass have 1400 bytes",
        ),
    ],
    ids=["well", "MTU black hole"],
)
def test_through_a_router(narrow, rules, said):
    with built(ROUTED) as (router, left, right):
        shell(router, f"sysctl -qw net.ipv4.ip_forward=1; {narrow}")
        shell(left, f"{NO_LINK_LOCAL} ip route add default via 10.1.0.254; ip link set eth0 gso_max_segs 1")
        shell(right, f"{NO_LINK_LOCAL} ip route add default via 10.2.0.254; ip link set eth0 gso_max_segs 1")
        host, guest = paired((left, right))
    assert host.rules == guest.rules == rules
    assert said in host.titles()
    assert host.use == {"node-a": "eth0", "node-b": "eth0"}
    assert host.conclusion["sides"]["match"]["proved"] is not bool(rules)


def test_through_a_tunnel():
    with built(ONE_NETWORK) as nodes:
        for number, node in enumerate(nodes, 1):
            shell(
                node,
                f"{NO_LINK_LOCAL} ip link add vx0 type vxlan id 7 remote 10.0.0.{3 - number} dstport 4789 dev eth1;"
                f"ip addr add 10.77.0.{number}/24 dev vx0; ip link set vx0 up",
            )
        host, _ = paired(nodes)
    networks = {one["network"] for one in host.conclusion["sides"]["match"]["networks"]}
    assert networks == {"10.0.0.0/24", "10.77.0.0/24"}
    # Both work; the cable is better than the tunnel through it.
    assert host.use == {"node-a": "eth1", "node-b": "eth1"}


def test_four_nodes_and_a_wall_around_one():
    four = Layout(
        "four", "", tuple(LabNode(f"n{last}", (LabLink("eth0", "net", f"10.0.0.{last}/24"),)) for last in range(1, 5))
    )
    with built(four) as nodes:
        for node in nodes:
            shell(node, NO_LINK_LOCAL)
        shell(nodes[3], wall("input", f'ip saddr 10.0.0.2 iifname "eth0" {NEW} drop'))
        sides = paired(nodes)
    cells = sides[0].conclusion["sides"]["cells"]
    failed = {(one["caller"], one["callee"]) for one in cells if one["outcome"] != "ok" and not one["interface"]}
    assert failed == {("n2", "n4")}
    assert len({(one["caller"], one["callee"]) for one in cells}) == 12
    assert sides[0].rules == ["NC805"]
    assert {side.code for side in sides} <= {0, 1}


def test_a_guest_who_comes_late_is_waited_for():
    with built(ONE_NETWORK) as nodes:
        host, guest = paired(nodes, Wishes(late=3.0))
    assert (host.code, guest.code) == (0, 0)


def test_nobody_comes():
    with built(ONE_NETWORK) as nodes, running(nodes[0], "pair", "--limit", "1") as host:
        out, said = host.communicate(timeout=20)
    assert host.returncode == 3
    assert "ncclcheck join" in out
    assert said.splitlines()[0] == "ncclcheck: pair: nobody joined in time"


def test_a_speed_test_that_would_fill_the_memory_is_not_begun():
    me, other = sketch.nodes({"a": ("eth1 10.0.0.1/24",), "b": ("eth1 10.0.0.2/24",)})
    with ExitStack() as stack:
        own = Part(me, (me, other), stack)
        asked = messages.Measure("10.0.0.2", 29500, 1024, 1, 2, "eth1", "transfers")
        for size in (0, -1, 1 << 40):
            with pytest.raises(PeerError, match="bytes was asked for"):
                list(own.measure(msgspec.structs.replace(asked, size=size)))
        for wrong in ({"workload": "rm -rf"}, {"ranks": 3}, {"rank": 2}, {"rank": -1}):
            with pytest.raises(PeerError, match="was asked for"):
                list(own.measure(msgspec.structs.replace(asked, **wrong)))
        with pytest.raises(PeerError, match="no address of a node that takes part"):
            list(own.measure(msgspec.structs.replace(asked, address="192.0.2.1")))


def test_where_no_address_leads_there_cards_do_without():
    """Two islands: what was tried from where, and this node's card, which is enough for match."""
    with built(layout(("eth1", "lone{}", "10.0.{}.1/24"))) as nodes, running(nodes[0], "pair", "--json") as host:
        words = invited(host)
        done = finished(nodes[1], *COMMAND, *words)
        (shown,) = card.read(done.stdout)
        matched = finished(nodes[0], *COMMAND, "match", "-", given=done.stdout)
    assert done.returncode == 3
    assert "None of the other node's addresses leads there.\n  10.0.1.1: Network is unreachable" in done.stdout
    assert "Tried from: eth1 10.0.2.1" in done.stdout
    assert shown.host == "node-b"
    assert matched.returncode == 1
    assert "NC802" in matched.stdout


def guest_of(node, words, code):
    """A guest who knows the token and behaves as ``code`` says; what it printed."""
    script = (
        "import sys\n"
        "from ncclcheck.doctor.card import card\n"
        "from ncclcheck.doctor.part import HERE\n"
        "from ncclcheck.peer import invitation, knock, messages\n"
        "invited = invitation.read(tuple(sys.argv[1:]))\n"
        "door = [one for one in knock.knock(invited, ()) if isinstance(one, knock.Door)][0]\n"
        "channel, me = door.channel, card(HERE)\n"
        f"{code}\n"
    )
    return finished(node, COMMAND[0], "-c", script, *words)


RUDE_GUESTS = {
    "leaves": ("channel.send(messages.Hello(me, ''))\nchannel.close()", "the other node has ended the conversation"),
    "answers another question": (
        "channel.send(messages.Hello(me, ''))\nchannel.receive(5); channel.receive(5)\n"
        "channel.send(messages.Mended('node-b', True, ''))\nimport time; time.sleep(3)",
        "Mended came where Doors was due",
    ),
    "opens doors elsewhere": (
        "from ncclcheck.peer.calls import Door\n"
        "channel.send(messages.Hello(me, ''))\nchannel.receive(5); channel.receive(5)\n"
        "channel.send(messages.Doors((Door('node-b', 'eth1', '192.0.2.1', 22),)))\nimport time; time.sleep(5)",
        "192.0.2.1 was to be called, which is no address of a node that takes part",
    ),
    "sends garbage": (
        "channel.send(messages.Hello(me, ''))\nchannel.receive(5)\n"
        "channel._connection.sendall(b'\\xff' * 4096)\nimport time; time.sleep(3)",
        "a message of 4294967295 bytes was announced",
    ),
}


@pytest.mark.parametrize("guest", RUDE_GUESTS)
def test_a_guest_who_knows_the_token_and_misbehaves_ends_it_with_one_line(guest):
    code, said = RUDE_GUESTS[guest]
    with built(ONE_NETWORK) as nodes:
        shell(nodes[1], NO_LINK_LOCAL)
        with running(nodes[0], "pair", "--json", "--yes") as host:
            done = guest_of(nodes[1], invited(host), code)
            _, error = host.communicate(timeout=30)
        left = shell(nodes[0], "ls /etc/nccl.conf* 2>/dev/null || true")
    assert done.stderr == ""
    assert host.returncode == 3
    assert error.startswith("ncclcheck: ")
    assert said in error
    assert "Traceback" not in error
    assert left == ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
def test_when_the_host_is_ended_the_guest_says_so_and_nothing_listens_any_more(number):
    with built(NEWCOMERS) as nodes:
        with running(nodes[0], "pair", "--json", "--yes") as host:
            words = invited(host)
            with running(nodes[1], *words, "--json", "--yes") as guest:
                assert any("shook" in line for line in guest.stdout)
                # The command is a child of its entrance into the namespace, which passes SIGTERM on.
                shell(nodes[0], f"kill -{number} $(pgrep -f 'ncclcheck [p]air')")
                _, said = guest.communicate(timeout=30)
            host.communicate(timeout=10)
        listening = shell(nodes[0], "ss -Htln")
    assert guest.returncode == 3
    assert said.splitlines()[0].endswith("the other node has ended the conversation")
    assert listening == ""
