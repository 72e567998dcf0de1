"""What NCCL would choose with other variables: table by table."""

from __future__ import annotations

import pytest

from ncclcheck.model import Address, Change, Facts, Interface, LinkKind, Setting, Trouble
from ncclcheck.node.whatif import change, rests_on_a_name, what_if

LINKS = (
    Interface("lo", 1, LinkKind.LOOPBACK, True, True, 65536, None, (Address("127.0.0.1", 8),)),
    Interface("eth0", 2, LinkKind.VETH, True, True, 1500, None, (Address("172.17.0.4", 16),)),
    Interface("eth1", 3, LinkKind.ETHERNET, True, True, 1500, None, (Address("10.0.0.5", 24),)),
)
SITE = "/etc/nccl.conf"
FACTS = Facts(
    "node-a",
    LINKS,
    settings=(
        Setting("NCCL_SOCKET_IFNAME", "=eth0", "environment"),
        Setting("NCCL_SOCKET_IFNAME", "=eth1", SITE, line=1, wins=False),
    ),
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("NCCL_SOCKET_IFNAME==eth1", Change("NCCL_SOCKET_IFNAME", "=eth1")),
        ("NCCL_SOCKET_IFNAME=", Change("NCCL_SOCKET_IFNAME", "")),
        ("NCCL_SOCKET_IFNAME-", Change("NCCL_SOCKET_IFNAME", None)),
        ("NCCL_SOCKET_IFNAME", None),
        ("=x", None),
        ("-NCCL_DEBUG", None),
        ("A=\0", None),
    ],
)
def test_how_a_change_is_written(text: str, expected: Change | None) -> None:
    assert change(text) == expected


@pytest.mark.parametrize(
    ("changes", "interface", "code", "troubles"),
    [
        ("NCCL_SOCKET_IFNAME==eth1", "eth1", 0, []),
        ("NCCL_SOCKET_IFNAME=eth1 # mine", None, 3, [Trouble.COMMENT]),
        ("NCCL_SOCKET_IFNAME=", "eth0", 0, [Trouble.EMPTY]),
        ("NCCL_SOCKET_IFNAME-", "eth1", 0, []),
        ("NCCL_SOCKET_IFNAME=^docker", "lo", 0, [Trouble.EXCLUSION]),
        ("NCCL_COMM_ID=10.0.0.9:5000", "eth1", 0, []),
        ("NCCL_DEBUG=on", "eth0", 0, [Trouble.SILENCED]),
    ],
)
def test_the_choice_with_a_change(changes: str, interface: str | None, code: int, troubles: list[Trouble]) -> None:
    made = change(changes)
    assert made is not None

    answer = what_if(FACTS, (made,), "2.18.3")

    assert answer.choice is not None
    assert (answer.choice.interface, answer.choice.code) == (interface, code)
    assert [one.trouble for one in answer.troubles] == troubles


def test_the_data_network_follows_and_what_is_unusual_is_said() -> None:
    answer = what_if(FACTS, (Change("NCCL_SOCKET_IFNAME", "eth"),), "2.29.7")

    assert answer.sockets is not None
    assert [one.interface for one in answer.sockets.candidates if one.taken] == ["eth0", "eth1"]
    assert [remark.partition(" ")[0] for remark in answer.remarks] == ["172.17.0.4", "without", "NCCL_SOCKET_IFNAME"]


@pytest.mark.parametrize(
    ("made", "remark"),
    [
        (Change("NCCL_IB_DISABLE", None), "NCCL_IB_DISABLE is not set anyway"),
        (
            Change("NCCL_SOCKET_IFNAME", "=eth0"),
            "NCCL_SOCKET_IFNAME has that value already, from environment",
        ),
        (
            Change("NCCL_CONF_FILE", "/x"),
            "NCCL_CONF_FILE decides which nccl.conf is read; this answer still rests on the files read now",
        ),
    ],
)
def test_what_is_said_of_a_change_that_does_less_than_it_seems(made: Change, remark: str) -> None:
    assert what_if(FACTS, (made,), "2.29.7").remarks[0] == remark


def test_without_interfaces_nothing_is_chosen() -> None:
    answer = what_if(Facts("mac", ()), (Change("NCCL_SOCKET_IFNAME", "e"),), "2.29.7")

    assert (answer.choice, answer.sockets) == (None, None)
    assert [one.trouble for one in answer.troubles] == [Trouble.TOO_SHORT]


@pytest.mark.parametrize(
    ("value", "answer"),
    [("node-a:5000", True), ("10.0.0.9:5000", False), ("[fd00::1]:5", False), ("", False), ("x", False)],
)
def test_whether_a_name_has_to_be_looked_up(value: str, answer: bool) -> None:
    assert rests_on_a_name(FACTS, (Change("NCCL_COMM_ID", value),)) is answer
