"""Random interface sets, variables and conf files, with the mistakes that people make; for agree_with_nccl.py."""

from __future__ import annotations

import random
from dataclasses import dataclass

from ncclcheck.node.version import since

NAMES = (
    *("eth0", "eth1", "eth10", "ens9", "enp3s0f0", "docker0", "docker_gwbridge", "br-1a2b3c4d5e6f", "virbr0", "virbr1"),
    *("ib0", "ibs5", "ibridge0", "lonet0", "local0", "tailscale0", "wg0", "veth12ab", "cni0", "E", "e", "a=b", "^eth1"),
)
VALUES = (
    *("eth", "eth0", "eth1", "=eth0", "=eth1", "=eth0,eth1", "eth0,eth1", "eth9,eth0", "eth9, eth0", "^eth1,docker"),
    *("^docker", "^docker,lo", "^lo,docker,virbr", "^=docker0,eth1,lo", "^=eth1,lo", "=^eth1", "eth0:1", "=eth0:5000"),
    *("", "e", "^", "=", "=,", "^,", ",", ":", "^:", "eth0 ", " eth0", '"eth0"', "eth0, # mgmt, eth1", "eth1  # note"),
    *("^eth0,^lo", "eth9,=eth1", "lo", "=lo", "docker", "virbr", "ib", "en,eth", "a", "a,", "eth*", "192.168.1.5"),
    *(
        "eth1,,eth0",
        ",eth1",
        "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,eth0",
        "ETH0",
        "eth0;",
        "eth1\r",
        "eth0\teth1",
        "é",
        "\udcff",
    ),
)
COMM_IDS = (
    *("192.168.1.77:12345", "10.1.0.9:1", "127.0.0.1:12345", "8.8.8.8:12345", "192.168.1.5", "[fd00:2::9]:12345"),
    *(
        "[::1]:5",
        "nosuchhost.invalid:12345",
        "",
        "x",
        "[fe80::1%eth0]:77",
        "[fd00:1::5",
        "10.2.0.1:80,10.1.0.1:80",
        ":9",
    ),
    *(
        "[nonsense]:5",
        "[1.2.3.4]:5",
        "[]:5",
        "[fe80::1%nosuch]:5",
        "[fd00:2::9]",
        "[fd00:2::9]5",
        "fd00:2::9",
        "10.1:5",
    ),
    *(
        "localhost:80",
        "[fd00:2::9]:",
        "192.168.1.5:",
        "192.168.1.77 :5",
        " 192.168.1.77:5",
        "[::ffff:10.1.0.1]:5",
        "0:5",
    ),
)


@dataclass(frozen=True, slots=True)
class Link:
    """An interface to make."""

    name: str
    addresses: tuple[tuple[str, int, str], ...]
    """Address, prefix length, and label (empty for none)."""
    up: bool
    carrier: bool


USUAL = (
    Link("docker0", (("172.17.0.1", 16, ""),), up=True, carrier=True),
    Link("eth1", (("10.0.0.5", 24, ""),), up=True, carrier=True),
    Link("eth0", (("192.168.1.5", 24, ""),), up=True, carrier=True),
)


@dataclass(frozen=True, slots=True)
class Case:
    """What NCCL is started with; ``None`` means that there is no such file."""

    env: tuple[tuple[str, str], ...]
    site: bytes | None
    login: bytes | None
    home: bytes | None
    named: bytes | None


def random_links(chance: random.Random) -> tuple[Link, ...]:
    """Up to six interfaces, in the order in which the kernel will number them."""
    names = chance.sample(NAMES, chance.randint(0, 6))
    return tuple(_random_link(chance, name, number) for number, name in enumerate(names))


def _random_link(chance: random.Random, name: str, number: int) -> Link:
    pool = [(f"192.168.{number + 1}.5", 24), (f"10.{number}.0.{chance.randint(1, 9)}", chance.choice((8, 16, 30)))]
    pool += [(f"fd00:{number}::5", 64), (f"fd00:{number}::6", 64), (f"169.254.{number}.1", 16)]
    chosen = chance.sample(pool, chance.choice((0, 1, 1, 1, 2, 3)))
    addresses = tuple((text, prefix, _label(chance, name, text)) for text, prefix in chosen)
    return Link(name, addresses, up=chance.random() < 0.85, carrier=chance.random() < 0.85)


def _label(chance: random.Random, name: str, address: str) -> str:
    return f"{name}:1" if ":" not in address and chance.random() < 0.15 and len(name) < 13 else ""


def random_case(chance: random.Random) -> Case:
    """Variables and files, most of them harmless."""
    env = [("NCCL_SOCKET_IFNAME", chance.choice(VALUES))] if chance.random() < 0.4 else []
    if chance.random() < 0.15:
        env.append(("NCCL_SOCKET_FAMILY", chance.choice(("AF_INET", "AF_INET6", "IPv6", "af_inet", ""))))
    if chance.random() < 0.15:
        env.append(("NCCL_COMM_ID", chance.choice(COMM_IDS)))
    file = random_file if chance.random() < 0.6 else no_file
    if chance.random() < 0.2:
        env.append(("NCCL_CONF_FILE", chance.choice(("NAMED", "/nonexistent/nccl.conf", "", "~/x.conf", "/etc"))))
    return Case(tuple(env), site=file(chance), login=file(chance), home=file(chance), named=file(chance))


def no_file(_: random.Random) -> bytes | None:
    """No such file."""
    return None


def random_file(chance: random.Random) -> bytes | None:
    """A conf file with the mistakes that people make."""
    if chance.random() < 0.5:
        return None
    lines = [_random_line(chance) for _ in range(chance.randint(0, 4))]
    end = chance.choice(("\n", "\n", "\r\n"))
    text = chance.choice(("", "", "", "\ufeff")) + end.join(lines) + chance.choice((end, end, ""))
    return text.encode("utf-8", "surrogateescape").replace(b"@", b"\0")


def _random_line(chance: random.Random) -> str:
    name = chance.choice(("NCCL_SOCKET_IFNAME",) * 5 + ("NCCL_SOCKET_FAMILY", "NCCL_IB_HCA", "#x", "", "[nccl]"))
    value = chance.choice((*VALUES, "AF_INET6", "AF_INET", "x" * 1100, "eth1@junk", "\udcff\udcfe"))
    shapes = ("{0}={1}",) * 6 + (
        "{0} = {1}",
        " {0}={1}",
        "export {0}={1}",
        "# {0}={1}",
        "#{0}={1}",
        "{0} {1}",
        "{0}={1} ",
    )
    long = "{1}".ljust(4095 - len("NCCL_SOCKET_IFNAME=eth1"), "x") + "NCCL_SOCKET_IFNAME=eth1"
    return chance.choice((*shapes, "{0}={1}  # comment", "", long)).format(name, value)


def endurable(case: Case, nccl: str) -> bool:
    """Whether NCCL survives the files: up to 2.22 a name of 1024 bytes or more is written past its buffer."""
    files = (case.site, case.login, case.home, case.named)
    names = (line.partition(b"=") for file in files if file for line in file.split(b"\n"))
    return since(nccl, 2, 23) or all(len(name) < 1024 for name, equals, _ in names if equals)
