"""Pasted interface lists, also as web pages and terminals leave them."""

from __future__ import annotations

import pytest

from ncclcheck.logs.pasted import InterfaceReader
from ncclcheck.model import Facts, Where


def read(text: str) -> Facts | None:
    """What one pasted text describes."""
    reader = InterfaceReader()
    for number, line in enumerate(text.splitlines(), 1):
        reader.take(Where("pasted", number), line)
    return reader.facts()


IP_A = """
root@node-a:~# ip a
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
    inet 127.0.0.1/8 scope host lo
       valid_lft forever preferred_lft forever
    inet6 ::1/128 scope host
2: eth0@if5: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    inet 172.17.0.3/16 brd 172.17.255.255 scope global eth0
3: eth1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP
    inet 10.0.0.11/24 brd 10.0.0.255 scope global dynamic eth1
    inet 10.0.0.99/24 scope global secondary eth1:1
4: eth2: <NO-CARRIER,BROADCAST,MULTICAST> mtu 1500 state DOWN
"""
FLATTENED = (
    r"1: lo: \<LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN inet 127 0 0 1/8 scope host lo "
    r"2: eth0@if7: \<BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 inet 172 17 0 4/16 brd 172 17 255 255 scope global eth0 "
    r"3: eth1: \<BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 inet 10 0 0 12/24 scope global eth1"
)
BRIEF = """
lo               UNKNOWN        127.0.0.1/8 ::1/128
eth0             UP             10.0.0.11/24 fe80::1/64
eth1             DOWN           10.1.0.11/24
"""
IFCONFIG = """
eth0: flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 1500
        inet 172.17.0.4  netmask 255.255.0.0  broadcast 172.17.255.255
        inet6 fe80::42:acff:fe11:4  prefixlen 64  scopeid 0x20<link>
lo: flags=73<UP,LOOPBACK,RUNNING>  mtu 65536
        inet 127.0.0.1  netmask 255.0.0.0
"""
OLD_IFCONFIG = """
eth0      Link encap:Ethernet  HWaddr 02:42:ac:11:00:04
          inet addr:172.17.0.4  Bcast:172.17.255.255  Mask:255.255.0.0
"""
MACOS = """
en0: flags=8863<UP,BROADCAST,SMART,RUNNING,SIMPLEX,MULTICAST> mtu 1500
\tinet 192.168.1.7 netmask 0xffffff00 broadcast 192.168.1.255
"""

LO = ("lo", ("127.0.0.1/8",))


@pytest.mark.parametrize(
    ("text", "host", "expected"),
    [
        (
            IP_A,
            "node-a",
            (
                ("lo", ("127.0.0.1/8", "::1/128")),
                ("eth0", ("172.17.0.3/16",)),
                ("eth1", ("10.0.0.11/24", "10.0.0.99/24")),
            ),
        ),
        (FLATTENED, "pasted", (LO, ("eth0", ("172.17.0.4/16",)), ("eth1", ("10.0.0.12/24",)))),
        (
            BRIEF,
            "pasted",
            (
                ("lo", ("127.0.0.1/8", "::1/128")),
                ("eth0", ("10.0.0.11/24", "fe80::1/64")),
                ("eth1", ("10.1.0.11/24",)),
            ),
        ),
        (IFCONFIG, "pasted", (("eth0", ("172.17.0.4/16", "fe80::42:acff:fe11:4/64")), LO)),
        (OLD_IFCONFIG, "pasted", (("eth0", ("172.17.0.4/16",)),)),
        (MACOS, "pasted", (("en0", ("192.168.1.7/24",)),)),
    ],
)
def test_reads_addresses_in_order(text: str, host: str, expected: tuple[tuple[str, tuple[str, ...]], ...]) -> None:
    facts = read(text)
    assert facts is not None
    found = tuple(
        (link.name, tuple(f"{address.address}/{address.prefix}" for address in link.addresses))
        for link in facts.interfaces
    )
    assert (facts.host, found) == (host, expected)


def test_reads_whether_a_link_is_up() -> None:
    facts = read(BRIEF)
    assert facts is not None
    assert [(link.name, link.up) for link in facts.interfaces] == [("lo", True), ("eth0", True), ("eth1", False)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "node-a:1:1 [0] NCCL INFO Bootstrap : Using eth0:172.17.0.4<0>",
        "mtu 1500 and inet words only",
        "step 3/100 loss 0.1",
        "inet 300.1.1.1/24 scope global eth0",
        "inet 10.0.0.1/99 scope global eth0",
        "alice@node-a:~$ ip a",
    ],
)
def test_a_log_describes_no_node(text: str) -> None:
    assert read(text) is None
