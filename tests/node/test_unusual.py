"""Remarks on a node that is not wrong in itself."""

from __future__ import annotations

import pytest

from ncclcheck.model import Address, Candidate, Choice, Facts, Interface, LinkKind, Setting
from ncclcheck.node.unusual import interface_of, unusual


def link(name: str, kind: LinkKind, address: str, running: bool = True, mtu: int = 1500) -> Interface:
    return Interface(name, 2, kind, up=True, running=running, mtu=mtu, speed=None, addresses=(Address(address, 24),))


def facts(*links: Interface, settings: tuple[Setting, ...] = (), sockets: Choice | None = None) -> Facts:
    first = links[0]
    choice = Choice("2.29.7", first.name, first.addresses[0].address, "")
    return Facts(host="a", interfaces=links, choice=choice, settings=settings, sockets=sockets)


@pytest.mark.parametrize(
    ("node", "remarks"),
    [
        (facts(link("eth0", LinkKind.ETHERNET, "10.0.0.5")), ()),
        (
            facts(link("lo", LinkKind.LOOPBACK, "127.0.0.1")),
            ("lo is the loopback interface: no other machine can call it",),
        ),
        (
            facts(link("docker0", LinkKind.DOCKER, "172.17.0.1")),
            ("docker0 is a bridge of Docker's: other machines cannot call it",),
        ),
        (
            facts(link("eth0", LinkKind.VETH, "172.17.0.4")),
            (
                "172.17.0.4 on eth0 lies in 172.17.0.0/16, which Docker uses on every host by default:"
                " inside a container such an address is usually seen by this host alone",
            ),
        ),
        (
            facts(link("eth0", LinkKind.ETHERNET, "fe80::1")),
            ("fe80::1 on eth0 is link-local: only machines on the very same wire can call it",),
        ),
        (
            facts(link("eth0", LinkKind.ETHERNET, "10.0.0.5", running=False)),
            ("eth0 is down or has no carrier, and NCCL before 2.28 takes it all the same",),
        ),
        (
            facts(link("eth0", LinkKind.ETHERNET, "10.0.0.5", mtu=9000), link("eth1", LinkKind.ETHERNET, "10.1.0.5")),
            ("interfaces differ in MTU (eth0 9000, eth1 1500): both ends of a path must have the same",),
        ),
    ],
)
def test_remarks(node: Facts, remarks: tuple[str, ...]) -> None:
    assert unusual(node) == remarks


def test_more_than_one_data_interface_is_remarked_on() -> None:
    taken = tuple(Candidate(name, address, True, "") for name, address in (("eth0", "10.0.0.5"), ("eth1", "10.1.0.5")))
    node = facts(
        link("eth0", LinkKind.ETHERNET, "10.0.0.5"), sockets=Choice("2.29.7", "eth0", "10.0.0.5", "", candidates=taken)
    )

    assert unusual(node) == (
        "without InfiniBand, data will go over all of eth0 (10.0.0.5), eth1 (10.1.0.5):"
        " each of them must reach the other nodes",
    )


def test_a_hidden_setting_is_remarked_on() -> None:
    settings = (
        Setting("NCCL_DEBUG", "", "environment"),
        Setting("NCCL_DEBUG", "INFO", "/etc/nccl.conf", line=1, wins=False),
    )

    assert unusual(facts(link("eth0", LinkKind.ETHERNET, "10.0.0.5"), settings=settings)) == (
        "NCCL_DEBUG in /etc/nccl.conf does not count: environment has an empty value",
    )


@pytest.mark.parametrize(("value", "said"), [("1", True), ("1  # on", True), ("0", False), ("", False), ("on", False)])
def test_the_out_of_band_network_is_remarked_on(value: str, said: bool) -> None:
    settings = (
        Setting("NCCL_OOB_NET_ENABLE", value, "environment"),
        Setting("NCCL_OOB_NET_IFNAME", "mlx5_0", "environment"),
    )

    remarks = unusual(facts(link("eth0", LinkKind.ETHERNET, "10.0.0.5"), settings=settings))

    text = (
        "NCCL_OOB_NET_ENABLE is on: a part of the start-up goes over mlx5_0, yet the ranks still find"
        " each other by TCP over eth0"
    )
    assert remarks == ((text,) if said else ())


def test_nothing_is_remarked_on_where_nothing_is_chosen() -> None:
    assert unusual(Facts(host="a", interfaces=())) == ()
    assert unusual(Facts(host="a", interfaces=(), choice=Choice("2.29.7", None, None, "", code=5))) == ()


def test_a_label_belongs_to_its_interface() -> None:
    node = facts(link("eth0", LinkKind.ETHERNET, "10.0.0.5"))

    assert interface_of(node, "eth0:1") == node.interfaces[0]
    assert interface_of(node, "eth7") is None
