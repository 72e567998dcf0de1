"""The guide for real: two fresh shells in namespaces whose network has faults, the real commands, the real NCCL."""

from __future__ import annotations

import json
import shlex
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from ncclcheck.lab import DOCKER_FIRST, OVERLAY_FIRST, LabLink, LabNode, Layout, built
from ncclcheck.model import Node
from tests.doctor.paired import COMMAND, finished, running, shell
from tests.peer.networks import NO_LINK_LOCAL, wall

WAITED = 60.0
"""Seconds that two newcomers may have to wait, besides the speed test."""
NEW = "tcp flags & (syn|ack) == syn"
LISTENER = "import socket, time; s = socket.create_server(('', 29500)); print('on', flush=True); time.sleep(100)"
KILL = """for one in $(pgrep -f 'ncclcheck [s]etup'); do
if [ $(readlink /proc/$one/ns/net) = $(readlink /proc/self/ns/net) ]; then kill -9 $one; fi
done"""
"""All nodes of a lab see each other's processes."""
KEPT = "cd ~/.local/state/ncclcheck; stat -c %a setup-*.json; grep -c token setup-*.json || true"
PLACE = ("--provider", "linux", "--skip", "limits=of this machine, and not of the lab's nodes")
"""What stands about the machine that runs the tests says nothing of the lab."""
QUICK = ("--size", "1M", "--skip", "ddp=takes long, and is tried elsewhere")


@dataclass
class Run:
    """One command's end."""

    lines: list[dict]
    code: int
    said: str

    def of(self, name: str) -> list[dict]:
        """The lines of a kind."""
        return [line for line in self.lines if line["step"] == name]

    def states(self, name: str) -> list[str]:
        """How a step of the guide went, in order."""
        return [line["state"] for line in self.of("stage") if line["id"] == f"nodes/{name}"]

    @property
    def closed(self) -> dict:
        """The whole of it at its end."""
        return self.lines[-1]

    def stage(self, name: str) -> dict:
        """How a step of the guide is at the end."""
        return next(one for one in self.closed["stages"] if one["id"].endswith(f"/{name}"))

    @property
    def open(self) -> dict[str, str]:
        """What is not done."""
        return {one["id"]: one["state"] for one in self.closed["stages"] if one["state"] not in ("done", "skipped")}


@dataclass
class Newcomer:
    """Somebody at a node's shell, who counts his commands."""

    node: Node
    commands: int = 0
    stack: ExitStack = field(default_factory=ExitStack)

    def types(self, *words: str) -> subprocess.Popen[str]:
        """Start a command."""
        self.commands += 1
        return self.stack.enter_context(running(self.node, "setup", "--json", "--limit", "40", *words))


@contextmanager
def newcomers(layout: Layout) -> Iterator[tuple[Newcomer, Newcomer]]:
    """Two of them, on the nodes of a lab; nothing they started outlives the block."""
    with built(layout) as nodes, ExitStack() as stack:
        yield tuple(Newcomer(node, stack=stack) for node in nodes)


def until(process: subprocess.Popen[str], name: str) -> dict:
    """Its output up to the first line of a kind."""
    for text in process.stdout:
        line = json.loads(text)
        if line["step"] == name:
            return line
    raise AssertionError(f"no {name}: {process.stderr.read()}")


def line_for_the_other(process: subprocess.Popen[str]) -> list[str]:
    """The words behind ``ncclcheck setup`` that it shows for the other node."""
    words = shlex.split(until(process, "waiting")["invite"])
    assert words[:2] == ["ncclcheck", "setup"]
    return words[2:]


def ended(*processes: subprocess.Popen[str]) -> list[Run]:
    """Their ends, read side by side, since one that nobody reads stops; what was read before is not in it."""
    with ThreadPoolExecutor(len(processes)) as pool:
        return list(pool.map(_ended, processes))


def _ended(process: subprocess.Popen[str]) -> Run:
    out, said = process.communicate(timeout=80)
    return Run([json.loads(line) for line in out.splitlines()], process.returncode, said)


def trapped(layout: Layout, line: str) -> Layout:
    """The layout with that nccl.conf on its second node."""
    first, second = layout.nodes
    return replace(layout, nodes=(first, replace(second, etc=(("nccl.conf", line),))))


