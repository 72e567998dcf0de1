"""Names and addresses give way to stand-ins; what an address is stays visible."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ncclcheck.doctor.redact import StandIns


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("node-a:10:11 [0] NCCL INFO x", "host-1:10:11 [0] NCCL INFO x"),
        ("logs/node-a-rank0.log", "logs/host-1-rank0.log"),
        ("node-ab and xnode-a stay", "node-ab and xnode-a stay"),
        ("node-a.example.com", "host-2"),
        ("/home/alice/.nccl.conf", "/home/user-1/.nccl.conf"),
        (
            "127.0.0.1 0.0.0.0 172.17.0.2 172.18.0.1 192.168.122.4 ::1",
            "127.0.0.1 0.0.0.0 172.17.0.2 172.18.0.1 192.168.122.4 ::1",
        ),
        ("10.3.7.9 10.3.7.8 10.3.8.9 10.3.7.9", "10.0.1.1 10.0.1.2 10.0.2.1 10.0.1.1"),
        ("192.168.77.3", "192.168.1.1"),
        ("169.254.33.4", "169.254.1.1"),
        ("172.20.5.6", "172.20.1.1"),
        ("8.8.8.8 and 9.9.9.9:53", "198.18.1.1 and 198.18.2.1:53"),
        ("fe80::4811:8aff%eth0", "fe80::1%eth0"),
        ("[2a01:4f8::7]:29500", "[2001:db8:0:1::1]:29500"),
        ("fd12:3456::1", "fd00:0:0:1::1"),
        ("link/ether 9c:5a:44:01:02:03", "link/ether 02:00:00:00:00:01"),
        ("at 10:11:12 on 2026-01-02, 2.18.6+cuda12.4", "at 10:11:12 on 2026-01-02, 2.18.6+cuda12.4"),
        ("bus 0000:1b:00.0, comm 0x55::x, std::vector", "bus 0000:1b:00.0, comm 0x55::x, std::vector"),
        ("300.1.1.1 and 1.2.3.4.5", "300.1.1.1 and 1.2.3.4.5"),
    ],
)
def test_stand_ins(text: str, expected: str) -> None:
    assert StandIns(["node-a", "node-a.example.com", "localhost", "10.0.0.1"], ["alice", "root"]).text(text) == expected


@given(some.lists(some.ip_addresses(v=4), min_size=2, max_size=8))
def test_different_addresses_stay_different_and_of_their_kind(addresses: list[ipaddress.IPv4Address]) -> None:
    stand_ins = StandIns([])
    shown = [ipaddress.ip_address(stand_ins.text(str(address))) for address in addresses]
    assert len(set(shown)) == len(set(addresses))
    for address, stand_in in zip(addresses, shown, strict=True):
        assert (address.is_loopback, address.is_link_local) == (stand_in.is_loopback, stand_in.is_link_local)


@given(some.text(max_size=100))
def test_any_text_is_taken(text: str) -> None:
    assert StandIns(["x"]).text(text) is not None
