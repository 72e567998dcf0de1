"""What cards alone tell, and what connections add: shared networks, twins, and the interface for each node."""

import pytest

from ncclcheck.model import Address, Cell, Interface, LinkKind, Outcome, Use
from ncclcheck.peer.match import match, mutual, shared_networks, taken
from ncclcheck.rulebook.sketch import cells, nodes

AUTODL = {"a": ("eth0 172.17.0.2/16", "eth1 10.0.0.11/24"), "b": ("eth0 172.17.0.2/16", "ens5 10.0.0.12/24")}


def uses(sketch, tried=()):
    """What is to be used, and whether that is proved."""
    found = match(nodes(sketch), cells(tried)[0])
    return {use.host: use.interface for use in found.use}, found.proved


@pytest.mark.parametrize(
    ("sketch", "expected"),
    [
        (AUTODL, {"a": "eth1", "b": "ens5"}),
        # The other way round: names decide nothing.
        (
            {"a": ("eth0 10.0.0.11/24", "eth1 172.17.0.2/16"), "b": ("eth0 10.0.0.12/24", "eth1 172.17.0.2/16")},
            {"a": "eth0", "b": "eth0"},
        ),
        # Docker's networks of two hosts have one number, and are two networks.
        (
            {
                "a": ("docker0 docker 172.17.0.1/16", "eth0 10.0.0.11/24"),
                "b": ("docker0 docker 172.17.0.1/16", "eth0 10.0.0.12/24"),
            },
            {"a": "eth0", "b": "eth0"},
        ),
        ({"a": ("eth0 10.1.0.1/24",), "b": ("eth0 10.2.0.1/24",)}, {}),
        # The faster network of two.
        (
            {
                "a": ("eth0 10.1.0.1/24 speed 1000", "eth1 10.2.0.1/24 speed 100000"),
                "b": ("eth0 10.1.0.2/24 speed 1000", "eth1 10.2.0.2/24 speed 100000"),
            },
            {"a": "eth1", "b": "eth1"},
        ),
        # What NCCL takes anyway, where nothing speaks against it.
        (
            {"a": ("eth0 10.1.0.1/24", "eth1 10.2.0.1/24"), "b": ("eth0 10.1.0.2/24", "eth1 10.2.0.2/24")},
            {"a": "eth0", "b": "eth0"},
        ),
        ({"a": ("eth0 10.0.0.1/24 down",), "b": ("eth0 10.0.0.2/24",)}, {}),
        ({"a": ("eth0 fd00::1/64",), "b": ("eth0 fd00::2/64",)}, {"a": "eth0", "b": "eth0"}),
        # An interface with IPv4 is never used by its IPv6 address …
        ({"a": ("eth0 10.1.0.1/24 fd00::1/64",), "b": ("eth0 fd00::2/64",)}, {}),
        # … unless NCCL is told to.
        (
            {"a": ("eth0 10.1.0.1/24 fd00::1/64", "NCCL_SOCKET_FAMILY=AF_INET6"), "b": ("eth0 fd00::2/64",)},
            {"a": "eth0", "b": "eth0"},
        ),
        # The shared address comes second: NCCL never uses it.
        ({"a": ("eth0 10.1.0.1/24 10.2.0.1/24",), "b": ("eth0 10.2.0.2/24",)}, {}),
        # Prefix lengths that differ still make a network, if each sees the other in it.
        ({"a": ("eth0 10.0.0.1/24",), "b": ("eth0 10.0.0.2/16",)}, {"a": "eth0", "b": "eth0"}),
        ({"a": ("eth0 10.0.1.1/24",), "b": ("eth0 10.0.0.2/16",)}, {}),
        # Every link has these addresses, so they show nothing.
        ({"a": ("eth0 fe80::1/64",), "b": ("eth0 fe80::2/64",)}, {}),
        ({"a": ("eth0 169.254.0.1/16",), "b": ("eth0 169.254.0.2/16",)}, {}),
    ],
)
def test_by_the_cards_alone(sketch, expected):
    assert uses(sketch) == (expected, False)


@pytest.mark.parametrize(
    ("tried", "expected"),
    [
        (("a > b ens5 10.0.0.12 ok", "b > a eth1 10.0.0.11 ok"), ({"a": "eth1", "b": "ens5"}, True)),
        (("a > b ens5 10.0.0.12 dropped", "b > a eth1 10.0.0.11 ok"), ({"a": "eth1", "b": "ens5"}, False)),
        (("a > b ens5 10.0.0.12 ok",), ({"a": "eth1", "b": "ens5"}, False)),
    ],
)
def test_connections_prove_or_disprove(tried, expected):
    assert uses(AUTODL, tried) == expected


