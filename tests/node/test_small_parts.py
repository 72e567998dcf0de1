"""Version numbers, name patterns, subnets, unique ids and unprintable bytes: table by table."""

from __future__ import annotations

import pytest

from ncclcheck.node import pattern, undecodable, version
from ncclcheck.node.catalogue import nearest
from ncclcheck.node.debug import shows_bootstrap, silent
from ncclcheck.node.pattern import Pattern
from ncclcheck.node.probing import split_place
from ncclcheck.node.resolve import first_address
from ncclcheck.node.subnet import Peer, literal, peer_of, same_subnet
from ncclcheck.node.unique_id import root_of


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("2.29.7+cuda12.9", (2, 29, 7)), ("2.8", (2, 8, 0)), ("NCCL 2.4.8", (2, 4, 8)), ("new", (2, 32, 3))],
)
def test_version_numbers(text: str, numbers: tuple[int, int, int]) -> None:
    assert version.numbers(text) == numbers


@pytest.mark.parametrize(("code", "text"), [(22907, "2.29.7"), (21304, "2.13.4"), (2804, "2.8.4"), (2408, "2.4.8")])
def test_version_codes(code: int, text: str) -> None:
    assert version.from_code(code) == text


@pytest.mark.parametrize(
    ("text", "nccl", "expected"),
    [
        ("eth0", "2.29.7", Pattern("eth0", ("eth0",))),
        ("^=a,b", "2.29.7", Pattern("^=a,b", ("a", "b"), exact=True, exclude=True)),
        ("=^a", "2.29.7", Pattern("=^a", ("^a",), exact=True)),
        ("=a", "2.4.8", Pattern("=a", ("=a",))),
        ("a:1,,b: # x", "2.29.7", Pattern("a:1,,b: # x", ("a", "b"))),
        (
            ",".join("abcdefghijklmnopqrst"),
            "2.29.7",
            Pattern(",".join("abcdefghijklmnopqrst"), tuple("abcdefghijklmnop")),
        ),
    ],
)
def test_patterns(text: str, nccl: str, expected: Pattern) -> None:
    assert pattern.parse(text, nccl) == expected


@pytest.mark.parametrize(
    ("comm_id", "peer"),
    [
        ("10.0.0.1:5000", Peer("10.0.0.1")),
        ("10.0.0.1", Peer("10.0.0.1")),
        ("[fd00::1]:5000", Peer("fd00::1")),
        ("[fe80::1%eth0]:5000", Peer("fe80::1", "eth0")),
        ("node-a:5000", Peer("10.0.0.9")),
        ("nobody:5000", None),
        ("[fd00::1", None),
        ("[nonsense]:5", Peer("::")),
        ("[10.0.0.1]:5", Peer("::")),
        ("[fd00::1]", Peer("fd00::1")),
        ("mdns:5000", Peer("fe80::9", "2")),
        (":5000", None),
        ("x", None),
    ],
)
def test_comm_ids(comm_id: str, peer: Peer | None) -> None:
    assert peer_of(comm_id, {"node-a": "10.0.0.9", "mdns": "fe80::9%2"}.get) == peer


@pytest.mark.parametrize(
    ("address", "prefix", "peer", "same"),
    [
        ("10.0.0.5", 24, Peer("10.0.0.77"), True),
        ("10.0.0.5", 30, Peer("10.0.0.77"), False),
        ("fe80::5%eth0", 64, Peer("fe80::1", "eth0"), True),
        ("fe80::5%eth0", 64, Peer("fe80::1", "eth1"), False),
    ],
)
def test_subnets(address: str, prefix: int, peer: Peer, same: bool) -> None:
    assert same_subnet(address, prefix, peer) is same


MAGIC = bytes.fromhex("6b3c30665014e83c")
ROOT4 = bytes.fromhex("0200ac93c0000202")
ROOT6 = bytes.fromhex("0a00ac9300000000fe80000000000000000000000000000103000000")


