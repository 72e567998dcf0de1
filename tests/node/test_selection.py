"""NCCL's choice, against everything that was measured."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ncclcheck.model import Address, Candidate, Choice, Interface, LinkKind
from ncclcheck.node import debug, selection
from ncclcheck.node.environment import Sources, conf_files, settings, winning
from ncclcheck.node.selection import Entry
from ncclcheck.node.version import numbers
from tests.node.cases import BASE, EVERY, MEASURED, Measured, up

VECTORS = Path(__file__).parents[3] / "shared/corpus/ifsel/vectors.jsonl"
VERSIONS = (
    *("2.13.4", "2.14.3", "2.15.5", "2.16.2", "2.17.1", "2.18.3", "2.19.3", "2.20.5", "2.21.5", "2.22.3", "2.23.4"),
    *("2.24.3", "2.25.1", "2.26.2", "2.27.7", "2.28.9", "2.29.7", "2.30.7", "2.31.2", "2.32.3"),
)


def place(choice: Choice) -> str | None:
    return None if choice.interface is None else f"{choice.interface}:{choice.address}"


@pytest.mark.parametrize("case", MEASURED, ids=lambda case: case.name)
def test_the_choice_is_the_measured_one(case: Measured) -> None:
    chosen = {version: selection.bootstrap_among(case.found, dict(case.env), version) for version in case.versions}

    assert {version: (place(choice), choice.code) for version, choice in chosen.items()} == dict.fromkeys(
        case.versions, (case.choice, case.code)
    )


def vectors() -> list[dict[str, Any]]:
    """The measured cases beside the project, where they are."""
    return [json.loads(line) for line in VECTORS.read_text().splitlines()] if VECTORS.exists() else []


def measured(vector: dict[str, Any]) -> Iterator[tuple[str, str | None, int]]:
    for result in vector["results"]:
        for version in VERSIONS:
            if numbers(result["first"]) <= numbers(version) <= numbers(result["last"]):
                choice = result["choice"]
                yield version, choice.replace("(link-local)", "1") if choice else None, result["rc"]


def predicted(vector: dict[str, Any], version: str) -> tuple[str | None, int]:
    found = [
        Entry(entry["name"], entry["addr"].replace("LL", "1"), entry["prefixlen"], entry["running"])
        for entry in vector["getifaddrs"]
    ]
    probing = {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,BOOTSTRAP,ENV,NET", **vector["env"]}
    env = {name: value for name, value in probing.items() if value is not None}
    sources = Sources(env=env, login_home="/home/nobody", read=reader(vector))
    values = winning(settings(env, conf_files(sources, version)[0], version))
    choice = selection.bootstrap_among(found, values, version)
    # NCCL's choice was read from its log, which a setting may silence.
    hidden = choice.code == 0 and not debug.shows_bootstrap(values, version)
    return None if hidden else place(choice), choice.code


def reader(vector: dict[str, Any]) -> Any:
    files = {"/home/user/.nccl.conf": "NCCL_SOCKET_IFNAME=eth0\n", "/home/user/x.conf": "NCCL_SOCKET_IFNAME=eth0\n"}
    files |= {"/etc/nccl.conf": vector["etc_nccl_conf"]} if "etc_nccl_conf" in vector else {}

    def read(path: str) -> bytes:
        if path not in files:
            raise FileNotFoundError(path)
        return files[path].encode()

    return read


def test_every_vector_agrees_for_every_version_it_was_measured_on() -> None:
    wrong = [
        (vector["name"], version, predicted(vector, version), (choice, code))
        for vector in vectors()
        for version, choice, code in measured(vector)
        if predicted(vector, version) != (choice, code)
    ]

    assert wrong == []


def link(index: int, name: str, *addresses: Address, running: bool = True) -> Interface:
    return Interface(name, index, LinkKind.OTHER, up=True, running=running, mtu=1500, speed=None, addresses=addresses)


def test_entries_come_in_the_order_of_getifaddrs() -> None:
    links = (
        link(3, "eth1", Address("fe80::2", 64), Address("10.0.0.5", 24), Address("10.0.0.6", 24, label="eth1:a")),
        link(4, "eth2", Address("fe90::2%eth2", 64), Address("fd00::2", 64)),
        link(1, "lo", Address("127.0.0.1", 8), Address("::1", 128)),
    )

    assert selection.entries(links) == (
        up("lo", "127.0.0.1", 8),
        up("eth1", "10.0.0.5"),
        up("eth1:a", "10.0.0.6"),
        up("lo", "::1", 128),
        up("eth1", "fe80::2%eth1", 64),
        up("eth2", "fe90::2%eth2", 64),
        up("eth2", "fd00::2", 64),
    )


def test_every_candidate_says_why_it_was_taken_or_passed_over() -> None:
    links = (
        link(1, "lo", Address("127.0.0.1", 8)),
        link(2, "docker0", Address("172.17.0.1", 16)),
        link(3, "eth2", Address("10.2.0.5", 24), running=False),
        link(4, "eth1", Address("10.0.0.5", 24), Address("10.0.0.6", 24)),
        link(5, "eth0", Address("192.168.1.5", 24)),
        link(6, "eth9"),
    )

    choice = selection.bootstrap(links, {}, "2.29.7")

    demoted = "its name begins with “{0}”: NCCL takes such a one only where nothing else is left"
    assert choice.candidates == (
        Candidate("lo", "127.0.0.1", taken=False, reason=demoted.format("lo")),
        Candidate("docker0", "172.17.0.1", taken=False, reason=demoted.format("docker")),
        Candidate(
            "eth2",
            "10.2.0.5",
            taken=False,
            reason="it is down or has no carrier (no RUNNING flag), and NCCL from 2.28 skips such interfaces",
        ),
        Candidate("eth1", "10.0.0.5", taken=True, reason="it is the first that fits"),
        Candidate("eth1", "10.0.0.6", taken=False, reason="NCCL takes one address of eth1, the first"),
        Candidate("eth0", "192.168.1.5", taken=False, reason="it would do, but eth1 comes first in the kernel's order"),
        Candidate("eth9", "", taken=False, reason="it has no IPv4 or IPv6 address"),
    )


def test_a_name_that_fits_nothing_is_said_with_the_names_there_are() -> None:
    choice = selection.bootstrap_among(BASE, {"NCCL_SOCKET_IFNAME": "eth7"}, "2.29.7")

    assert choice.reason == (
        "NCCL_SOCKET_IFNAME is “eth7”: NCCL takes an interface whose name begins with “eth7”; there is none among lo,"
        " docker0, eth1, eth0; NCCL then gives up: “Bootstrap : no socket interface found”"
    )
    assert {candidate.reason for candidate in choice.candidates} == {
        "its name is not what NCCL_SOCKET_IFNAME asks for",
        "NCCL never uses ::1",
    }


def test_the_data_network_takes_every_interface_of_the_winning_step() -> None:
    links = (
        link(1, "lo", Address("127.0.0.1", 8)),
        link(2, "eth1", Address("10.0.0.5", 24), Address("10.0.0.6", 24)),
        link(3, "eth0", Address("192.168.1.5", 24)),
    )

    choice = selection.sockets(links, {}, "2.29.7")

    taken = [candidate.interface for candidate in choice.candidates if candidate.taken]
    assert (choice.interface, choice.code, taken) == ("eth1", 0, ["eth1", "eth0"])


def test_the_data_network_ignores_where_the_root_is_when_a_name_is_given() -> None:
    links = (link(2, "eth1", Address("10.0.0.5", 24)), link(3, "eth0", Address("192.168.1.5", 24)))
    values = {"NCCL_COMM_ID": "192.168.1.7:5000", "NCCL_SOCKET_IFNAME": "eth1"}

    assert selection.bootstrap(links, values, "2.30.7").interface == "eth0"
    assert selection.sockets(links, values, "2.30.7").interface == "eth1"


def test_the_data_network_without_an_interface_is_an_internal_error() -> None:
    choice = selection.sockets((), {"NCCL_SOCKET_IFNAME": "eth7"}, "2.29.7")

    assert (choice.interface, choice.code) == (None, 3)


def test_no_interface_at_all_is_refused() -> None:
    assert selection.bootstrap((), {}, "2.29.7").code == 5


def test_a_host_name_in_comm_id_is_looked_up() -> None:
    values = {"NCCL_COMM_ID": "node-a:5000"}

    assert selection.bootstrap_among(BASE, values, "2.30.7", {"node-a": "10.0.0.9"}.get).interface == "eth1"


def test_an_unknown_running_flag_does_not_rule_an_interface_out() -> None:
    found = (Entry("eth0", "10.0.0.5", 24, running=None),)

    assert selection.bootstrap_among(found, {}, "2.29.7").interface == "eth0"


TEXT = some.text(some.characters(exclude_characters="\0"), max_size=24) | some.sampled_from(
    ("[fe80::1%", "1.2.3.4%5:1", "^=")
)


@given(TEXT, TEXT, TEXT, some.sampled_from(EVERY))
def test_no_value_is_too_strange(name: str, comm_id: str, family: str, nccl: str) -> None:
    values = {"NCCL_SOCKET_IFNAME": name, "NCCL_COMM_ID": comm_id, "NCCL_SOCKET_FAMILY": family}

    choice = selection.bootstrap_among(BASE, values, nccl)

    assert (choice.interface is None) == (choice.code != 0)
    assert choice.reason
