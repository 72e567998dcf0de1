"""Measured cases of NCCL's interface choice, retyped: interfaces, variables, and the choice by version."""

from __future__ import annotations

from dataclasses import dataclass

from ncclcheck.node.selection import Entry

EVERY = ("2.4.8", "2.13.4", "2.18.3", "2.23.4", "2.24.3", "2.27.7", "2.28.9", "2.29.7", "2.30.7", "2.32.3")
"""One version from each side of every change in behaviour."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What was set up, and what NCCL chose."""

    name: str
    found: tuple[Entry, ...]
    env: tuple[tuple[str, str], ...]
    choice: str | None
    code: int
    versions: tuple[str, ...] = EVERY


LO = Entry("lo", "127.0.0.1", 8, running=True)
LO6 = Entry("lo", "::1", 128, running=True)


def up(name: str, address: str, prefix: int = 24) -> Entry:
    """A running interface with an address."""
    return Entry(name, address, prefix, running=True)


def still(name: str, address: str, prefix: int = 24) -> Entry:
    """An interface with an address, but without carrier."""
    return Entry(name, address, prefix, running=False)


DOCKER = up("docker0", "172.17.0.1", 16)
ETH1 = up("eth1", "10.0.0.5")
ETH0 = up("eth0", "192.168.1.5")
VIRBR = up("virbr0", "192.168.122.1")
BASE = (LO, DOCKER, ETH1, ETH0, LO6)

OLD = ("2.4.8", "2.13.4", "2.18.3", "2.23.4")
"""Up to 2.23 a failed search is an internal error (3), later invalid usage (5)."""
LATER = ("2.24.3", "2.27.7", "2.28.9", "2.29.7", "2.30.7", "2.32.3")
TO_2_27 = ("2.4.8", "2.13.4", "2.18.3", "2.23.4", "2.24.3", "2.27.7")
FROM_2_28 = ("2.28.9", "2.29.7", "2.30.7", "2.32.3")
SINCE_2_5 = EVERY[1:]
FAULTY = ("2.29.2", "2.29.7")
SOUND = ("2.8.4", "2.13.4", "2.28.9", "2.30.3", "2.32.3")


def _set(value: str) -> tuple[tuple[str, str], ...]:
    return (("NCCL_SOCKET_IFNAME", value),)


def _same(name: str, found: tuple[Entry, ...], value: str, choice: str | None) -> tuple[Measured, ...]:
    """One choice in all versions; a failure has its code by version."""
    if choice is not None:
        return (Measured(name, found, _set(value), choice, 0, SINCE_2_5),)
    old = tuple(version for version in OLD if version in SINCE_2_5)
    return (
        Measured(f"{name}, old code", found, _set(value), None, 3, old),
        Measured(f"{name}, new code", found, _set(value), None, 5, LATER),
    )


def _automatic(name: str, found: tuple[Entry, ...], choice: str, versions: tuple[str, ...] = EVERY) -> Measured:
    return Measured(name, found, (), choice, 0, versions)


def _comm(name: str, found: tuple[Entry, ...], value: str, choice: str | None, code: int = 0) -> Measured:
    return Measured(name, found, (("NCCL_COMM_ID", value),), choice, code, SOUND)


def _faulty(name: str, value: str, choice: str) -> Measured:
    return Measured(name, BASE, (("NCCL_COMM_ID", value),), choice, 0, FAULTY)


def _family(name: str, found: tuple[Entry, ...], family: str, choice: str) -> Measured:
    return Measured(name, found, (("NCCL_SOCKET_FAMILY", family),), choice, 0)


