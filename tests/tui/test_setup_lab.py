"""Two newcomers at two terminals of 80x24, on nodes of the lab whose network has faults: by keyboard alone from nothing
to the summary, with every command and every key counted.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from ncclcheck.lab import DOCKER_FIRST, OVERLAY_FIRST, Layout, built
from ncclcheck.model import Node
from tests.doctor.paired import shell
from tests.peer.networks import NO_LINK_LOCAL, wall
from tests.tui.terminals import Terminal

ROOT = Path(__file__).parents[2]
COMMANDS, KEYS, WAITED = 4, 10, 60.0
"""What two newcomers together may need at most; seconds besides the speed test."""
NEW = "tcp flags & (syn|ack) == syn"
LISTENER = "import socket, time; s = socket.create_server(('', 29500)); print('on', flush=True); time.sleep(200)"
ASKED, READY = "Write this on this node?", "2 nodes, ready to train"


@dataclass
class Newcomer:
    """Somebody at a node's shell; what he types is counted."""

    node: Node
    home: Path
    stack: ExitStack
    commands: int = 0
    keys: int = 0
    terminal: Terminal = field(init=False)

    def starts(self) -> None:
        """The program, in the same terminal or after it was killed."""
        self.commands += 1
        self.terminal = Terminal(self.home, "-m", "tests.tui.setup_app", node=self.node, env={"PYTHONPATH": str(ROOT)})
        self.stack.callback(self.terminal.close)
        self.terminal.until("q Quit")

    def types(self, script: str) -> str:
        """A command that the screen told him to run."""
        self.commands += 1
        return shell(self.node, script)

    def presses(self, *keys: str) -> None:
        """One key after the other."""
        self.keys += len(keys)
        for key in keys:
            self.terminal.send(key)

    def pastes(self, text: str) -> None:
        """The terminal's own key for it."""
        self.keys += 1
        self.terminal.paste(text)

    def says_yes(self, *shown: str) -> None:
        """To what is on the screen, once it has been read."""
        for words in (ASKED, *shown):
            self.sees(words)
        time.sleep(0.6)
        self.presses("y")

    def sees(self, words: str) -> str:
        """Wait for words on the screen; all that is on it then."""
        self.terminal.until(words)
        return self.terminal.text

    @property
    def written(self) -> str:
        """His nccl.conf."""
        return shell(self.node, "cat /etc/nccl.conf")


@contextmanager
def newcomers(layout: Layout, homes: Path) -> Iterator[tuple[Newcomer, Newcomer]]:
    """Two of them; nothing that they started outlives the block."""
    with built(layout) as nodes, ExitStack() as stack:
        for node in nodes:
            shell(node, NO_LINK_LOCAL)
        ann, bob = (Newcomer(node, homes / node.name, stack) for node in nodes)
        yield ann, bob


def trapped(layout: Layout, line: str) -> Layout:
    """The layout with that nccl.conf on its second node."""
    first, second = layout.nodes
    return replace(layout, nodes=(first, replace(second, etc=(("nccl.conf", line),))))


def invites(ann: Newcomer) -> str:
    """From nothing to the line for the other node, as it stands on the screen."""
    ann.starts()
    ann.presses("6")
    ann.sees("Enter begins")
    ann.presses("\r")
    shown = ann.sees("Or start ncclcheck there")
    return " ".join(shown[shown.index("ncclcheck setup") : shown.index("Or start")].split())


def joins(bob: Newcomer, line: str) -> None:
    """From nothing to the first node."""
    bob.starts()
    bob.pastes(line)
    bob.sees("Enter joins")
    bob.presses("\r")


class Measuring:
    """How long the speed test goes on, as somebody sees who looks at a screen."""

    def __init__(self) -> None:
        self.began, self.ended = time.monotonic(), 0.0
        self._measures = 0.0

    def until_ready(self, who: Newcomer) -> None:
        """Look at the screen till the end."""
        while READY not in who.terminal.text:
            before, measuring = time.monotonic(), "→ …  8" in who.terminal.text
            assert before < self.began + 100, who.terminal.text
            who.terminal.take()
            self._measures += (time.monotonic() - before) if measuring else 0.0

    @property
    def waited(self) -> float:
        """Seconds besides it."""
        return time.monotonic() - self.began - self._measures


