"""The demo's story from a recording, for machines on which no lab can be built.

Only what the nodes did is recorded; the diagnosis and the fix are worked out anew, by today's rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from ncclcheck.doctor.demo import CONF, Step, story
from ncclcheck.errors import LabError
from ncclcheck.fixes.plan import change_of, edit
from ncclcheck.model import Applied, Edit, Facts, Fix, Handshake, Node, Probe, SpeedTest
from ncclcheck.speedtest.reports import Progress

_PACKAGE = Path(__file__).parents[1]
PHASES = ("before", "after")


@dataclass(frozen=True, slots=True)
class Recording:
    """What both nodes did before the fix, or after it; their logs lie beside it as text."""

    facts: tuple[Facts, ...]
    probes: tuple[Probe, ...]
    """Without their logs."""
    conf: tuple[str | None, ...]
    """Each node's ``/etc/nccl.conf``."""
    handshake: Handshake
    progress: tuple[Progress, ...]
    test: SpeedTest


def folder() -> Path:
    """Where the recordings are: packaged, or in the checkout (editable install)."""
    for candidate in (_PACKAGE / "_replay/replay", _PACKAGE.parent / "fixtures/logs/replay"):
        if candidate.is_dir():
            return candidate
    raise LabError("the recordings are not installed", place=str(_PACKAGE), next_step="Install ncclcheck again.")


def load(layout: str, phase: str) -> Recording:
    """A recording with the logs put back into its probes."""
    place = folder() / layout / phase
    recording = msgspec.json.decode((place / "recording.json").read_bytes(), type=Recording)
    logs = [(place / f"{probe.host}.log").read_text().splitlines() for probe in recording.probes]
    probes = tuple(replace(probe, log=tuple(log)) for probe, log in zip(recording.probes, logs, strict=True))
    return replace(recording, probes=probes)


def save(layout: str, phase: str, recording: Recording, place: Path) -> None:
    """Write a recording, as ``load`` reads it."""
    target = place / layout / phase
    target.mkdir(parents=True, exist_ok=True)
    for probe in recording.probes:
        (target / f"{probe.host}.log").write_text("".join(f"{line}\n" for line in probe.log))
    bare = replace(recording, probes=tuple(replace(probe, log=()) for probe in recording.probes))
    (target / "recording.json").write_bytes(msgspec.json.format(msgspec.json.encode(bare), indent=1) + b"\n")


class Recorded:
    """Answers from the recording; the fix turns it to what came after."""

    def __init__(self, before: Recording, after: Recording) -> None:
        self._now, self._after = before, after
        self._hosts = [facts.host for facts in before.facts]

    def scan(self, node: Node) -> Facts:
        """What it looked like."""
        return self._now.facts[self._hosts.index(node.name)]

    def probe(self, node: Node) -> Probe:
        """What the real NCCL did."""
        return self._now.probes[self._hosts.index(node.name)]

    def handshake(self, nodes: tuple[Node, Node]) -> Handshake:
        """How NCCL's own handshake went."""
        return self._now.handshake

    def preview(self, fix: Fix, node: Node) -> tuple[Edit, ...]:
        """What the fix would change in the recorded nccl.conf."""
        number = self._hosts.index(node.name)
        conf = self._now.conf[number]
        before = None if conf is None else conf.encode()
        return (edit(CONF, before, change_of(fix), self._now.probes[number].nccl),)

    def apply(self, edits: tuple[Edit, ...], node: Node) -> tuple[Applied, ...]:
        """Nothing is changed anywhere; from the last node on, the recording's second half speaks."""
        if node.name == self._hosts[-1]:
            self._now = self._after
        return tuple(Applied(change.path, None, "") for change in edits)

    def measure(
        self, nodes: tuple[Node, Node], address: str, interfaces: tuple[str, str]
    ) -> Iterator[Progress | SpeedTest]:
        """How the test went."""
        yield from self._now.progress
        yield self._now.test


def recorded(layout: str) -> Iterator[Step]:
    """The story of that lay-out's recording."""
    before, after = (load(layout, phase) for phase in PHASES)
    nodes = tuple(Node(facts.host) for facts in before.facts)
    return story(nodes, Recorded(before, after))