MEASURED: tuple[Measured, ...] = (
    _automatic("kernel order, not docker", BASE, "eth1:10.0.0.5"),
    *_same("a list has no order", BASE, "eth0,eth1", "eth1:10.0.0.5"),
    *_same("exact", BASE, "=eth0", "eth0:192.168.1.5"),
    *_same("exact list has no order", BASE, "=eth0,eth1", "eth1:10.0.0.5"),
    *_same("exclusion without lo", BASE, "^eth1,docker", "lo:127.0.0.1"),
    *_same("exact exclusion", BASE, "^=docker0,eth1,lo", "eth0:192.168.1.5"),
    *_same("the guide's exclusion", BASE, "^docker", "lo:127.0.0.1"),
    *_same("marks the wrong way round", BASE, "=^eth1", None),
    *_same("blank in a list", BASE, "eth9, eth0", None),
    *_same("blank behind", BASE, "eth0 ", None),
    *_same("blank before", BASE, " eth0", None),
    *_same("quotes", BASE, '"eth0"', None),
    *_same("comment behind", BASE, "eth1  # Replace with your own network interface name", None),
    *_same("comment inside a list", BASE, "eth0, # mgmt, eth1", "eth0:192.168.1.5"),
    *_same("comment behind an exclusion", BASE, "^docker0,lo  # skip these", "lo:127.0.0.1"),
    *_same("comment behind another exclusion", BASE, "^lo,docker0  # skip these", "docker0:172.17.0.1"),
    *_same("comment behind a colon", BASE, "eth0: # comment", "eth0:192.168.1.5"),
    *_same("no such name", BASE, "ens9", None),
    *_same("empty", BASE, "", "eth1:10.0.0.5"),
    *_same("one character", BASE, "e", "eth1:10.0.0.5"),
    *_same("exact, but an empty list", BASE, "=,", "lo:127.0.0.1"),
    *_same("exclusion of everything", BASE, "^,", None),
    *_same("port", BASE, "eth0:1", "eth0:192.168.1.5"),
    *_same("a prefix takes more", (LO, up("eth10", "10.1.1.1"), ETH1), "eth1", "eth10:10.1.1.1"),
    Measured("before 2.5 “=” is part of the name", BASE, _set("=eth0"), None, 3, ("2.4.8",)),
    _automatic("ib goes first", (*BASE, up("ib0", "10.10.0.5")), "ib0:10.10.0.5"),
    _automatic("so does ibridge0", (*BASE, up("ibridge0", "10.10.0.5")), "ibridge0:10.10.0.5"),
    _automatic("virbr0 was real", (LO, VIRBR, ETH0), "virbr0:192.168.122.1", TO_2_27),
    _automatic("virbr0 is demoted", (LO, VIRBR, ETH0), "eth0:192.168.1.5", FROM_2_28),
    _automatic("virbr0 alone, old", (LO, VIRBR), "virbr0:192.168.122.1", TO_2_27),
    _automatic("virbr0 alone", (LO, VIRBR), "lo:127.0.0.1", FROM_2_28),
    _automatic("virbr0 and docker0", (LO, VIRBR, DOCKER), "docker0:172.17.0.1", FROM_2_28),
    _automatic("docker0 alone", (LO, DOCKER), "docker0:172.17.0.1"),
    _automatic("docker0 without carrier, old", (LO, still("docker0", "172.17.0.1")), "docker0:172.17.0.1", TO_2_27),
    _automatic("docker0 without carrier", (LO, still("docker0", "172.17.0.1")), "lo:127.0.0.1", FROM_2_28),
    _automatic("only lo", (LO,), "lo:127.0.0.1"),
    _automatic("a compose bridge", (LO, up("br-1a2b3c4d5e6f", "172.18.0.1"), ETH0), "br-1a2b3c4d5e6f:172.18.0.1"),
    _automatic("lonet0 looks like lo", (LO, up("lonet0", "10.3.0.1")), "lo:127.0.0.1"),
    _automatic("no carrier, old", (LO, still("eth1", "10.0.0.5"), ETH0), "eth1:10.0.0.5", TO_2_27),
    _automatic("no carrier", (LO, still("eth1", "10.0.0.5"), ETH0), "eth0:192.168.1.5", FROM_2_28),
    Measured("named, no carrier", (LO, still("eth1", "10.0.0.5"), ETH0), _set("eth1"), None, 5, FROM_2_28),
    _automatic("first of two addresses", (LO, ETH0, up("eth0", "10.3.3.3")), "eth0:192.168.1.5"),
    *_same("a label, exact", (LO, up("eth0:1", "192.168.1.5"), up("eth0", "10.3.3.3")), "=eth0", "eth0:10.3.3.3"),
    *_same("a label", (LO, up("eth0:1", "192.168.1.5"), up("eth0", "10.3.3.3")), "eth0", "eth0:1:192.168.1.5"),
    _automatic("IPv4 comes first", (LO, ETH0, LO6, up("eth1", "fd00:1::5", 64)), "eth0:192.168.1.5"),
    _automatic("only IPv6", (LO, LO6, up("eth1", "fd00:1::5", 64)), "eth1:fd00:1::5"),
    _automatic("only link-local", (LO, LO6, up("eth1", "fe80::1%eth1", 64)), "eth1:fe80::1%eth1"),
    _family("IPv4 wanted, only IPv6", (LO, LO6, up("eth1", "fd00:1::5", 64)), "AF_INET", "lo:127.0.0.1"),
    _family("IPv6 wanted", (LO, ETH1, LO6, up("eth0", "fd00:2::5", 64)), "AF_INET6", "eth0:fd00:2::5"),
    _family("a family misspelt", (LO, ETH1, LO6, up("eth1", "fd00:2::5", 64)), "IPv6", "eth1:10.0.0.5"),
    _comm("root in a subnet", BASE, "192.168.1.77:12345", "eth0:192.168.1.5"),
    _comm("root on this host", BASE, "127.0.0.1:12345", "lo:127.0.0.1"),
    _comm("root elsewhere", BASE, "8.8.8.8:12345", None, 2),
    _comm("root without a port", BASE, "192.168.1.5", "eth0:192.168.1.5"),
    _comm("root without an address", BASE, "nosuchhost.invalid:12345", None, 4),
    _comm("empty root", BASE, "", None, 4),
    _comm("root by IPv6", (LO, ETH0, LO6, up("eth0", "fd00:2::5", 64)), "[fd00:2::5]:12345", "eth0:fd00:2::5"),
    Measured(
        "COMM_ID beats IFNAME",
        BASE,
        (("NCCL_COMM_ID", "192.168.1.5:12345"), ("NCCL_SOCKET_IFNAME", "eth1")),
        "eth0:192.168.1.5",
        0,
        SOUND,
    ),
    _faulty("2.29: outside the subnet", "192.168.1.77:12345", "lo:127.0.0.1"),
    _faulty("2.29: not lo for localhost", "127.0.0.1:12345", "docker0:172.17.0.1"),
    _faulty("2.29: anything for a stranger", "8.8.8.8:12345", "lo:127.0.0.1"),
)
