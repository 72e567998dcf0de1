"""What a node is and what NCCL will do on it, from a real namespace to the value."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from ncclcheck.doctor.scan import scan
from ncclcheck.errors import NodeError, ProbeError
from ncclcheck.model import Facts, Node, Setting, Trouble
from tests.node.namespace import ENTER, run
from tests.yardstick import within

HERE = Node("here")


def namespace(setup: str, env: tuple[tuple[str, str], ...] = ()) -> Node:
    """A node in a fresh network namespace that shell commands furnish."""
    return Node("node-a", prefix=(*ENTER, "sh", "-ec", f'{setup}\nexec "$0" "$@"'), env=env)


TWO = """
ip link set lo up
ip link add docker0 type bridge
ip addr add 172.17.0.1/16 dev docker0
ip link add eth1 type veth peer name far
ip addr add 10.0.0.5/24 dev eth1
ip link set far up
ip link set eth1 up
until ip -o link show eth1 | grep -q "state UP"; do sleep 0.02; done
"""

LINK_LOCAL = """
echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad
ip link add eth1 type veth peer name far
ip link set far addrgenmode none
ip link set far up
ip link set eth1 up
until ip -o link show eth1 | grep -q "state UP"; do sleep 0.02; done
until ip -6 addr show eth1 | grep -q fe80; do sleep 0.02; done
"""


def test_a_node_behind_a_prefix_is_asked_and_answers_with_the_same_type(tmp_path: Path) -> None:
    conf = tmp_path / "nccl.conf"
    conf.write_text("NCCL_SOCKET_IFNAME=eth1  # mine\n")

    facts = scan(namespace(TWO, (("NCCL_CONF_FILE", str(conf)),)), nccl="2.27.7", python=sys.executable)

    assert {link.name for link in facts.interfaces} >= {"lo", "docker0", "eth1", "far"}
    assert facts.choice is not None
    assert (facts.choice.nccl, facts.choice.interface, facts.choice.code) == ("2.27.7", None, 5)
    wanted = Setting("NCCL_SOCKET_IFNAME", "eth1  # mine", str(conf), line=1)
    assert (wanted in facts.settings, str(conf) in facts.conf_files) == (True, True)
    assert [one.trouble for one in facts.conf_troubles if one.path == str(conf)] == [Trouble.COMMENT]


@pytest.mark.parametrize(
    ("setup", "env", "place", "code"),
    [
        (TWO, (), "eth1", 0),
        (TWO, (("NCCL_SOCKET_IFNAME", "nosuch"),), None, 5),
        ("", (), None, 5),
        ("ip link set lo up", (), "lo", 0),
        (
            f"{LINK_LOCAL}ip addr add fd00:1::5/64 dev eth1",
            (("NCCL_SOCKET_FAMILY", "AF_INET6"),),
            "eth1",
            0,
        ),
    ],
    ids=["usual", "no such name", "no address at all", "only lo", "only IPv6"],
)
def test_the_choice_in_odd_places(setup: str, env: tuple[tuple[str, str], ...], place: str | None, code: int) -> None:
    facts = scan(namespace(setup, env), nccl="2.29.7", python=sys.executable)

    assert facts.choice is not None
    assert facts.sockets is not None
    assert (facts.choice.interface, facts.choice.code) == (place, code)


def test_this_machine_is_asked_directly_and_the_answer_can_be_sent() -> None:
    facts = scan(Node("here", env=(("NCCL_X", "\udcff"), ("HOME", ""))), python=sys.executable)

    assert msgspec.json.decode(msgspec.json.encode(facts), type=Facts) == facts
    assert Setting("NCCL_X", r"\xff", "environment") in facts.settings
    assert (facts.python, facts.library is not None, facts.unknown) == (sys.executable, True, ())


def test_no_privilege_is_needed() -> None:
    facts = scan(Node("here", prefix=("unshare", "--user")), python=sys.executable)

    assert {link.name for link in facts.interfaces} >= {"lo"}
    assert facts.choice is not None
    assert facts.machine is not None
    assert facts.machine.firewall is None
    assert [one.question for one in facts.machine.unknown] == ["whether a firewall filters what comes in"]


def test_without_a_library_the_version_is_unknown(tmp_path: Path) -> None:
    bare = tmp_path / "python3"
    bare.write_text(f'#!/bin/sh\nprintf \'["%s", "/nonexistent", []]\\n\' {bare}\n')
    bare.chmod(0o755)

    facts = scan(Node("here", env=(("LD_LIBRARY_PATH", ""),)), python=str(bare))

    if facts.library is None:  # a system-wide libnccl would be found even so
        assert [unknown.question for unknown in facts.unknown] == ["which NCCL version will run here"]
    assert facts.python == str(bare)


def test_the_far_side_tells_its_own_errors() -> None:
    with pytest.raises(NodeError) as caught:
        scan(Node("node-b", prefix=("env",)), python="/nonexistent/python")
    with pytest.raises(ProbeError) as direct:
        scan(HERE, python="/nonexistent/python")

    assert (caught.value.place, caught.value.next_step) == ("node-b", direct.value.next_step)
    assert caught.value.problem == f"{direct.value.place}: {direct.value.problem}"


@pytest.mark.parametrize(
    ("prefix", "problem"),
    [(("/nonexistent/enter",), "cannot be run"), (("false",), "exit status 1 and no answer"), (("echo",), "no answer")],
)
def test_a_prefix_that_leads_nowhere(prefix: tuple[str, ...], problem: str) -> None:
    with pytest.raises(NodeError, match=problem):
        scan(Node("node-b", prefix=prefix))


MANY = "for n in $(seq 100); do echo link add a$n type veth peer name b$n; echo addr add 10.0.$n.1/24 dev a$n; done"
WHOLE = """
import os, sys, time
from ncclcheck.cli.node_text import node_text
from ncclcheck.doctor import scan
from ncclcheck.model import Library
from ncclcheck.node import libnccl
# The job's Python is asked in a process of its own, which has nothing to do with interfaces.
libnccl.choose_all = lambda python, env: (None, (Library("/x", "2.29.7"),))
times = []
for _ in range(4):
    started = time.monotonic()
    facts = scan.scan(scan.Node("here"))
    text = node_text(facts)
    times.append(time.monotonic() - started)
