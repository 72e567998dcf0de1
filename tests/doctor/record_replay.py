"""Makes the recordings anew: ``python -m tests.doctor.record_replay``, as root, in a checkout."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import msgspec

from ncclcheck.doctor.demo import CONF, Real, story
from ncclcheck.doctor.replay import PHASES, Recording, folder, save
from ncclcheck.lab import LAYOUTS, Layout, built
from ncclcheck.model import Applied, Edit, Facts, Fix, Handshake, Node, Probe, SpeedTest
from ncclcheck.speedtest.reports import Progress

# Where the interpreter of the recording is said to have been.
_ELSEWHERE = b"/opt/training"


class Recorder:
    """The real thing, remembered."""

    def __init__(self) -> None:
        self._real = Real()
        self.recordings: list[Recording] = []
        self._start()

    def _start(self) -> None:
        self._facts: list[Facts] = []
        self._probes: list[Probe] = []
        self._conf: list[str | None] = []

    def scan(self, node: Node) -> Facts:
        self._facts.append(self._real.scan(node))
        done = subprocess.run([*node.prefix, "cat", CONF], capture_output=True, text=True, check=False)
        self._conf.append(None if done.returncode else done.stdout)
        return self._facts[-1]

    def probe(self, node: Node) -> Probe:
        self._probes.append(self._real.probe(node))
        return self._probes[-1]

    def handshake(self, nodes: tuple[Node, Node]) -> Handshake:
        self._handshake = self._real.handshake(nodes)
        return self._handshake

    def preview(self, fix: Fix, node: Node) -> tuple[Edit, ...]:
        return self._real.preview(fix, node)

    def apply(self, edits: tuple[Edit, ...], node: Node) -> tuple[Applied, ...]:
        return self._real.apply(edits, node)

    def measure(
        self, nodes: tuple[Node, Node], address: str, interfaces: tuple[str, str]
    ) -> Iterator[Progress | SpeedTest]:
        values = list(self._real.measure(nodes, address, interfaces))
        progress = tuple(value for value in values if isinstance(value, Progress))
        test = next(value for value in values if isinstance(value, SpeedTest))
        self.recordings.append(
            Recording(tuple(self._facts), tuple(self._probes), tuple(self._conf), self._handshake, progress, test),
        )
        self._start()
        yield from values


def _elsewhere(recording: Recording) -> Recording:
    text = msgspec.json.encode(recording).replace(sys.prefix.encode(), _ELSEWHERE)
    return msgspec.json.decode(text.replace(sys.base_prefix.encode(), _ELSEWHERE), type=Recording)


def record(layout: Layout) -> None:
    """Run the story in a lab and keep what the nodes did."""
    recorder = Recorder()
    with built(layout) as nodes:
        for _ in story(nodes, recorder):
            pass
    for phase, recording in zip(PHASES, recorder.recordings, strict=True):
        save(layout.name, phase, _elsewhere(recording), folder())


if __name__ == "__main__":
    for each in LAYOUTS.values():
        record(each)
