"""What the kernel says of interfaces: real ones in a namespace, and messages for links that are rare."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ncclcheck.model import Address, Interface, LinkKind, Unknown
from ncclcheck.node import interfaces
from ncclcheck.node.interfaces import Dump
from ncclcheck.node.linkkind import kind_of
from tests.node.namespace import run
from tests.yardstick import within

READ = """
import msgspec, sys
from ncclcheck.node import interfaces
sys.stdout.buffer.write(msgspec.json.encode(interfaces.read()[0]))
"""

SETUP = """
echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad
ip link set lo up
ip link add docker0 type bridge
ip addr add 172.17.0.1/16 dev docker0
ip link add br-1a2b3c4d5e6f type bridge
ip link add virbr0 type bridge
ip link add br0 type bridge
ip link add eth0 mtu 9000 type veth peer name far
ip addr add 10.0.0.5/24 dev eth0
ip addr add 10.0.0.6/24 label eth0:1 dev eth0
ip link set eth0 up
ip tuntap add tun0 mode tun
ip addr add 10.9.0.1 peer 10.9.0.2 dev tun0
ip link add vx0 type vxlan id 5 dstport 4789
"""


def test_real_interfaces_by_index_with_their_kind_and_state() -> None:
    found = msgspec.json.decode(run(SETUP, READ), type=tuple[Interface, ...])

    lo, *others = found
    assert lo == Interface(
        name="lo",
        index=1,
        kind=LinkKind.LOOPBACK,
        up=True,
        running=True,
        mtu=65536,
        speed=None,
        addresses=(Address("127.0.0.1", 8), Address("::1", 128)),
        speed_unknown="it has no wire",
    )
    assert [link.index for link in found] == sorted(link.index for link in found)
    assert {(link.name, link.kind, link.up, link.running, link.mtu, link.addresses) for link in others} >= {
        ("docker0", LinkKind.DOCKER, False, False, 1500, (Address("172.17.0.1", 16),)),
        ("br-1a2b3c4d5e6f", LinkKind.DOCKER, False, False, 1500, ()),
        ("virbr0", LinkKind.VIRBR, False, False, 1500, ()),
        ("br0", LinkKind.BRIDGE, False, False, 1500, ()),
        ("eth0", LinkKind.VETH, True, False, 9000, (Address("10.0.0.5", 24), Address("10.0.0.6", 24, label="eth0:1"))),
        ("far", LinkKind.VETH, False, False, 1500, ()),
        ("tun0", LinkKind.TUNNEL, False, False, 1500, (Address("10.9.0.1", 32),)),
        ("vx0", LinkKind.TUNNEL, False, False, 1500, ()),
    }


def test_two_hundred_interfaces_take_less_than_a_third_of_a_second() -> None:
    setup = (
        "for n in $(seq 100); do echo link add a$n type veth peer name b$n; echo addr add 10.0.$n.1/24 dev a$n; done"
    )
    code = """
import time
from ncclcheck.node import interfaces
times = []
for _ in range(5):
    started = time.monotonic()
    found, _ = interfaces.read()
    times.append(time.monotonic() - started)