def test_what_works_beats_what_should():
    sketch = {
        "a": ("eth0 10.1.0.1/24 speed 100000", "eth1 10.2.0.1/24 speed 1000"),
        "b": ("eth0 10.1.0.2/24 speed 100000", "eth1 10.2.0.2/24 speed 1000"),
    }
    tried = (
        *("a > b eth0 10.1.0.2 dropped", "b > a eth0 10.1.0.1 ok"),
        *("a > b eth1 10.2.0.2 ok", "b > a eth1 10.2.0.1 ok"),
    )
    assert uses(sketch)[0] == {"a": "eth0", "b": "eth0"}
    assert uses(sketch, tried) == ({"a": "eth1", "b": "eth1"}, True)


def test_a_router_between_is_found_by_trying():
    sketch = {"a": ("eth0 10.1.0.1/24",), "b": ("eth0 10.2.0.1/24",)}
    assert uses(sketch) == ({}, False)
    tried = ("a > b eth0 10.2.0.1 ok", "b > a eth0 10.1.0.1 ok")
    assert uses(sketch, tried) == ({"a": "eth0", "b": "eth0"}, True)


def test_link_local_addresses_count_where_they_were_tried():
    sketch = {"a": ("eth1 fe80::1/64",), "b": ("eth1 fe80::2/64",)}
    tried = ("a > b eth1 fe80::2 ok", "b > a eth1 fe80::1 ok")
    assert uses(sketch, tried) == ({"a": "eth1", "b": "eth1"}, True)


def test_four_nodes_need_one_network_for_all():
    sketch = {
        str(number): (f"eth0 10.0.0.{number}/24", f"eth1 10.9.{number // 3}.{number}/24") for number in range(1, 5)
    }
    assert uses(sketch)[0] == dict.fromkeys("1234", "eth0")


def test_networks_are_listed_with_their_members_those_of_most_nodes_first():
    sketch = {
        "a": ("eth0 10.1.0.1/24", "eth1 10.0.0.1/24"),
        "b": ("eth0 10.1.0.2/24", "eth1 10.0.0.2/24"),
        "c": ("eth1 10.0.0.3/24",),
    }
    found = shared_networks(nodes(sketch))
    assert [(one.network, [member.host for member in one.members]) for one in found] == [
        ("10.0.0.0/24", ["a", "b", "c"]),
        ("10.1.0.0/24", ["a", "b"]),
    ]


def test_a_twin_is_in_no_network():
    found = shared_networks(nodes(AUTODL))
    assert [(one.network, len(one.members)) for one in found] == [("10.0.0.0/24", 2)]


@pytest.mark.parametrize(
    ("sketch", "because"),
    [
        ({"a": ("eth0 10.0.0.1/24",)}, "one node alone shares nothing"),
        ({"a": ("eth0 10.0.0.1/24",), "b": ()}, "b has no address but loopback"),
        ({"a": ("eth0 10.1.0.1/24",), "b": ("eth0 10.2.0.1/24",)}, "no two of their addresses are in one network"),
        ({"a": ("eth0 10.1.0.1/24 10.2.0.1/24",), "b": ("eth0 10.2.0.2/24",)}, "no network holds an address"),
    ],
)
def test_where_nothing_fits_it_says_why(sketch, because):
    assert because in match(nodes(sketch)).because


def test_many_interfaces_are_weighed_in_no_time():
    sketch = {
        host: tuple(f"eth{number} 10.{number}.0.{last}/24" for number in range(200))
        for host, last in (("a", 1), ("b", 2))
    }
    assert uses(sketch)[0] == {"a": "eth0", "b": "eth0"}


def test_the_address_that_nccl_takes():
    both = (Address("fd00::1", 64), Address("10.0.0.1", 24, "eth0:1"), Address("10.0.0.2", 24))
    link = Interface("eth0", 2, LinkKind.ETHERNET, True, True, 1500, None, both)
    assert [taken(link, family).address for family in ("", "AF_INET", "AF_INET6")] == [
        "10.0.0.2",
        "10.0.0.2",
        "fd00::1",
    ]


def test_families_never_share():
    assert not mutual(Address("10.0.0.1", 0), Address("fd00::1", 0))


def test_an_interface_that_fails_is_still_named_where_there_is_no_other():
    found = match(nodes(AUTODL), (Cell("a", "", "b", "ens5", "10.0.0.12", Outcome.DROPPED),))
    assert found.use == (Use("a", "eth1", "10.0.0.11"), Use("b", "ens5", "10.0.0.12"))
    assert found.because == "they share 10.0.0.0/24 by their addresses, but a did not get through to b"