def summary(who: Newcomer) -> str:
    """What is kept of it."""
    return shell(who.node, "cat ${XDG_STATE_HOME:-$HOME/.local/state}/ncclcheck/setup-*.md")


def test_docker_first_the_wrong_interface_the_trap_the_port_a_late_peer_and_a_kill(tmp_path: Path) -> None:
    layout = trapped(DOCKER_FIRST, "NCCL_SOCKET_IFNAME=eth1  # the overlay\n")
    with newcomers(layout, tmp_path) as (ann, bob), ExitStack() as stack:
        holds_the_port(ann.node, stack)
        clock = Measuring()
        line = invites(ann)
        time.sleep(2.0)
        joins(bob, line)
        bob.says_yes("- NCCL_SOCKET_IFNAME=eth1  # the overlay", "+ NCCL_SOCKET_IFNAME=eth1")
        ann.says_yes("/etc/nccl.conf (new file)", "+ NCCL_SOCKET_IFNAME==eth1")
        ann.sees("→ …  8")
        os.killpg(bob.terminal.process.pid, signal.SIGKILL)
        ann.sees("Waiting for the other node")
        bob.starts()
        bob.presses("6")
        bob.sees("take up again")
        bob.presses("\r")
        clock.until_ready(ann)
        waited = clock.waited
        bob.sees(READY)
        ann.presses("\r")
        ann.sees("Copied.")
        shown = [one.terminal.text for one in (ann, bob)]
        summaries = [summary(one) for one in (ann, bob)]
        assert [one.written for one in (ann, bob)] == ["NCCL_SOCKET_IFNAME==eth1\n", "NCCL_SOCKET_IFNAME=eth1\n"]
    assert ann.commands + bob.commands <= COMMANDS
    assert ann.keys + bob.keys <= KEYS
    assert waited < WAITED
    assert all("GB/s" in text and "Gbit/s) one way" in text for text in shown)
    for told in summaries:
        assert "# 2 nodes, ready to train" in told
        assert "port 29501" in told
        assert "| one way | 1M |" in told
        assert "On node-b (node 1):" in told
    assert "NC106" in summaries[1], "the trap is told, too"


def holds_the_port(node: Node, stack: ExitStack) -> None:
    """Somebody listens where ranks usually meet."""
    holder = stack.enter_context(
        subprocess.Popen([*node.prefix, "python3", "-c", LISTENER], stdout=subprocess.PIPE, text=True)
    )
    stack.callback(holder.kill)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "on\n"


def test_overlay_first_a_copied_nccl_conf_and_a_firewall(tmp_path: Path) -> None:
    with newcomers(OVERLAY_FIRST, tmp_path) as (ann, bob):
        shell(bob.node, wall("input", f'iifname "eth0" {NEW} drop'))
        clock = Measuring()
        joins(bob, invites(ann))
        for one in (ann, bob):
            shown = one.sees("✗ Find the network that the nodes share")
            assert "10.0.0.12" in shown
            assert "sudo iptables -I INPUT -s 10.0.0.11 -p tcp -j ACCEPT" in one.sees("sudo iptables")
        bob.types("nft delete table inet input")
        bob.presses("\r")
        ann.presses("\r")
        for one in (ann, bob):
            one.says_yes("- NCCL_SOCKET_IFNAME=eth1", "+ NCCL_SOCKET_IFNAME==eth0")
        clock.until_ready(ann)
        waited = clock.waited
        bob.sees(READY)
        summaries = [summary(one) for one in (ann, bob)]
        assert [one.written for one in (ann, bob)] == ["NCCL_SOCKET_IFNAME==eth0\nNCCL_DEBUG=WARN\n"] * 2
    assert ann.commands + bob.commands <= COMMANDS
    assert ann.keys + bob.keys <= KEYS
    assert waited < WAITED
    assert all("NC805" in told and "10.0.0.12" in told for told in summaries)