@pytest.mark.parametrize(
    ("unique_id", "nccl", "root"),
    [
        (MAGIC + ROOT4, "2.32.3", "192.0.2.2:44179"),
        (ROOT4, "2.15.5", "192.0.2.2:44179"),
        (MAGIC + ROOT6, "2.16.2", "[fe80::1%eth1]:44179"),
        (b"", "2.29.7", None),
    ],
)
def test_the_root_in_a_unique_id(unique_id: bytes, nccl: str, root: str | None) -> None:
    assert root_of(unique_id.ljust(128, b"\0"), nccl, name_of={3: "eth1"}.__getitem__) == root


def test_a_short_unique_id_has_no_root() -> None:
    assert root_of(MAGIC, "2.29.7") is None


def test_a_zone_without_a_name_stays_a_number() -> None:
    def nameless(index: int) -> str:
        raise OSError(index)

    assert root_of((MAGIC + ROOT6).ljust(128, b"\0"), "2.29.7", nameless) == "[fe80::1%3]:44179"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("eth0:192.168.1.5", ("eth0", "192.168.1.5")),
        ("eth0:1:192.168.1.5", ("eth0:1", "192.168.1.5")),
        ("eth1:fe80::1%eth1", ("eth1", "fe80::1%eth1")),
        ("mlx5_0:1", ("mlx5_0:1", "")),
    ],
)
def test_the_place_that_nccl_prints(text: str, place: tuple[str, str]) -> None:
    assert split_place(text) == place


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("NCCL_SOCKET_INAME", "NCCL_SOCKET_IFNAME"),
        ("nccl_debug", "NCCL_DEBUG"),
        ("NCCL_DEBUG", None),
        ("NCCL_VERSION", None),
        ("NCCL_SOMETHING_ELSE_ALTOGETHER", None),
        ("NCCL_SOCKET_IF_NAME", "NCCL_SOCKET_IFNAME"),
        ("NCCL_DEBUG_SUBSYSTEM", "NCCL_DEBUG_SUBSYS"),
        ("NCCL_IB_DISABLED", "NCCL_IB_DISABLE"),
        ("NCCL_TIMEOUT", None),
        ("NCCL_NVLS_DISABLE", None),
        ("NCCL_IB_ENABLE", None),
        ("NCCL_NET_IFNAME", None),
    ],
)
def test_the_nearest_name(name: str, meant: str | None) -> None:
    assert nearest(name) == meant


@pytest.mark.parametrize(
    ("values", "nccl", "is_silent", "shown"),
    [
        ({}, "2.29.7", True, False),
        ({"NCCL_DEBUG": "info"}, "2.29.7", False, True),
        ({"NCCL_DEBUG": "WARN"}, "2.29.7", False, False),
        ({"NCCL_DEBUG": "INFO # x"}, "2.29.7", True, False),
        ({"NCCL_DEBUG": " INFO "}, "2.30.3", False, True),
        ({"NCCL_DEBUG": "ATTN"}, "2.29.7", True, False),
        ({"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "FOO"}, "2.29.7", True, False),
        ({"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "FOO"}, "2.30.3", False, True),
        ({"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "^ALL"}, "2.29.7", True, False),
        ({"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "^INIT"}, "2.29.7", False, True),
        ({"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT"}, "2.22.3", False, True),
        ({"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT"}, "2.23.4", False, False),
    ],
)
def test_what_the_debug_settings_let_through(values: dict[str, str], nccl: str, is_silent: bool, shown: bool) -> None:
    assert (silent(values, nccl), shows_bootstrap(values, nccl)) == (is_silent, shown)


def test_bytes_that_are_no_text_can_be_shown_and_counted() -> None:
    assert (undecodable.shown("a\udcffé"), undecodable.length("a\udcffé")) == (r"a\xffé", 4)
    assert (undecodable.shown("\udd00"), undecodable.length("\udd00")) == (r"\xed\xb4\x80", 3)


def test_looking_up_names() -> None:
    assert (first_address("127.0.0.1"), first_address("a" * 80)) == ("127.0.0.1", None)
    assert literal("localhost") is None
