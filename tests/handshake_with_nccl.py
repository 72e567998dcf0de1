"""Does the handshake pass and fail as it should with the real libnccl, between nodes of the lab?

Run by tests/doctor/test_handshake.py, and by hand for any other NCCL:

    python tests/handshake_with_nccl.py --library PATH/libnccl.so.2

Needs network namespaces (root, or user namespaces), and nft for the cases with a firewall.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ncclcheck.doctor.handshake import handshake
from ncclcheck.lab import DOCKER_FIRST, LabLink, LabNode, Layout, built
from ncclcheck.model import Handshake, Leg, Node

ETH1 = (("NCCL_SOCKET_IFNAME", "=eth1"),)
SHORT, LONG = 1.0, 10.0
"""Seconds for the root to call back: where it cannot, and where it must, on however busy a machine."""
SAID = 4.0
"""Seconds for it to say that it cannot: up to 2.23 it does after a thousand tries."""
TO_ROOT, FROM_ROOT, RING = Leg


def one_network(*addresses: str) -> Layout:
    """Nodes that share their only network."""
    links = [(LabLink("eth0", "net", address),) for address in addresses]
    return Layout("one", "", tuple(LabNode(f"node-{'abcd'[number]}", link) for number, link in enumerate(links)))


def firewall(verdict: str) -> tuple[str, ...]:
    """A node's rule against new connections from the first node; answers to its own pass."""
    return ("nft", f"add table f; add chain f i {{ type filter hook input priority 0; }}; add rule f i {SYN} {verdict}")


SYN = "ip saddr 10.0.0.11 tcp flags & (syn | ack) == syn"


@dataclass(frozen=True)
class Case:
    """A lab, and what the handshake on it must come to."""

    title: str
    layout: Layout = DOCKER_FIRST
    env: tuple[tuple[tuple[str, str], ...], ...] = (ETH1, ETH1)
    on_the_last: tuple[str, ...] = ()
    """A command run before on the last node."""
    failed: tuple[tuple[Leg, int], ...] = ()
    """The connections that must fail, each with the rank that plays."""
    said: str = ""
    """What a problem, the failure or NCCL's log must say, as a pattern."""
    failure: bool = False
    """Whether there is no handshake at all."""
    limit: float | None = None
    """Seconds for the root to call back."""
    always: bool = True
    """Whether it is tried in the test suite too, and not by hand alone."""


CASES = (
    Case("over the network that both share"),
    Case("over IPv6", one_network("fd00:1::11/64", "fd00:1::12/64"), ((), ())),
    Case("three ranks", one_network("10.0.0.11/24", "10.0.0.12/24", "10.0.0.13/24"), ((), (), ()), always=False),
    Case(
        "wrong interface at the root",
        env=((), ETH1),
        failed=((FROM_ROOT, 0), (TO_ROOT, 1)),
        said=r"172\.17\.0\.2:\d+ refused the connection; 172\.17\.0\.2 is this node's own address too",
    ),
    Case(
        "wrong interface at rank 1",
        env=(ETH1, ()),
        failed=((RING, 0), (FROM_ROOT, 1)),
        said=r"returned Connection refused, retrying",
        limit=SAID,
    ),
    Case(
        "a firewall that resets calls to rank 1",
        on_the_last=firewall("reject with tcp reset"),
        failed=((RING, 0), (FROM_ROOT, 1)),
        said=r"10\.0\.0\.12:\d+ refused the connection",
    ),
    Case(
        "a firewall that says no to calls to rank 1",
        on_the_last=firewall("reject with icmp type admin-prohibited"),
        failed=((RING, 0), (FROM_ROOT, 1)),
        said=r"no way to 10\.0\.0\.12:\d+: an ICMP message said so",
        always=False,
    ),
    Case(
        "a firewall that drops calls to rank 1",
        on_the_last=firewall("drop"),
        failed=((RING, 0), (FROM_ROOT, 1)),
        said=r"the root did not call back to 10\.0\.0\.12:\d+ within 1 s",
    ),
    Case(
        "no interface at the root",
        env=((("NCCL_SOCKET_IFNAME", "nosuch"),), ETH1),
        said="NCCL starts no root: Bootstrap : no socket interface found",
        always=False,
        failure=True,
    ),
    Case(
        "no interface at rank 1",
        env=(ETH1, (("NCCL_SOCKET_IFNAME", "nosuch"),)),
        failed=((FROM_ROOT, 0),),
        said="node-b: NCCL would find no interface: NCCL_SOCKET_IFNAME is “nosuch”",
        failure=True,
    ),
)


