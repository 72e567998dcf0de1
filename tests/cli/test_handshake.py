"""``ncclcheck handshake`` for real on two nodes of the lab, its words, and its exit codes."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ncclcheck.cli.diagnostics import ExitCode
from ncclcheck.cli.handshake_text import handshake_text, invitation
from ncclcheck.cli.main import main
from ncclcheck.lab import DOCKER_FIRST, built
from ncclcheck.model import Contact, Handshake, Leg, Node
from ncclcheck.peer.bootstrap_wire import SocketAddress, Ticket, read_ticket, ticket_text

COMMAND = (sys.executable, "-m", "ncclcheck", "handshake")
ETH1 = ("--env", "NCCL_SOCKET_IFNAME==eth1")
LO = ("--env", "NCCL_SOCKET_IFNAME==lo", "--python", sys.executable)
TICKET = Ticket("2.29.7", 5, SocketAddress("10.0.0.11", 41234))


@pytest.fixture(scope="module")
def nodes() -> Iterator[tuple[Node, ...]]:
    with built(DOCKER_FIRST) as made:
        yield made


def start(node: Node, *words: str) -> subprocess.Popen[str]:
    env = {**os.environ, **dict(node.env)}
    pipe = subprocess.PIPE
    return subprocess.Popen([*node.prefix, *COMMAND, *words], env=env, stdout=pipe, stderr=pipe, text=True)


# Speaks HTTP to an address, and calls it once more without a word.
STRANGER = """
import socket, sys
for words in (b"GET / HTTP/1.1\\r\\nHost: rank-0\\r\\n\\r\\n", b""):
    with socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=5) as call:
        call.sendall(words)