print(len([link for link in found if link.name[0] in "ab"]), min(times))
"""
    count, seconds = run(f"({setup}) | ip -batch -", code).split()
    assert count == "200"
    assert within(0.3, float(seconds))


class Message(dict[str, Any]):
    """A netlink message as pyroute2 gives it: fields by key, attributes by name."""

    def get_attr(self, name: str) -> Any:
        return self.get(name)


def link(name: str, hardware: int = 1, driver: str | None = None) -> Message:
    about = Message(IFLA_INFO_KIND=driver) if driver else None
    return Message(index=7, flags=0x1043, ifi_type=hardware, IFLA_IFNAME=name, IFLA_MTU=1500, IFLA_LINKINFO=about)


@pytest.mark.parametrize(
    ("message", "marks", "kind"),
    [
        (link("eth0"), (), LinkKind.ETHERNET),
        (link("wlp2s0"), ("wireless",), LinkKind.WIRELESS),
        (link("wlan0"), ("phy80211",), LinkKind.WIRELESS),
        (link("br7"), ("bridge",), LinkKind.BRIDGE),
        (link("docker_gwbridge"), ("bridge",), LinkKind.DOCKER),
        (link("bond0"), ("bonding",), LinkKind.BOND),
        (link("bond0", driver="bond"), (), LinkKind.BOND),
        (link("eth0.5", driver="vlan"), (), LinkKind.VLAN),
        (link("ib0", hardware=32), (), LinkKind.IPOIB),
        (link("ib0.8001", hardware=32, driver="ipoib"), (), LinkKind.IPOIB),
        (link("wg0", hardware=65534, driver="wireguard"), (), LinkKind.TUNNEL),
        (link("utun3", hardware=65534), (), LinkKind.TUNNEL),
        (link("br-0123456789abc", driver="bridge"), (), LinkKind.BRIDGE),
        (link("docker0", driver="veth"), (), LinkKind.VETH),
        (link("dummy0", driver="dummy"), (), LinkKind.OTHER),
        (link("can0", hardware=280), (), LinkKind.OTHER),
    ],
    ids=lambda value: value["IFLA_IFNAME"] if isinstance(value, Message) else None,
)
def test_the_kind_is_what_the_kernel_says(
    message: Message, marks: tuple[str, ...], kind: LinkKind, tmp_path: Path
) -> None:
    for mark in marks:
        (tmp_path / mark).mkdir()

    assert kind_of(message, message["IFLA_IFNAME"], tmp_path) is kind


def in_sysfs(
    folder: Path, name: str = "eth0", index: str = "7", speed: str = "25000\n", driver: str = "mlx5_core"
) -> Path:
    """A link in a /sys of our own."""
    (folder / name / "device").mkdir(parents=True)
    (folder / name / "ifindex").write_text(index)
    (folder / name / "speed").write_text(speed)
    if driver:
        (folder / name / "device/driver").symlink_to(f"/sys/bus/pci/drivers/{driver}")
    return folder / name


@pytest.mark.parametrize(
    ("index", "text", "driver", "answer"),
    [
        ("7", "25000\n", "mlx5_core", (25000, "")),
        ("7", "-1\n", "mlx5_core", (None, "its driver does not tell, as without carrier")),
        ("8", "25000\n", "mlx5_core", (None, "no hardware is to be seen behind it")),
        ("7", "10000\n", "", (None, "no hardware is to be seen behind it")),
        (
            "7",
            "10000\n",
            "virtio_net",
            (None, "its driver virtio_net is that of a virtual machine and reports what the host was told to say"),
        ),
    ],
)
def test_the_speed_counts_only_where_hardware_tells_it(
    tmp_path: Path, index: str, text: str, driver: str, answer: tuple[int | None, str]
) -> None:
    in_sysfs(tmp_path, index=index, speed=text, driver=driver)

    (found,) = interfaces.from_dump(Dump((link("eth0"),), ()), tmp_path)

    assert (found.speed, found.speed_unknown) == answer
    assert found.driver == (driver or None if index == "7" else None)


@pytest.mark.parametrize(("second", "speed"), [("mlx5_core", 50000), ("virtio_net", None)])
def test_a_bond_is_as_real_as_the_links_below_it(tmp_path: Path, second: str, speed: int | None) -> None:
    bond = in_sysfs(tmp_path, "bond0", speed="50000", driver="")
    for name, driver in (("eth0", "mlx5_core"), ("eth1", second)):
        (bond / f"lower_{name}").symlink_to(in_sysfs(tmp_path, name, driver=driver))

    (found,) = interfaces.from_dump(Dump((link("bond0", driver="bond"),), ()), tmp_path)

    assert (found.speed, found.driver) == (speed, "bond")


MEMBERS = """
ip link add br0 type bridge
ip link add v1 type veth peer name far1
ip link add v2 type veth peer name far2
ip link set v1 master br0
ip link set v2 master br0
"""


def test_a_bridge_has_members_and_a_made_up_speed_is_not_told() -> None:
    found = {one.name: one for one in msgspec.json.decode(run(MEMBERS, READ), type=tuple[Interface, ...])}

    assert (set(found["br0"].members), found["v1"].master, found["br0"].driver) == ({"v1", "v2"}, "br0", "bridge")
    assert (found["v1"].speed, found["v1"].driver) == (None, "veth")
    assert found["v1"].speed_unknown == "a veth pair has no wire; the number that it reports is made up"


def test_without_netlink_the_answer_is_unknown() -> None:
    def nothing() -> Dump:
        raise ModuleNotFoundError("pyroute2")

    def refused() -> Dump:
        raise PermissionError(1, "Operation not permitted")

    assert interfaces.read(ask=nothing) == (
        (),
        (Unknown("interfaces", "netlink: this system has none, so only Linux can be looked at"),),
    )
    assert interfaces.read(ask=refused) == (
        (),
        (Unknown("interfaces", "an answer of the kernel (netlink): Operation not permitted"),),
    )


def test_importing_the_room_does_not_load_pyroute2() -> None:
    code = "import sys, ncclcheck.node.interfaces, ncclcheck.cli.node; print('pyroute2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
