"""The place of the peers for real, on nodes of the lab, by keyboard alone."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from ncclcheck.lab import DOCKER_FIRST, built
from ncclcheck.model import Node, Rating
from ncclcheck.tui.app import Doctor
from ncclcheck.tui.real import use_cases
from ncclcheck.tui.seam import Meeting, Ticks
from tests.tui import fake
from tests.tui.pilots import pressed, settled, text_of
from tests.tui.terminals import terminals


async def test_from_the_question_to_the_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    real, measured = use_cases(), list[Meeting]()

    def measure(meeting: Meeting) -> Ticks:
        # The speed tests round the fix are those of tests/test_terminal.py; the last one, by its own key, is real.
        measured.append(meeting)
        if len(measured) < 3:
            yield (fake.FAILED, fake.PASSED)[len(measured) - 1]
        else:
            yield from real.measure(replace(meeting, size=1 << 20))

    with built(DOCKER_FIRST) as nodes:
        app = Doctor(nodes, cases=replace(real, measure=measure))
        async with app.run_test(size=(80, 24)) as pilot:
            await settled(pilot)
            await pressed(pilot, "4", "enter")
            assert "✗ Use eth1 on both nodes; NCCL takes eth0 there now" in text_of(pilot)
            await pressed(pilot, "f")
            assert text_of(pilot).count("+ NCCL_SOCKET_IFNAME==eth1") == 2
            await pressed(pilot, "a", "escape")
            assert "✓ Fixed and proved: NCCL's own handshake passes over eth1 on both nodes" in text_of(pilot)
            assert [conf(node) for node in nodes] == [["NCCL_SOCKET_IFNAME==eth1"]] * 2
            before = app.snapshot.pairing
            await pressed(pilot, "v")
            shown = text_of(pilot)
            assert "✗ Before: NCCL's handshake fails: 172.17.0.2:" in shown
            assert "✓ Now: NCCL's handshake passes, both ways and in the ring" in shown
            assert "✓ Now: the speed test reports " in shown
            after = app.snapshot.pairing
            assert before is not None
            assert after is not None
            assert after.latest is not None
            assert after.latest != before.latest, "the key runs it anew"
            assert app.snapshot.speed is not None
            assert (app.snapshot.speed.passed, app.snapshot.speed.interface) == (True, "eth1")
            assert [run.label for run in app.snapshot.runs] == ["before the fix", "after the fix", ""]
            await pressed(pilot, "5")
            assert "GB/s, one way, by size" in text_of(pilot)
            assert app.snapshot.judgement is not None
            assert app.snapshot.judgement.rating is Rating.UNKNOWN, "so little says nothing"
            assert f"because {app.snapshot.judgement.reason}"[:60] in text_of(pilot)
    assert [meeting.interfaces for meeting in measured] == [("eth0", "eth0"), ("eth1", "eth1"), ("eth1", "eth1")]


def conf(node: Node) -> list[str]:
    """The lines of a node's nccl.conf, none where there is no file."""
    command = [*node.prefix, "sh", "-c", "cat /etc/nccl.conf 2>/dev/null || true"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_two_people_are_each_asked_on_their_own_screen(tmp_path: Path) -> None:
    with built(DOCKER_FIRST) as nodes, terminals(nodes, tmp_path) as (one, other):
        one.until("q Quit")
        one.send("4")
        one.until("Three ways to find out why")
        one.send("i")
        one.until("Good for one pairing")
        shown = one.text
        line = " ".join(shown[shown.index("ncclcheck join") : shown.index("Good for one")].split())
        other.until("q Quit")
        other.paste(line)
        other.until("Enter joins")
        other.send("\r")
        for terminal, node in ((one, nodes[0]), (other, nodes[1])):
            terminal.until("Change this on this node?")
            assert f" {node.name}\n   /etc/nccl.conf (new file)\n     + NCCL_SOCKET_IFNAME==eth1" in terminal.text
            assert "Use eth1 on both nodes" in terminal.text
        one.send("y")
        one.until("✓ node-a: /etc/nccl.conf written")
        other.send("n")
        for terminal in (one, other):
            terminal.until("✗ node-b: not changed: its user said no; nothing was written")
        assert [conf(node) for node in nodes] == [["NCCL_SOCKET_IFNAME==eth1"], []]
        # The speed test is under way; nobody has to wait for it who leaves.
        for terminal in (one, other):
            terminal.send("q")
            assert terminal.end() < 10
            assert terminal.process.exitstatus == 0
