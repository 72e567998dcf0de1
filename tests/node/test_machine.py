"""A machine beside its interfaces: the real one, a container's, a Mac's; its routes and limits."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest

from ncclcheck.model import (
    Caller,
    Hint,
    Limit,
    Machine,
    Route,
    Unknown,
)
from ncclcheck.node import limits, machine, routes
from ncclcheck.node.firewall import Ruleset
from ncclcheck.node.places import Mark, Place
from tests.node.files_made import write
from tests.node.namespace import run


def nothing() -> Ruleset:
    raise PermissionError(1, "Operation not permitted")


ROUTES = """
ip link set lo up
ip link add eth0 type veth peer name far
ip addr add 10.0.0.5/24 dev eth0
ip link set eth0 up
ip link set far up
ip route add default via 10.0.0.1
ip route add 10.9.0.0/16 via 10.0.0.2 metric 7
ip -6 addr add fd00:1::5/64 dev eth0 nodad
ip -6 route add default via fd00:1::1
"""
READ_ROUTES = """
import msgspec, sys
from pathlib import Path
from ncclcheck.node import routes
sys.stdout.buffer.write(msgspec.json.encode(routes.read(Path("/proc"))[0]))
"""


def test_the_routes_of_this_namespace_the_default_one_first() -> None:
    found = msgspec.json.decode(run(ROUTES, READ_ROUTES), type=tuple[Route, ...])

    assert [route.default for route in found[:2]] == [True, True]
    assert {route for route in found if not route.destination.startswith("fe80")} == {
        Route("0.0.0.0/0", "eth0", "10.0.0.1", 0),
        Route("::/0", "eth0", "fd00:1::1", 1024),
        Route("10.0.0.0/24", "eth0", None, 0),
        Route("10.9.0.0/16", "eth0", "10.0.0.2", 7),
        Route("fd00:1::/64", "eth0", None, 256),
    }


def test_without_proc_the_routes_are_unknown(tmp_path: Path) -> None:
    assert routes.read(tmp_path) == ((), (Unknown("routes", f"{tmp_path}/net/route: No such file or directory"),))


def test_limits_that_are_there_and_those_that_are_not(tmp_path: Path) -> None:
    write(tmp_path / "proc/sys/net/core/somaxconn", "4096\n")
    write(tmp_path / "proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n")

    found, unknown = limits.read(tmp_path)

    assert [limit.name for limit in found[:4]] == ["memlock", "memlock_hard", "nofile", "nofile_hard"]
    assert found[4:] == (Limit("port_first", 32768), Limit("port_last", 60999), Limit("somaxconn", 4096))
    assert [one.question for one in unknown] == ["/dev/shm", "tcp_syn_retries", "rp_filter"]


def test_every_limit_of_a_real_machine_is_known() -> None:
    found, unknown = limits.read(Path("/"))

    assert unknown == ()
    assert {"shm", "shm_free", "port_first", "tcp_syn_retries", "rp_filter"} <= {limit.name for limit in found}


TABLE = (Place("Docker", "runtime", (Mark(file="/.dockerenv"),)),)


def test_where_there_is_no_proc_only_signs_are_known_and_the_rest_is_said_to_be_unknown(tmp_path: Path) -> None:
    found = machine.read({}, "mac", TABLE, tmp_path, nothing)

    assert found == Machine(
        unknown=(
            Unknown(
                "routes, limits, RDMA devices, GPUs and firewall",
                f"/proc and /sys, which only Linux has (this is {sys.platform})",
            ),
        )
    )


def test_a_container_without_sysfs(tmp_path: Path) -> None:
    write(tmp_path / ".dockerenv")
    (tmp_path / "proc").symlink_to("/proc")

    found = machine.read({}, "a", TABLE, tmp_path, nothing)

    assert (found.rdma, found.firewall, found.hints) == (
        (),
        None,
        (Hint("Docker", "runtime", ("/.dockerenv exists",)),),
    )
    assert {"RDMA devices, drivers and speeds", "/dev/shm", "whether a firewall filters what comes in"} == {
        one.question for one in found.unknown
    }


@pytest.mark.parametrize(
    ("identity", "boot"),
    [("6e0b5c0e-5d4c-4f57-8a53-0c1f2f6a9b11\n", "ba962304"), ("\n", None), (None, None)],
)
def test_the_start_of_a_machine_is_told_by_a_digest(tmp_path: Path, identity: str | None, boot: str | None) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    if identity is not None:
        write(tmp_path / "proc/sys/kernel/random/boot_id", identity)

    assert machine.read({}, "a", TABLE, tmp_path, nothing).boot == boot


@pytest.mark.parametrize(
    ("env", "content", "answer"),
    [
        ({}, b"", None),
        ({"SUDO_USER": "root"}, b"", None),
        ({"SUDO_USER": "gone"}, b"", None),
        ({"SUDO_USER": "a"}, None, Caller("a", "/home/a/.nccl.conf")),
        (
            {"SUDO_USER": "a"},
            b"NCCL_DEBUG=INFO\nNCCL_DEBUG=WARN\nTOKEN=secret\n",
            Caller("a", "/home/a/.nccl.conf", (("NCCL_DEBUG", "INFO"),)),
        ),
    ],
)
def test_the_user_behind_sudo(env: dict[str, str], content: bytes | None, answer: Caller | None) -> None:
    def read(path: str) -> bytes:
        if content is None:
            raise FileNotFoundError(2, "No such file or directory", path)
        return content

    assert machine.caller(env, {"a": "/home/a"}.get, read) == answer