def test_from_two_fresh_shells_to_a_bandwidth_where_the_good_network_comes_second(tmp_path):
    """The wrong interface on one node, a comment behind the value on the other, the port taken, the other node late."""
    layout, began = trapped(DOCKER_FIRST, "NCCL_SOCKET_IFNAME=eth1  # the overlay\n"), time.monotonic()
    with newcomers(layout) as (ann, bob), ExitStack() as stack:
        holder = stack.enter_context(
            subprocess.Popen([*ann.node.prefix, "python3", "-c", LISTENER], stdout=subprocess.PIPE, text=True)
        )
        stack.callback(holder.kill)
        assert holder.stdout.readline() == "on\n"
        first = ann.types(
            *PLACE, "--yes", "--size", "1M", "--script", "my train.py", "--summary", f"{tmp_path}/kept.md"
        )
        words = line_for_the_other(first)
        time.sleep(2.0)
        second = bob.types(*PLACE, *words, "--yes")
        runs = ended(first, second)
        seconds = time.monotonic() - began
        written = [shell(node, "cat /etc/nccl.conf") for node in (ann.node, bob.node)]
        undone = finished(ann.node, *COMMAND, "setup", "--undo")
        left = shell(ann.node, "ls /etc/nccl.conf 2>/dev/null || true")
    assert [(run.code, run.open) for run in runs] == [(0, {}), (0, {})]
    assert written == ["NCCL_SOCKET_IFNAME==eth1\n", "NCCL_SOCKET_IFNAME=eth1\n"]
    for run in runs:
        assert [one["interface"] for one in run.closed["use"]] == ["eth1", "eth1"]
        assert (run.closed["port"]["port"], run.closed["port"]["taken"]) == (29501, [29500])
        assert run.closed["ddp"]["same"]
        assert [(one["host"], one["rank"]) for one in run.closed["commands"]] == [("node-a", 0), ("node-b", 1)]
        assert all("10.0.0.11" in one["command"] and "29501" in one["command"] for one in run.closed["commands"])
        assert all("'my train.py'" in one["command"] for one in run.closed["commands"])
    assert ann.commands + bob.commands == 2
    assert seconds - measuring(runs[0]) < WAITED
    kept = (tmp_path / "kept.md").read_text()
    rate = next(one for one in runs[0].closed["test"]["speeds"] if one["pattern"] == "one way")
    assert rate["verified"]
    assert "| one way | 1M |" in kept
    assert "/etc/nccl.conf" in kept
    assert "On node-b (node 1):" in kept
    assert (undone.returncode, left) == (0, "")
    assert undone.stdout.startswith("/etc/nccl.conf is as it was before ")


def measuring(run: Run) -> float:
    """Seconds of the speed test."""
    at = run.lines.index(run.of("wentfast")[0])
    return max(line["seconds"] for line in run.lines[:at] if line["step"] in ("progress", "rate", "measured"))


def test_a_firewall_lands_in_its_rule_and_then_at_a_bandwidth_where_the_good_network_comes_first():
    """nccl.conf was copied from the other lay-out on both nodes, and node-b drops calls; the host comes back later."""
    with newcomers(OVERLAY_FIRST) as (ann, bob):
        shell(bob.node, wall("input", f'iifname "eth0" {NEW} drop'))
        for one in (ann, bob):
            shell(one.node, NO_LINK_LOCAL)
        first = ann.types(*PLACE, *QUICK, "--yes")
        second = bob.types(*PLACE, *line_for_the_other(first), *QUICK[2:], "--yes")
        runs = ended(first, second)
        shell(bob.node, "nft delete table inet input")
        second = bob.types("--resume", "--yes")
        until(second, "knocking")
        again = ended(ann.types("--resume", "--yes"), second)
        written = [shell(one.node, "cat /etc/nccl.conf") for one in (ann, bob)]
    for run in runs:
        assert run.code == 1
        remedy = run.stage("network")["remedy"]
        assert remedy["rule"] == "NC805"
        assert "10.0.0.12" in remedy["title"]
        fix = remedy["fixes"][0]
        assert fix["hosts"] == ["node-b"]
        assert "sudo iptables -I INPUT -s 10.0.0.11 -p tcp -j ACCEPT" in fix["commands"]
        # What rests on the network is not called wrong as well.
        assert run.stage("handshake")["state"] == "waiting"
        assert run.closed["commands"] == []
    assert [(run.code, run.open) for run in again] == [(0, {}), (0, {})]
    assert written == ["NCCL_SOCKET_IFNAME==eth0\nNCCL_DEBUG=WARN\n"] * 2
    assert all(run.closed["test"]["failure"] == "" for run in again)
    # The firewall that was found is told in the end, too.
    assert all("NC805" in [one["rule"] for one in run.closed["hits"]] for run in again)
    assert ann.commands + bob.commands == 4


ONE_NETWORK = Layout(
    "setup",
    "",
    tuple(
        LabNode(f"node-{name}", (LabLink("eth1", "net", f"10.0.0.{last}/24"),)) for last, name in ((1, "a"), (2, "b"))
    ),
)


def test_killed_in_the_middle_either_side_goes_on_with_resume():
    """First the node that invites, then the one that joined; each time the other one waits."""
    with newcomers(ONE_NETWORK) as (ann, bob):
        for one in (ann, bob):
            shell(one.node, NO_LINK_LOCAL)
        first = ann.types(*PLACE, *QUICK)
        second = bob.types(*PLACE, *line_for_the_other(first), *QUICK[2:])
        until(first, "shook")
        shell(ann.node, KILL)
        until(second, "broke")
        first = ann.types("--resume")
        opened = until(first, "opened")
        until(second, "rate")
        shell(bob.node, KILL)
        until(first, "broke")
        runs = ended(bob.types("--resume"), first)
        kept = [shell(one.node, KEPT) for one in (ann, bob)]
    assert [(run.code, run.open) for run in runs] == [(0, {}), (0, {})]
    # Nothing that was seen before is taken for granted: it waits until it was looked at again.
    then = {one["id"]: one["state"] for one in opened["stages"]}
    assert {then[f"nodes/{name}"] for name in ("join", "network", "settings", "port", "handshake", "speed")} == {
        "waiting"
    }
    assert [len(run.of("concluded")) for run in runs] == [1, 1]
    assert [run.states("network")[-1] for run in runs] == ["done", "done"]
    assert runs[0].closed["test"] == runs[1].closed["test"]
    assert runs[0].closed["test"]["failure"] == ""
    # Only its owner may read it, and what lets others in is gone once it is of no more use.
    assert kept == ["600\n0\n"] * 2