print(len([one for one in facts.interfaces if one.name[0] in "ab"]), min(times))
"""


def test_two_hundred_interfaces_take_less_than_a_third_of_a_second_from_kernel_to_screen() -> None:
    count, seconds = run(f"ip link set lo up; ({MANY}) | ip -batch -", WHOLE).split()
    assert count == "200"
    assert within(0.3, float(seconds))


MAC = """
import sys
sys.modules["pyroute2"] = None
from pathlib import Path
from ncclcheck.doctor import scan
from ncclcheck.node import machine
read = machine.read
machine.read = lambda *words: read(*words, root=Path("/nonexistent"))
from ncclcheck.cli.main import main
code = main(["node", "--nccl", "2.29.7", "--python", sys.executable])
print("exit", int(code))
main(["node", "--nccl", "2.29.7", "--python", sys.executable, "--what-if", "NCCL_DEBUG=on"])
"""


def test_without_a_linux_kernel_everything_else_is_told_and_the_rest_is_said_to_be_unknown(tmp_path: Path) -> None:
    (tmp_path / "nccl.conf").write_text("NCCL_DEBUG=INFO # x\n")
    env = {"PATH": os.environ["PATH"], "NCCL_CONF_FILE": str(tmp_path / "nccl.conf")}
    done = subprocess.run([sys.executable, "-c", MAC], env=env, capture_output=True, text=True, check=False)

    assert done.stderr == ""
    for said in (
        "Which interface NCCL will take cannot be told here.",
        "should be: NCCL_DEBUG=INFO",
        "- interfaces: netlink: this system has none, so only Linux can be looked at",
        "- routes, limits, RDMA devices, GPUs and firewall: /proc and /sys, which only Linux has",
        "“on” is no level",
    ):
        assert said in done.stdout
    assert "exit 1" in done.stdout
