import argparse
import sys
from dataclasses import replace

import pytest

from ncclcheck.model import Address, Facts, Interface, LinkKind
from ncclcheck.speedtest.plan import WORKER, Side, command, meeting_address, side_of
from ncclcheck.speedtest.worker.words import add_arguments, asked

USUAL = ("--ranks", "2", "--workload", "transfers", "--seconds", "3", "--limit", "300", "--attached")


@pytest.mark.parametrize(
    ("side", "words"),
    [
        (Side(("10.0.0.1", 5000), 1000, 0), ("10.0.0.1:5000", "1000", "0", "0", *USUAL)),
        (
            Side(
                ("fd00::1", 5000),
                1,
                2,
                device=3,
                backend="gloo",
                interface="eth1",
                limit=7.5,
                ranks=4,
                patterns=("one way", "all reduce"),
                sizes=(8, 1),
                seconds=2.5,
                baseline=False,
                workload="ddp",
            ),
            (
                *("[fd00::1]:5000", "1", "2", "3", "--backend", "gloo", "--interface", "eth1", "--ranks", "4"),
                *("--patterns", "one-way,all-reduce", "--sizes", "8,1", "--workload", "ddp", "--seconds", "2.5"),
                *("--limit", "7.5", "--no-baseline", "--attached"),
            ),
        ),
    ],
)
def test_the_command_line_of_a_worker(side, words):
    assert command(side, sys.executable) == (sys.executable, WORKER, *words)


@pytest.mark.parametrize(
    "line",
    [
        ("10.0.0.1:5000", "1M", "1", "--ranks", "4", "--limit", "30"),
        ("[fd00::1]:5000", "1000", "0", "2", "--sizes", "8,64K", "--no-baseline", "--backend", "nccl"),
        ("a:1", "64K", "0", "--sizes", "64K", "--patterns", "all-gather", "--seconds", "3", "--workload", "ddp"),
    ],
)
def test_the_worker_understands_what_the_command_line_meant(line):
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    parser.add_argument("--attached", action="store_true")
    meant = asked(parser.parse_args(line), {})
    again = command(side_of(meant, "eth1"), "python")[2:]
    assert asked(parser.parse_args(again), {}) == replace(meant, interface="eth1")


def facts(*addresses, kind=LinkKind.ETHERNET):
    links = [
        Interface(f"eth{number}", number + 2, kind, True, True, 1500, None, (Address(address, prefix),))
        for number, (address, prefix) in enumerate(addresses)
    ]
    return Facts("node", tuple(links))


TWIN = ("172.17.0.2", 16)


@pytest.mark.parametrize(
    ("first", "second", "address"),
    [
        (facts(TWIN, ("10.0.0.11", 24)), facts(TWIN, ("10.0.0.12", 24)), "10.0.0.11"),
        (facts(("10.0.0.11", 24), TWIN), facts(("10.0.0.12", 24), TWIN), "10.0.0.11"),
        (facts(TWIN), facts(TWIN), None),
        (facts(("10.0.0.11", 24)), facts(("10.0.1.12", 24)), None),
        (facts(("fd00::1", 64)), facts(("fd00::2", 64)), "fd00::1"),
        (facts(("fe80::1", 64)), facts(("fe80::2", 64)), None),
        (facts(("10.0.0.1", 24)), facts(("fd00::2", 64)), None),
        (facts(("10.0.0.1", 24), kind=LinkKind.DOCKER), facts(("10.0.0.2", 24)), None),
        (facts(), facts(), None),
    ],
)
def test_where_two_nodes_meet(first, second, address):
    assert meeting_address(first, second) == address