"""


def test_two_people_a_stranger_and_a_late_start(nodes: tuple[Node, ...]) -> None:
    with start(nodes[0], "--limit", "60", "--python", sys.executable, *ETH1) as first:
        assert first.stderr is not None
        head, command = first.stderr.readline(), first.stderr.readline()
        *name, word, rank = command.split()
        root = read_ticket(word).root
        stranger = [*nodes[1].prefix, sys.executable, "-c", STRANGER, root.address, str(root.port)]
        subprocess.run(stranger, timeout=20, check=True)
        time.sleep(2.0)
        with start(nodes[1], word, rank, *ETH1) as second:
            said, complaints = second.communicate(timeout=60)
        shown, _ = first.communicate(timeout=60)

    assert (head.startswith("NCCL 2."), name, rank) == (True, ["ncclcheck", "handshake"], "1")
    assert head.endswith(f"'s root listens on {root}. Within 60 s, run on the other machine:\n")
    assert (first.returncode, second.returncode, complaints) == (0, 0, "")
    assert f"passed, as seen from rank 0 of 2: with the root at {root} both ways" in shown.splitlines()[0]
    assert "passed, as seen from rank 1 of 2" in said.splitlines()[0]
    assert "\nNCCL's own lines, of the root:\n" in shown
    assert ": Using eth1:10.0.0.11<0>" in shown
    assert "NCCL's own lines" not in said


def test_json_is_a_ticket_and_a_result(nodes: tuple[Node, ...]) -> None:
    with start(nodes[0], "--json", "--limit", "3", "--python", sys.executable) as first:
        assert first.stdout is not None
        ticket = json.loads(first.stdout.readline())["ticket"]
        with start(nodes[1], ticket, "1", "--json", "--limit", "1", *ETH1) as second:
            result = json.loads(second.communicate(timeout=60)[0])
        other = json.loads(first.communicate(timeout=60)[0])

    assert [one["passed"] for one in (other, result)] == [False, False]
    assert (first.returncode, second.returncode, other["root"]) == (1, 1, str(read_ticket(ticket).root))
    assert [one["problem"] == "" for one in other["contacts"]] == [True, False]
    (contact,) = result["contacts"]
    assert (contact["leg"], contact["rank"], contact["host"]) == ("rank to root", 1, "node-b")
    assert contact["problem"].startswith("172.17.0.2:")


def test_nobody_comes(capsys: pytest.CaptureFixture[str]) -> None:
    begin = time.monotonic()

    code = main(["handshake", *LO, "--limit", "0.5"])

    shown = capsys.readouterr()
    assert (code, time.monotonic() - begin < 20) == (ExitCode.PROBLEM, True)
    assert shown.out.startswith("NCCL 2.")
    assert "FAILED, as seen from rank 0 of 2: the root did not call back to 127.0.0.1:" in shown.out
    assert "once rank 1 has reported to it" in shown.out
    assert "run on the other machine:\n  ncclcheck handshake 2." in shown.err


def test_the_root_is_gone(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        gone = Ticket("2.18.3", 5, SocketAddress(*closed.getsockname()))

    code = main(["handshake", ticket_text(gone), "1", "--address", "127.0.0.1"])

    shown = capsys.readouterr().out
    assert code == ExitCode.PROBLEM
    assert shown.startswith(f"NCCL 2.18.3's handshake FAILED, as seen from rank 1 of 2: {gone.root} refused")
    assert "or the first ncclcheck has ended" in shown


def test_without_nccl_it_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    python = tmp_path / "python3"
    python.write_text(f'#!/bin/sh\nprintf \'["%s", "/nonexistent", []]\\n\' {python}\n')
    python.chmod(0o755)

    assert main(["handshake", "--python", str(python)]) == ExitCode.UNKNOWN
    said = capsys.readouterr().err
    assert said.startswith(f"ncclcheck: {python}: no libnccl.so.2 within its reach\n  Name the Python")


def test_where_nccl_finds_no_interface(capsys: pytest.CaptureFixture[str]) -> None:
    nowhere = ["--env", "NCCL_SOCKET_IFNAME=nosuch"]

    assert main(["handshake", "--python", sys.executable, *nowhere]) == ExitCode.PROBLEM
    assert capsys.readouterr().out.startswith("There was no handshake: NCCL starts no root: Bootstrap : no socket")
    assert main(["handshake", ticket_text(TICKET), "1", *nowhere]) == ExitCode.PROBLEM
    assert "NCCL would find no interface" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nonsense", "1"], "“nonsense” is not a ticket, or a part of it is missing"),
        ([ticket_text(TICKET)[:-3], "1"], "is not a ticket, or a part of it is missing"),
        ([ticket_text(TICKET)], "the ticket is followed by the rank to play"),
        ([ticket_text(TICKET), "0"], "of 2 ranks, those of other machines are 1 to 1"),
        ([ticket_text(TICKET), "3", "--ranks", "3"], "of 3 ranks, those of other machines are 1 to 2"),
        ([ticket_text(TICKET), "one"], "invalid int value: 'one'"),
        (["--ranks", "1"], "--ranks is the number of machines"),
        (["--limit", "0"], "'0' is not a time limit in seconds"),
        (["--env", "X"], "'X' is not NAME=VALUE"),
        (["--address", "127.0.0.1"], "--address is for the other machines"),
    ],
)
def test_wrong_usage(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["handshake", *words])

    assert caught.value.code == ExitCode.USAGE
    assert said in capsys.readouterr().err


def test_the_invitation() -> None:
    text = ticket_text(TICKET)
    head = "NCCL 2.29.7's root listens on 10.0.0.11:41234. Within 90 s, run on the other machine"

    assert invitation(TICKET, 2, 90) == f"{head}:\n  ncclcheck handshake {text} 1"
    assert invitation(TICKET, 3, 90) == (
        f"{head}s, one command each:\n"
        f"  ncclcheck handshake {text} 1 --ranks 3\n"
        f"  ncclcheck handshake {text} 2 --ranks 3"
    )


OK = (
    Contact(Leg.TO_ROOT, 0, "node-a", "10.0.0.11:41234", 0.0004),
    Contact(Leg.FROM_ROOT, 0, "node-a", "10.0.0.11:5000", 1.5),
)
REFUSED = Contact(Leg.RING, 0, "node-a", "10.0.0.12:5001", None, "10.0.0.12:5001 refused the connection")
SILENT = Contact(Leg.FROM_ROOT, 1, "", "10.0.0.12:5002", None, "the root did not call back")


def test_what_is_shown_of_a_failure() -> None:
    result = Handshake("2.29.7", "node-a", "10.0.0.11:41234", (*OK, REFUSED), ("one", "two"))

    assert handshake_text(result, 2, 0) == (
        "NCCL 2.29.7's handshake FAILED, as seen from rank 0 of 2: 10.0.0.12:5001 refused the connection.\n\n"
        "  rank 0 to the root  10.0.0.11:41234        ok after 0.000 s\n"
        "  the root to rank 0  10.0.0.11:5000         ok after 1.500 s\n"
        "  rank 0 to rank 1    10.0.0.12:5001         FAILED: 10.0.0.12:5001 refused the connection\n\n"
        "The ranks call each other directly, at the address that NCCL takes on each machine. Either rank 1 or the one\n"
        "before rank 0 has the wrong interface (see ncclcheck node on each; NCCL_SOCKET_IFNAME names another one), or "
        "a\n"
        "firewall is between. NCCL's ports are any of net.ipv4.ip_local_port_range; all must be open for TCP, both "
        "ways.\n\n"
        "NCCL's own lines, of the root:\n  one\n  two"
    )


def test_the_first_failure_in_nccls_order_is_the_one_to_mend() -> None:
    text = handshake_text(Handshake("2.29.7", "", "10.0.0.11:41234", (*OK, REFUSED, SILENT)), 2)

    assert text.startswith("NCCL 2.29.7's handshake FAILED, between 2 ranks: the root did not call back.")
    assert "The root calls the machine of rank 1 at 10.0.0.12 once rank 0 has reported to it." in text


def test_what_is_shown_of_a_success() -> None:
    passed = Handshake("2.29.7", "node-a", "10.0.0.11:41234", OK)

    assert handshake_text(passed, 2, 0).splitlines()[0] == (
        "NCCL 2.29.7's handshake passed, as seen from rank 0 of 2: "
        "with the root at 10.0.0.11:41234 both ways, and in the ring."
    )
