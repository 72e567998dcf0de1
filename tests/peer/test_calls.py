"""Which connections are tried: literal facts in, calls out."""

from __future__ import annotations

import pytest

from ncclcheck.model import Address, Facts, Interface, LinkKind
from ncclcheck.peer.calls import MOST_CALLS, Call, Door, calls_of, doors_of, listening_addresses


def link(name, index, *addresses, kind=LinkKind.ETHERNET, up=True):
    """An interface; addresses with their prefix length."""
    pairs = [address.split("/") for address in addresses]
    found = tuple(Address(address, int(prefix)) for address, prefix in pairs)
    return Interface(name, index, kind, up, up, 1500, None, found)


LOOPBACK = link("lo", 1, "127.0.0.1/8", "::1/128", kind=LinkKind.LOOPBACK)
DOCKER = link("eth0", 2, "172.17.0.2/16")
SHARED = link("eth1", 3, "10.0.0.1/24", "fd00::1/64", "fe80::1/64")
DOWN = link("eth2", 4, "10.2.0.1/24", up=False)
UNKNOWN = link("eth3", 5, "10.3.0.1/24", up=None)
ME = Facts("node-a", (LOOPBACK, DOCKER, SHARED, DOWN))


def test_it_listens_on_all_addresses_that_nccl_might_take():
    facts = Facts("node-a", (*ME.interfaces, UNKNOWN))
    assert listening_addresses(facts) == ("172.17.0.2", "10.0.0.1", "fd00::1", "10.3.0.1")


def test_doors_are_the_addresses_with_their_ports():
    ports = (("10.0.0.1", 41000), ("fe80::1%eth1", 41001), ("192.0.2.1", 41002))
    assert doors_of(ME, ports) == (
        Door("node-a", "eth1", "10.0.0.1", 41000, 3),
        Door("node-a", "eth1", "fe80::1%eth1", 41001, 3),
    )


def test_each_interface_calls_and_so_does_the_kernel_by_itself():
    door = Door("node-b", "eth5", "10.0.0.2", 41000, 7)
    assert calls_of(ME, (door,)) == (
        Call("", "", "node-b", "eth5", "10.0.0.2", 41000),
        Call("eth1", "10.0.0.1", "node-b", "eth5", "10.0.0.2", 41000),
        Call("eth0", "172.17.0.2", "node-b", "eth5", "10.0.0.2", 41000),
    )


def test_ipv6_is_called_from_ipv6():
    door = Door("node-b", "eth5", "fd00::2", 41000, 7)
    assert calls_of(ME, (door,)) == (
        Call("", "", "node-b", "eth5", "fd00::2", 41000),
        Call("eth1", "fd00::1", "node-b", "eth5", "fd00::2", 41000),
    )


def test_a_link_local_address_is_called_on_a_link_of_ours():
    door = Door("node-b", "eth5", "fe80::2%eth5", 41000, 7)
    # NCCL takes the number of the callee's interface for one of its own.
    assert calls_of(ME, (door,)) == (
        Call("", "", "node-b", "eth5", "fe80::2%7", 41000),
        Call("eth1", "fe80::1%eth1", "node-b", "eth5", "fe80::2%eth1", 41000),
    )


def test_without_the_number_of_the_callees_interface_there_is_no_unbound_call():
    door = Door("node-b", "eth5", "fe80::2%eth5", 41000)
    assert [call.interface for call in calls_of(ME, (door,))] == ["eth1"]


def test_the_own_address_in_the_callees_subnet_is_taken():
    me = Facts("node-a", (link("eth0", 2, "192.168.0.1/24", "10.0.0.1/24"),))
    calls = calls_of(me, (Door("node-b", "eth5", "10.0.0.2", 41000),))
    assert [call.source for call in calls] == ["", "10.0.0.1"]


def test_own_doors_are_not_called():
    assert calls_of(ME, (Door("node-a", "eth1", "10.0.0.1", 41000, 3),)) == ()


@pytest.mark.parametrize(("nodes", "number"), [(3, 9), (200, MOST_CALLS)])
def test_what_tells_most_comes_first_and_the_number_is_bounded(nodes, number):
    doors = tuple(Door(f"node-{node}", "eth1", f"10.0.0.{node + 10}", 41000, 3) for node in range(nodes))
    calls = calls_of(ME, doors)
    assert len(calls) == number
    expected = ([""] * nodes + ["eth1"] * nodes + ["eth0"] * nodes)[:number]
    assert [call.interface for call in calls] == expected
