"""Two or more lab nodes that pair through the real commands, and what each side said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from ncclcheck.model import Node

COMMAND = (sys.executable, "-W", "error", "-m", "ncclcheck")
LIMIT = 60


@dataclass
class Side:
    """One node's run."""

    steps: list[dict]
    code: int
    said: str
    seconds: float

    def of(self, name: str) -> list[dict]:
        """The steps of a kind."""
        return [step for step in self.steps if step["step"] == name]

    @property
    def conclusion(self) -> dict:
        """The last one."""
        return self.of("concluded")[-1]

    @property
    def rules(self) -> list[str]:
        """Of what is wrong, without notes."""
        return sorted({one["rule"] for one in self.conclusion["findings"] if one["severity"] != "info"})

    @property
    def use(self) -> dict[str, str]:
        """The interface for each node."""
        return {one["host"]: one["interface"] for one in self.conclusion["sides"]["match"]["use"]}

    @property
    def handshakes(self) -> list[tuple[bool, bool]]:
        """Proposed or not, passed or not."""
        return [(step["proposed"], _passed(step["handshake"])) for step in self.of("shook")]

    def titles(self) -> str:
        """Everything that is said to be wrong, and what to do."""
        found = self.conclusion["findings"]
        fixes = [" ".join([fix["title"], *fix["commands"]]) for one in found for fix in one["fixes"]]
        return "\n".join([*(one["title"] for one in found), *fixes])


def _passed(handshake: dict) -> bool:
    contacts = handshake["contacts"]
    return not handshake["failure"] and bool(contacts) and not any(one["problem"] for one in contacts)


def environment(node: Node) -> dict[str, str]:
    """What commands on it get."""
    return {**os.environ, **dict(node.env)}


def shell(node: Node, script: str) -> str:
    """Run it there; it must succeed."""
    done = subprocess.run(
        [*node.prefix, "sh", "-ec", script],
        env=environment(node),
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), f"{node.name}: {done.stderr}"
    return done.stdout


def finished(node: Node, *command: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """A command's end on a node."""
    line, env = [*node.prefix, *command], environment(node)
    return subprocess.run(line, env=env, input=given, capture_output=True, text=True, timeout=LIMIT, check=False)


@contextmanager
def running(node: Node, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A command of ncclcheck on a node; ended when the block is left."""
    with subprocess.Popen(
        [*node.prefix, *COMMAND, *words],
        env=environment(node),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def invited(process: subprocess.Popen[str]) -> list[str]:
    """The words of ``ncclcheck join …`` that an inviting command printed first."""
    first = json.loads(process.stdout.readline())
    assert first["step"] == "waiting", first
    invitation = first["invitation"]
    return ["join", f"{invitation['port']}-{invitation['token']}", *invitation["addresses"]]


@dataclass
class Wishes:
    """What is unusual about a pairing."""

    pair: Sequence[str] = ("--no-fix",)
    join: Sequence[str] = ()
    late: float = 0.0
    """Seconds that the guests wait."""
    host: int = 0
    """Which node invites."""
    hosts: list[str] = field(default_factory=list)


def paired(nodes: Sequence[Node], wishes: Wishes | None = None) -> list[Side]:
    """Pair all of these; what each one's side said, the host's first."""
    wished = wishes or Wishes()
    host, guests = nodes[wished.host], [node for node in nodes if node is not nodes[wished.host]]
    began = time.monotonic()
    with ExitStack() as stack:
        count = ["--nodes", str(len(nodes))] if len(nodes) > 2 else []
        first = stack.enter_context(running(host, "pair", "--json", "--limit", "30", *count, *wished.pair))
        words = invited(first)
        time.sleep(wished.late)
        others = [stack.enter_context(running(node, *words, "--json", *wished.join)) for node in guests]
        return [_side(process, began) for process in (first, *others)]


def _side(process: subprocess.Popen[str], began: float) -> Side:
    out, said = process.communicate(timeout=LIMIT)
    return Side([json.loads(line) for line in out.splitlines()], process.returncode, said, time.monotonic() - began)
