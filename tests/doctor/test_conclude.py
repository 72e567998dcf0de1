"""What follows from several nodes, whatever they claim to be."""

from dataclasses import replace

import pytest

from ncclcheck.doctor.conclude import conclude
from ncclcheck.errors import PeerError
from ncclcheck.model import Address, Choice, Verdict
from ncclcheck.peer import card
from ncclcheck.rulebook.sketch import cells, nodes

TWO = {"a": ("eth0 172.17.0.2/16", "eth1 10.0.0.11/24"), "b": ("eth0 172.17.0.2/16", "ens5 10.0.0.12/24")}


def test_each_node_has_one_fix_of_its_own():
    known = conclude(nodes(TWO))
    fixes = {host: known.fix_for(host) for host in ("a", "b", "c")}
    assert {host: fix and fix.env for host, fix in fixes.items()} == {
        "a": (("NCCL_SOCKET_IFNAME", "=eth1"),),
        "b": (("NCCL_SOCKET_IFNAME", "=ens5"),),
        "c": None,
    }
    assert not known.settled


def test_connections_turn_likely_into_certain():
    tried = ("a > b ens5 10.0.0.12 ok", "b > a eth1 10.0.0.11 ok", "b > a eth0 172.17.0.2 refused")
    lone = {"a": ("eth0 10.7.0.2/24", "eth1 10.0.0.11/24"), "b": ("ens5 10.0.0.12/24",)}
    tried_too = (*tried[:2], "b > a eth0 10.7.0.2 dropped")
    before, after = conclude(nodes(lone)), conclude(nodes(lone), cells(tried_too)[0])
    sure = [[finding.confidence.name for finding in one.diagnosis.findings] for one in (before, after)]
    assert sure == [["LIKELY"], ["CERTAIN"]]


@pytest.mark.parametrize(
    "choice", [Choice("2.29.7", "eth0", "10.9.9.9", "odd"), Choice("2.29.7", "eth9", "fe80::1%x", "")]
)
def test_a_node_that_does_not_fit_together_is_no_obstacle(choice):
    first, second = nodes(TWO)
    assert conclude((first, replace(second, choice=choice))).diagnosis.verdict is Verdict.PROBLEM


def test_what_is_no_fact_does_not_come_in():
    _, second = nodes(TWO)
    odd = replace(second.interfaces[1], addresses=(Address("nonsense", 24),))
    with pytest.raises(PeerError):
        card.checked(replace(second, interfaces=(odd,)))
    assert card.checked(second).host == "b"
