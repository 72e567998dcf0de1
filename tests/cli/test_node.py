"""``ncclcheck node``: the screen, the JSON and the exit codes."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from ncclcheck.cli.diagnostics import ExitCode
from ncclcheck.cli.machine_text import size
from ncclcheck.cli.main import main
from ncclcheck.cli.node import exit_code
from ncclcheck.cli.node_text import node_text, trouble_lines
from ncclcheck.model import (
    Address,
    Candidate,
    Change,
    Choice,
    ConfLine,
    Facts,
    Gid,
    Gpu,
    Hint,
    Interface,
    Library,
    Limit,
    LinkKind,
    Machine,
    NameLookup,
    RdmaDevice,
    RdmaPort,
    Route,
    Setting,
    Trouble,
    Unknown,
    WhatIf,
)

COMMENT = ConfLine("/etc/nccl.conf", 2, "NCCL_DEBUG=INFO # x", Trouble.COMMENT, "kept", "NCCL_DEBUG=INFO")
OLD = ConfLine("environment", 0, "NCCL_X=1", Trouble.OTHER_VERSION, "gone", "NCCL_X=1")
TAKEN = Choice(
    "2.29.7", "eth0", "172.17.0.4", "because", candidates=(Candidate("eth0", "172.17.0.4", taken=True, reason="first"),)
)
FACTS = Facts(
    host="node-a",
    interfaces=(
        Interface("lo", 1, LinkKind.LOOPBACK, True, True, 65536, None, (Address("127.0.0.1", 8),)),
        Interface("eth0", 2, LinkKind.VETH, True, False, 1500, 25000, (Address("172.17.0.4", 16),)),
        Interface("eth1", 3, LinkKind.ETHERNET, None, None, None, None),
        Interface("eth2", 4, LinkKind.ETHERNET, False, False, 1500, None),
    ),
    settings=(Setting("NCCL_DEBUG", "INFO # x", "/etc/nccl.conf", line=2, wins=False),),
    conf_troubles=(COMMENT,),
    conf_files=("/etc/nccl.conf",),
    library=Library("/x/libnccl.so.2", "2.29.7"),
    python="/x/python",
    choice=TAKEN,
    unknown=(Unknown("what", "this"),),
)

SCREEN = """\
NCCL 2.29.7 will take eth0, 172.17.0.4, to find the other ranks.

Why
  because.
  eth0  172.17.0.4  taken  first

What is wrong
  /etc/nccl.conf, line 2: NCCL_DEBUG=INFO # x
      kept
      should be: NCCL_DEBUG=INFO

What is unusual
  - 172.17.0.4 on eth0 lies in 172.17.0.0/16, which Docker uses on every host by default: \
inside a container such an address is usually seen by this host alone
  - eth0 is down or has no carrier, and NCCL before 2.28 takes it all the same

This machine
  host: node-a
  python: /x/python
  NCCL: 2.29.7, /x/libnccl.so.2
  nccl.conf files read: /etc/nccl.conf

Interfaces, in the kernel's order
  lo    loopback  running     mtu 65536  speed unknown  127.0.0.1/8
  eth0  veth      no carrier  mtu 1500   25000 Mbit/s   172.17.0.4/16
  eth1  ethernet  state ?     mtu ?      speed unknown  no address
  eth2  ethernet  down        mtu 1500   speed unknown  no address

Settings
  NCCL_DEBUG=INFO # x  /etc/nccl.conf, line 2  hidden by an earlier one

