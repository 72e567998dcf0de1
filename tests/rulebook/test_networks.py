"""What addresses look like, and which networks hosts share."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncclcheck.rulebook.networks import POOR, Place, Places, address_look, in_pool, same_network


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
ALL = Places((BRIDGE_A, NET_A, BRIDGE_B, NET_B))


def test_shared_by() -> None:
    assert [ALL.shared_by(place) for place in ALL] == [False, True, False, True]
    assert Places((BRIDGE_A, NET_A)).shared_by(NET_A) is None


def test_one_address_on_two_hosts() -> None:
    assert ALL.twins(BRIDGE_A) == ("b",)
    assert ALL.twins(NET_A) == ()


def test_the_better_interface_is_the_shared_one() -> None:
    assert ALL.better_than(BRIDGE_A) == NET_A
    assert Places((BRIDGE_A, BRIDGE_B)).better_than(BRIDGE_A) is None


def test_two_hosts_of_one_address_do_not_hide_each_other() -> None:
    places = Places(Place(host, "eth0", "10.0.0.1") for host in "abc")
    assert [places.shared_by(place) for place in places] == [False, False, False]
    assert [places.twins(place) for place in places] == [("b", "c"), ("a", "c"), ("a", "b")]
    fourth = Place("b", "eth1", "10.0.0.2")
    assert Places((*places, fourth)).peer_of(fourth) == Place("a", "eth0", "10.0.0.1")


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("172.16.255.255", False),
        ("172.17.0.0", True),
        ("172.31.255.255", True),
        ("172.32.0.0", False),
        ("fe80::1", False),
        ("node-a", False),
    ],
)
def test_docker_pools(address: str, *, expected: bool) -> None:
    assert in_pool(address) is expected


PLACES = st.lists(
    st.builds(
        Place,
        host=st.sampled_from("abc"),
        interface=st.sampled_from(("eth0", "eth1", "docker0")),
        address=st.sampled_from(("10.0.0.1", "10.0.0.2", "10.0.1.1", "fe80::1%eth0", "fe80::2", "2001:db8::1", "")),
        prefix=st.sampled_from((None, 8, 16, 32)),
        roles=st.sampled_from((frozenset[str](), frozenset({"data"}))),
        named=st.booleans(),
    ),
    min_size=1,
    unique_by=lambda place: (place.host, place.interface, place.address),
)


@given(PLACES)
def test_the_indexes_answer_as_asking_each_other_place_does(listed: list[Place]) -> None:
    places = Places(listed)
    for place in listed:
        others = [other for other in listed if other.host != place.host]
        beside = any(same_network(place, other) for other in others)
        assert places.shared_by(place) == (beside if others else None)
        assert places.peer_of(place) == next((other for other in others if same_network(other, place)), None)
        twins = {other.host for other in others if other.address == place.address and other.named and place.named}
        assert (places.twins(place), places.has_twin(place)) == (tuple(sorted(twins)), bool(twins))
        assert places.better_than(place) == _better(place, listed)


def _better(place: Place, listed: list[Place]) -> Place | None:
    """What better_than() answers, place by place."""
    places = Places(listed)
    fit = [p for p in listed if p.interface != place.interface and p.look not in POOR and not places.twins(p)]
    mine = sorted(
        (p for p in fit if p.host == place.host), key=lambda p: (True, None, False).index(places.shared_by(p))
    )
    elsewhere = (Place(place.host, p.interface, "") for p in fit if p.host != place.host and p.roles)
    return next(iter((*mine, *elsewhere)), None)
