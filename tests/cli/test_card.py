"""``ncclcheck card``: made on real nodes, shown in plain words, and refused where it cannot be read."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from ncclcheck.cli.card_text import card_text
from ncclcheck.cli.diagnostics import ExitCode
from ncclcheck.cli.main import main
from ncclcheck.doctor.card import card as card_of
from ncclcheck.lab import DOCKER_FIRST, built
from ncclcheck.model import Facts, Machine, Node, Setting, Unknown
from ncclcheck.peer import card
from tests.peer.card_nodes import DGX, ON_THE_CARD, ORDINARY

CARD = card.write(ORDINARY)
OTHER = card.write(DGX)


@pytest.fixture(scope="module")
def nodes() -> Iterator[tuple[Node, ...]]:
    """Two nodes that share eth1 and have a docker network of the same addresses each."""
    with built(DOCKER_FIRST) as made:
        yield made


def on(node: Node, *command: str, given: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command on a node."""
    env = {**os.environ, **dict(node.env), **more}
    return subprocess.run(
        [*node.prefix, *command], env=env, input=given, capture_output=True, text=True, timeout=60, check=False
    )


def ncclcheck(node: Node, *arguments: str, given: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    return on(node, sys.executable, "-m", "ncclcheck", *arguments, given=given, **more)


def steady(facts: Facts) -> Facts:
    """Without the room in /dev/shm, which changes from second to second."""
    assert facts.machine is not None
    limits = tuple(limit for limit in facts.machine.limits if limit.name != "shm_free")
    return replace(facts, machine=replace(facts.machine, limits=limits))


def test_a_nodes_card_says_what_its_scan_says(nodes: tuple[Node, ...]) -> None:
    home = dict(nodes[0].env)["HOME"]
    on(nodes[0], "sh", "-c", f"printf 'NCCL_DEBUG=WARN\\nNCCL_SECRET=hunter2\\n' > {home}/.nccl.conf")
    variables = {"NCCL_SOCKET_IFNAME": "=eth1", "GLOO_SOCKET_IFNAME": "eth1", "MASTER_ADDR": "node-b"}

    printed = ncclcheck(nodes[0], "card", **variables)
    scanned = ncclcheck(nodes[0], "node", "--json", **variables)
    on(nodes[0], "rm", f"{home}/.nccl.conf")

    assert printed.returncode == 0
    assert printed.stderr == (
        "On the other node: ncclcheck match 'CARD', or paste the cards of both into: ncclcheck match -\n"
    )
    assert len(printed.stdout) < 1500
    (facts,) = card.read(printed.stdout)
    beside = tuple(Setting(name, variables[name], "environment") for name in ("GLOO_SOCKET_IFNAME", "MASTER_ADDR"))
    full = msgspec.json.decode(scanned.stdout, type=Facts)
    assert steady(facts) == steady(card.of(replace(full, settings=full.settings + beside)))
    assert [link.name for link in facts.interfaces] == ["eth0", "eth1"]
    assert (facts.conf_files, "hunter2" in str(facts), "hunter2" in scanned.stdout) == (("~/.nccl.conf",), False, True)
    assert facts.choice is not None
    assert (facts.choice.interface, facts.choice.address) == ("eth1", "10.0.0.11")


def test_two_nodes_on_one_machine_can_be_told_to_be_there(nodes: tuple[Node, ...]) -> None:
    machines = [card_of(node).machine or Machine() for node in nodes]

    assert machines[0].boot is not None
    assert machines[0].boot == machines[1].boot
    assert machines[0].namespace != machines[1].namespace


def test_a_card_is_shown_on_the_other_node(nodes: tuple[Node, ...]) -> None:
    printed = ncclcheck(nodes[0], "card", "--nccl", "2.18.3").stdout
    shown = ncclcheck(nodes[1], "card", "--show", "-", given=f"> {printed}")

    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.startswith(
        "The card of node-a tells:\n\nWhat NCCL will take\n"
        "  NCCL 2.18.3 will take eth0, 172.17.0.2, to find the other ranks.\n"
    )


SHOWN = """\
The card of gpu-node-17 tells:

What NCCL will take
  NCCL 2.29.7 will take enp97s0f0, 10.20.31.117, to find the other ranks.
  Data goes over enp97s0f0 (10.20.31.117), unless InfiniBand or RoCE carries it.

Interfaces, in the kernel's order
  enp97s0f0  ethernet (mlx5_core)  running     mtu 9000  100000 Mbit/s  10.20.31.117/22, fe80::b26b:25ff:fe3a:91c4/64
  eno1       ethernet (ixgbe)      running     mtu 1500  10000 Mbit/s   192.168.44.117/24, fe80::3eec:efff:fe5b:17a2/64\
  to everything else
  docker0    docker (bridge)       no carrier  mtu 1500  speed unknown  172.17.0.1/16

Routes
  everything else  eno1       through 192.168.44.1  metric 100
  10.20.28.0/22    enp97s0f0  on the wire itself    metric 101
  192.168.44.0/24  eno1       on the wire itself    metric 100
  172.17.0.0/16    docker0    on the wire itself    metric 0

Settings that count
  NCCL_DEBUG=INFO               environment
  NCCL_SOCKET_IFNAME=enp97s0f0  ~/.nccl.conf, line 2

The machine
  NCCL: 2.29.7
  nccl.conf files read: ~/.nccl.conf, /etc/nccl.conf
  signs of: Docker
  start of the machine: 9f3c1a77, the same on all cards of one machine until it restarts
  GPUs: 8 x NVIDIA A100-SXM4-80GB
  network namespace: net:[4026531840]
  RDMA: mlx5_0:1 (enp97s0f0) Ethernet ACTIVE, 100 Gb/sec (4X EDR)
  firewall for what comes in: yes
  gpu-node-17 (own name): 127.0.1.1
  10.20.31.117 (reverse): gpu-node-17.cluster.example.org
  limits: memlock unlimited, memlock_hard unlimited, nofile 1048576, nofile_hard 1048576, shm 62.89 GiB,\
 shm_free 62.78 GiB, port_first 32768, port_last 60999, somaxconn 4096, tcp_syn_retries 6, rp_filter 2

What is not on it
  - no keys, tokens or passwords: a variable whose name or value looks like one is left out
  - no variables but those that begin with NCCL_, GLOO_ or MASTER_, and none that another one hides
  - no home folders: they are written ~
  - no loopback interface, and no links that lead to this machine's own containers
  - no processes, no logs, no serial numbers, nothing of the training itself

Host names and addresses are on it: give it to those who may know them."""


def test_what_is_on_it_in_plain_words() -> None:
    assert card_text(ON_THE_CARD) == SHOWN


def test_the_words_for_a_node_that_tells_nothing() -> None:
    text = card_text(Facts("", (), unknown=(Unknown("routes beyond the first 32", "x"),)))

    assert text.startswith("The card of a node without a name tells:\n")
    assert "Which interface NCCL will take cannot be told here." in text
    assert "NCCL: none found\n  nccl.conf files read: none\n" in text
    assert "Settings that count\n  none\n" in text
    assert "Left out for its size\n  - routes beyond the first 32\n" in text


def test_this_nodes_own_is_shown_without_a_card(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "e\x1b[2J")

    assert main(["card", "--show", "--nccl", "2.18.3", "--python", sys.executable]) == ExitCode.CLEAR

    out, err = capsys.readouterr()
    assert (err, "\x1b" in out, r"GLOO_SOCKET_IFNAME=e\x1b[2J  environment" in out) == ("", False, True)
    assert "What is not on it" in out


def test_the_json_is_the_facts_one_card_a_line(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["card", "--json", "--show", CARD, OTHER, CARD]) == ExitCode.CLEAR

    lines = capfdbinary.readouterr().out.splitlines()
    assert [msgspec.json.decode(line, type=Facts) for line in lines] == [ON_THE_CARD, card.of(DGX)]


def shown_hosts(text: str) -> list[str]:
    return [line.split()[3] for line in text.splitlines() if line.startswith("The card of")]


def test_cards_files_and_words_in_any_mixture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, both = tmp_path / "one.card", tmp_path / "both.txt"
    one.write_text(OTHER.replace("\n", "\r\n"), encoding="utf-16")
    both.write_text(f"mine:\n{CARD}\nhis:\n{OTHER}")
    narrow = "\n".join(CARD[at : at + 5] for at in range(0, len(CARD), 5))

    for words, hosts in (
        ([CARD], ["gpu-node-17"]),
        (CARD.split(), ["gpu-node-17"]),
        ([*CARD.split(), *OTHER.split()], ["gpu-node-17", "dgx-h100-113"]),
        ([*CARD.split(), str(one)], ["gpu-node-17", "dgx-h100-113"]),
        ([str(one), narrow], ["dgx-h100-113", "gpu-node-17"]),
        ([narrow, str(one)], ["gpu-node-17", "dgx-h100-113"]),
        ([str(both), CARD, str(one)], ["gpu-node-17", "dgx-h100-113"]),
    ):
        assert main(["card", "--show", *words]) == ExitCode.CLEAR
        assert shown_hosts(capsys.readouterr().out) == hosts


@pytest.mark.parametrize(
    ("word", "place", "problem"),
    [
        ("nowhere.card", "nowhere.card", "cannot be read: No such file or directory"),
        ("/", "/", "cannot be read: Is a directory"),
        ("a\0b", "a\\x00b", "cannot be read: embedded null byte"),
        ("/dev/null", "/dev/null", "there is no card in it"),
        (CARD[:-9], "the card of gpu-node-17", "it is cut off: its last word is missing (END-…)"),
        (
            CARD.replace("NCCLCARD1", "NCCLCARD3"),
            "the card of gpu-node-17",
            "made by a newer ncclcheck (card version 3)",
        ),
        ("NCCLCARD1", "the card", "there is no card in it"),
    ],
)
def test_what_cannot_be_read_is_said(word: str, place: str, problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["card", "--show", word]) == ExitCode.UNKNOWN

    out, err = capsys.readouterr()
    first, second = err.splitlines()
    assert (out, first.startswith(f"ncclcheck: {place}: {problem}"), second[:2]) == ("", True, "  ")


def test_one_good_card_does_not_hide_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["card", "--show", CARD, "typo.card"]) == ExitCode.UNKNOWN
    assert "typo.card: cannot be read" in capsys.readouterr().err


def test_wrong_usage_is_two() -> None:
    for arguments in (["card", "--nccl", "new"], ["card", "x"], ["card", "--shwo"]):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == ExitCode.USAGE


def test_at_a_terminal_it_says_how_to_end_the_paste(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    typed = SimpleNamespace(isatty=lambda: True, buffer=io.BytesIO(CARD.encode()))
    monkeypatch.setattr(sys, "stdin", typed)

    assert main(["card", "--show", "-"]) == ExitCode.CLEAR

    out, err = capsys.readouterr()
    assert (shown_hosts(out), err) == (["gpu-node-17"], "Paste the cards, then press Enter and Ctrl-D\n")