Not known
  - what: this"""


def test_the_screen_comes_in_the_promised_order() -> None:
    assert node_text(FACTS) == SCREEN


MACHINE = Machine(
    namespace="net:[4026531840]",
    routes=(
        Route("0.0.0.0/0", "eth0", "172.17.0.1"),
        Route("10.9.0.0/16", "eth1", "10.0.0.1"),
        Route("10.0.0.0/24", "eth1"),
    ),
    hints=(Hint("Docker", "runtime", ("/.dockerenv exists",)),),
    rdma=(
        RdmaDevice(
            "mlx5_0", ("eth1",), (RdmaPort(1, "Ethernet", "ACTIVE", "100 Gb/sec", (Gid(3, "::1", "RoCE v2", "eth1"),)),)
        ),
        RdmaDevice("mlx5_1", (), (RdmaPort(1, "InfiniBand", "ACTIVE", "400 Gb/sec"),)),
    ),
    limits=(Limit("memlock", None, "bytes"), Limit("shm", 64 << 20, "bytes"), Limit("port_first", 32768)),
    firewall=True,
    names=(NameLookup("node-a", "own name", ("10.0.0.5",)), NameLookup("172.17.0.4", "reverse", ())),
    gpus=(Gpu("NVIDIA H200", "0000:19:00.0", 150 << 30), Gpu("NVIDIA H200", "0000:1a:00.0")),
    unknown=(Unknown("the weather", "a window"),),
)
MACHINE_LINES = """\
  signs of Docker: /.dockerenv exists
  network namespace: net:[4026531840]
  default route: eth0 via 172.17.0.1
  RDMA: mlx5_0:1 (eth1) Ethernet ACTIVE, 100 Gb/sec; GIDs: 3 RoCE v2 ::1
  RDMA: mlx5_1:1 InfiniBand ACTIVE, 400 Gb/sec
  firewall for what comes in: yes
  GPU: NVIDIA H200 at 0000:19:00.0, 150 GiB
  GPU: NVIDIA H200 at 0000:1a:00.0
  node-a (own name): 10.0.0.5
  172.17.0.4 (reverse): nothing found
  limits: memlock unlimited, shm 64 MiB, port_first 32768

Interfaces, in the kernel's order
  lo    loopback              running     mtu 65536  speed unknown  127.0.0.1/8
  eth0  veth                  no carrier  mtu 1500   25000 Mbit/s   172.17.0.4/16  to everything else
  eth1  ethernet (mlx5_core)  state ?     mtu ?      speed unknown  no address     part of br0; to 10.9.0.0/16
  br0   bridge                down        mtu 1500   speed unknown  no address     with eth1
"""


def test_the_screen_shows_the_whole_machine() -> None:
    lo, eth0, eth1, eth2 = FACTS.interfaces
    links = (
        lo,
        eth0,
        replace(eth1, driver="mlx5_core", master="br0"),
        replace(eth2, name="br0", kind=LinkKind.BRIDGE, members=("eth1",), driver="bridge"),
    )

    text = node_text(replace(FACTS, interfaces=links, machine=MACHINE))

    assert MACHINE_LINES in text
    assert text.endswith("Not known\n  - what: this\n  - the weather: a window")


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (1023, "1023 B"), (65536, "64 KiB"), (64 << 20, "64 MiB"), (24 << 40, "2.458e+04 GiB")],
)
def test_sizes(number: int, text: str) -> None:
    assert size(number) == text


@pytest.mark.parametrize(
    ("facts", "headline"),
    [
        (Facts("a", ()), "Which interface NCCL will take cannot be told here."),
        (
            Facts("a", (), choice=Choice("2.29.7", None, None, "r", code=5)),
            "NCCL 2.29.7 will find NO interface and fail with code 5 (invalid usage).",
        ),
    ],
)
def test_the_headline_without_a_choice(facts: Facts, headline: str) -> None:
    assert node_text(facts).splitlines()[0] == headline


@pytest.mark.parametrize(
    ("trouble", "last"),
    [
        (COMMENT, "    should be: NCCL_DEBUG=INFO"),
        (OLD, "    gone"),
        (ConfLine("environment", 0, "A=", Trouble.EMPTY, "m", ""), "    unset it"),
        (ConfLine("/f", 3, "A=", Trouble.SECOND_LINE, "m", ""), "    the line should go"),
    ],
)
def test_what_to_do_about_a_line(trouble: ConfLine, last: str) -> None:
    assert list(trouble_lines(trouble))[-1] == last


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        (Facts("a", ()), ExitCode.UNKNOWN),
        (Facts("a", (), choice=TAKEN), ExitCode.CLEAR),
        (Facts("a", (), choice=TAKEN, conf_troubles=(OLD,)), ExitCode.CLEAR),
        (Facts("a", (), choice=TAKEN, conf_troubles=(COMMENT,)), ExitCode.PROBLEM),
        (Facts("a", (), choice=Choice("2.29.7", None, None, "", code=5)), ExitCode.PROBLEM),
    ],
)
def test_the_exit_code(facts: Facts, code: ExitCode) -> None:
    assert exit_code(facts) is code


def test_the_command_shows_this_machine(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NCCL_SOCKET_IFNAME", "=lo\x1b[31m")

    assert main(["node", "--nccl", "2.18.3", "--python", sys.executable]) == ExitCode.PROBLEM

    shown = capsys.readouterr().out
    assert shown.startswith("NCCL 2.18.3 will find NO interface and fail with code 3 (internal error).")
    assert ("\x1b" in shown, r"NCCL_SOCKET_IFNAME==lo\x1b[31m" in shown) == (False, True)


def test_the_json_is_the_facts(tmp_path: Path) -> None:
    env = {**os.environ, "NCCL_SOCKET_IFNAME": "=lo", "NCCL_CONF_FILE": str(tmp_path)}
    command = [sys.executable, "-m", "ncclcheck", "node", "--json", "--python", sys.executable]
    done = subprocess.run(command, env=env, capture_output=True, check=False)

    facts = msgspec.json.decode(done.stdout, type=Facts)
    assert (done.stdout.count(b"\n"), done.stderr) == (1, b"")
    assert facts.choice is not None
    assert facts.choice.interface == "lo"
    assert f"what {tmp_path} sets" in [unknown.question for unknown in facts.unknown]


def test_a_home_that_is_not_set_is_no_obstacle() -> None:
    env = {name: value for name, value in os.environ.items() if name != "HOME"}
    command = [sys.executable, "-m", "ncclcheck", "node", "--json", "--python", sys.executable]
    done = subprocess.run(command, env=env, capture_output=True, check=False)

    assert (done.stderr, msgspec.json.decode(done.stdout, type=Facts).python) == (b"", sys.executable)


def test_what_if_is_answered_beside_what_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ncclcheck.cli.node.scan", lambda node, **asked: replace(FACTS, choice=TAKEN, settings=()))

    code = main(
        ["node", "--what-if", "NCCL_SOCKET_IFNAME==eth9 # x", "--what-if", "NCCL_IB_DISABLE-", "--nccl", "2.29.7"]
    )

    assert code == ExitCode.PROBLEM
    assert (
        capsys.readouterr().out
        == """\