def on(node: Node, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command on a node that has to succeed."""
    env = {**os.environ, **dict(node.env)}
    return subprocess.run([*node.prefix, *command], env=env, capture_output=True, text=True, timeout=20, check=True)


def tried(case: Case, library: Path | None = None) -> Handshake:
    """The handshake of a case, with this NCCL or with this Python's."""
    with built(case.layout) as made, reachable(library) as env:
        nodes = tuple(replace(node, env=(*node.env, *env)) for node in made)
        if case.on_the_last:
            on(nodes[-1], *case.on_the_last)
        if any(":" in link.address for node in case.layout.nodes for link in node.links):
            settle(nodes)
        limit = case.limit or (SHORT if case.failed or case.failure else LONG)
        return handshake(nodes, env=case.env, python=sys.executable, limit=limit)


def settle(nodes: tuple[Node, ...]) -> None:
    """Wait until IPv6 addresses may be used: NCCL takes them before, and then cannot bind to them."""
    while any(on(node, "ip", "-6", "addr", "show", "tentative").stdout for node in nodes):
        time.sleep(0.1)


@contextmanager
def reachable(library: Path | None) -> Iterator[tuple[tuple[str, str], ...]]:
    """Variables with which a Python finds this libnccl as if it were an installed wheel."""
    if library is None:
        yield ()
        return
    with tempfile.TemporaryDirectory(prefix="handshake-with-nccl-") as folder:
        place = Path(folder, "nvidia/nccl/lib/libnccl.so.2")
        place.parent.mkdir(parents=True)
        place.symlink_to(library.resolve())
        yield (("PYTHONPATH", folder),)


def complaints(case: Case, result: Handshake) -> list[str]:
    """In what the result differs from what it must be; empty where in nothing."""
    failed = {(contact.leg, contact.rank) for contact in result.contacts if contact.problem}
    words = "\n".join([result.failure, *(contact.problem for contact in result.contacts), *result.log])
    size = len(case.layout.nodes)
    whole = [(leg, rank) for rank in range(size) for leg in Leg]
    seen = [(contact.leg, contact.rank) for contact in result.contacts]
    passes = not case.failed and not case.failure
    return [
        text
        for wrong, text in (
            (failed != set(case.failed), f"failed: {sorted((leg.value, rank) for leg, rank in failed)}"),
            (not re.search(case.said, words), f"nobody said {case.said}"),
            (bool(result.failure) != case.failure, f"failure: {result.failure!r}"),
            (result.passed != passes, f"passed: {result.passed}"),
            (passes and seen != whole, f"contacts: {seen}"),
            (any((contact.seconds is None) != bool(contact.problem) for contact in result.contacts), "seconds"),
        )
        if wrong
    ]


def all_tried(cases: Sequence[Case], library: Path | None = None) -> dict[str, Handshake]:
    """What each comes to, by its title; several at once, since most of their time is waiting."""
    with ThreadPoolExecutor(4) as pool:
        results = pool.map(lambda case: tried(case, library), cases)
        return {case.title: result for case, result in zip(cases, results, strict=True)}


def main() -> int:
    """Try every case; exit status 1 where one comes to something else than it must."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=Path, help="the libnccl.so.2 to shake hands with (default: this Python's)")
    begin, results, wrong = time.monotonic(), all_tried(CASES, parser.parse_args().library), 0
    for case in CASES:
        result = results[case.title]
        found = complaints(case, result)
        if found:
            wrong += 1
            print(f"WRONG  {case.title}", *found, *result.contacts, *result.log, sep="\n    ")
    version = max(result.nccl for result in results.values())
    print(f"NCCL {version}: {len(CASES)} cases, {wrong} wrong, {time.monotonic() - begin:.1f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
