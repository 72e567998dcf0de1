"""What addresses look like, and which networks hosts share."""

from __future__ import annotations

import pytest

from ncclcheck.rulebook.networks import Place, address_look, better_than, same_network, shared_by, twins


@pytest.mark.parametrize(
    ("address", "look"),
    [
        ("127.0.0.1", "loopback"),
        ("::1", "loopback"),
        ("169.254.1.1", "link-local"),
        ("fe80::1%eth0", "link-local"),
        ("172.17.0.4", "docker"),
        ("172.18.0.1", "docker"),
        ("192.168.122.5", "virbr"),
        ("10.0.0.11", "plain"),
        ("2001:db8::1", "plain"),
        ("node-a", ""),
        ("", ""),
    ],
)
def test_address_look(address: str, look: str) -> None:
    assert address_look(address) == look


@pytest.mark.parametrize(
    ("interface", "address", "look"),
    [
        ("docker0", "10.0.0.1", "docker"),
        ("br-0123456789ab", "10.0.0.1", "docker"),
        ("virbr0", "10.0.0.1", "virbr"),
        ("tailscale0", "100.64.0.1", "tunnel"),
        ("eth0", "172.17.0.2", "docker"),
        ("eth0", "10.0.0.1", "plain"),
        ("docker0", "169.254.0.1", "link-local"),
    ],
)
def test_look_of_an_interface(interface: str, address: str, look: str) -> None:
    assert Place("a", interface, address).look == look


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (Place("a", "e", "10.0.0.1"), Place("b", "e", "10.0.0.2"), True),
        (Place("a", "e", "10.0.0.1"), Place("b", "e", "10.0.1.2"), False),
        (Place("a", "e", "10.0.0.1", 16), Place("b", "e", "10.0.1.2"), True),
        (Place("a", "e", "10.0.0.1"), Place("b", "e", "10.0.0.1"), False),
        (Place("a", "e", "10.0.0.1"), Place("b", "e", "fe80::1"), False),
        (Place("a", "e", "fe80::1%eth0"), Place("b", "e", "fe80::2%eth1"), True),
        (Place("a", "e", "node-a"), Place("b", "e", "10.0.0.1"), False),
    ],
)
def test_same_network(one: Place, other: Place, *, expected: bool) -> None:
    assert same_network(one, other) is expected


BRIDGE_A, NET_A = Place("a", "eth0", "172.17.0.2"), Place("a", "eth1", "10.0.0.1")
BRIDGE_B, NET_B = Place("b", "eth0", "172.17.0.2"), Place("b", "eth1", "10.0.0.2")
ALL = (BRIDGE_A, NET_A, BRIDGE_B, NET_B)


def test_shared_by() -> None:
    assert [shared_by(place, ALL) for place in ALL] == [False, True, False, True]
    assert shared_by(NET_A, (BRIDGE_A, NET_A)) is None


def test_one_address_on_two_hosts() -> None:
    assert twins(BRIDGE_A, ALL) == ("b",)
    assert twins(NET_A, ALL) == ()


def test_the_better_interface_is_the_shared_one() -> None:
    assert better_than(BRIDGE_A, ALL) == NET_A
    assert better_than(BRIDGE_A, (BRIDGE_A, BRIDGE_B)) is None