With NCCL_SOCKET_IFNAME==eth9 # x, NCCL_IB_DISABLE not set:
NCCL 2.29.7 will find NO interface and fail with code 5 (invalid usage).
As things are: NCCL 2.29.7 will take eth0, 172.17.0.4, to find the other ranks.

Why
  NCCL_SOCKET_IFNAME is “=eth9 # x”: NCCL takes an interface whose name is exactly “eth9 # x”; there is none among\
 lo, eth0; NCCL then gives up: “Bootstrap : no socket interface found”.
  lo    127.0.0.1     its name is not what NCCL_SOCKET_IFNAME asks for
  eth0  172.17.0.4    it is down or has no carrier (no RUNNING flag), and NCCL from 2.28 skips such interfaces
  eth1                it has no IPv4 or IPv6 address
  eth2                it has no IPv4 or IPv6 address

What is wrong with it
  environment: NCCL_SOCKET_IFNAME==eth9 # x
      the comment is part of the value “=eth9 # x”: that name fits no interface, and NCCL finds none
      should be: NCCL_SOCKET_IFNAME==eth9

What is unusual
  - NCCL_IB_DISABLE is not set anyway

What would become of the findings
  would come: NC106 NCCL_SOCKET_IFNAME reaches NCCL on node-a as '=eth9 # x', not as '=eth9'
"""
    )


def test_what_if_has_json_and_its_own_exit_code(
    capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ncclcheck.cli.node.scan", lambda node, **asked: FACTS)

    assert main(["node", "--json", "--what-if", "NCCL_SOCKET_IFNAME==eth0", "--nccl", "2.18.3"]) == ExitCode.CLEAR

    answer = msgspec.json.decode(capsysbinary.readouterr().out, type=WhatIf)
    assert answer.choice is not None
    assert (answer.changes, answer.choice.interface) == ((Change("NCCL_SOCKET_IFNAME", "=eth0"),), "eth0")


@pytest.mark.parametrize("change", ["NCCL_DEBUG", "=x", "-NCCL_DEBUG"])
def test_a_change_that_is_none(change: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["node", f"--what-if={change}"])

    assert (caught.value.code, "neither NAME=VALUE nor NAME-" in capsys.readouterr().err) == (ExitCode.USAGE, True)
