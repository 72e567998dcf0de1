"""The story for real, in each lay-out, and its recording."""

import shutil
import subprocess

import pytest

from ncclcheck.doctor import replay
from ncclcheck.doctor.demo import (
    Changed,
    Chapter,
    Diagnosed,
    Measured,
    NothingToFix,
    Planned,
    Probed,
    ShookHands,
    story,
)
from ncclcheck.errors import LabError
from ncclcheck.lab import LAYOUTS, built
from ncclcheck.model import Comparison, Node, Severity
from ncclcheck.speedtest.reports import Progress

# Wrong interface, right interface, and the nccl.conf before and after.
EXPECTED = {
    "docker-first": ("eth0", "eth1", None, b"NCCL_SOCKET_IFNAME==eth1\n"),
    "overlay-first": (
        "eth1",
        "eth0",
        b"NCCL_SOCKET_IFNAME=eth1\nNCCL_DEBUG=WARN\n",
        b"NCCL_SOCKET_IFNAME==eth0\nNCCL_DEBUG=WARN\n",
    ),
}
EXAMINED = [Probed, Probed, Diagnosed]
KINDS = [
    *(Chapter, *EXAMINED),
    *(Chapter, ShookHands, Measured),
    *(Chapter, Planned, Planned, Changed, Changed),
    *(Chapter, *EXAMINED),
    *(Chapter, ShookHands, Measured),
    *(Chapter, Comparison),
]


def of(kind, steps):
    return [step for step in steps if isinstance(step, kind)]


def check(steps, layout):
    """That these steps are the whole story of that lay-out."""
    wrong, right, before, after = EXPECTED[layout]
    assert [type(step) for step in steps if not isinstance(step, Progress)] == KINDS
    assert [step.probe.seen.interface for step in of(Probed, steps)] == [wrong, wrong, right, right]
    assert [step.probe.seen.address for step in of(Probed, steps)] == ["172.17.0.2"] * 2 + ["10.0.0.11", "10.0.0.12"]
    first, second = of(Diagnosed, steps)
    assert [finding.cause for finding in first.diagnosis.findings] == ["wrong-interface"]
    assert [finding for finding in second.diagnosis.findings if finding.severity > Severity.INFO] == []
    edits = [edit for step in of(Planned, steps) for edit in step.edits]
    assert [(edit.path, edit.before, edit.after) for edit in edits] == [("/etc/nccl.conf", before, after)] * 2
    assert [step.handshake.passed for step in of(ShookHands, steps)] == [False, True]
    failed, passed = (step.test for step in of(Measured, steps))
    assert (failed.interface, failed.passed, passed.interface, passed.passed) == (wrong, False, right, True)
    assert "Connection refused" in failed.failure
    assert steps[-1] == Comparison(failed, passed)
    assert steps[-1].proved


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_story_for_real(layout):
    with built(LAYOUTS[layout]) as nodes:
        steps = list(story(nodes))
        conf = [
            subprocess.run([*node.prefix, "cat", "/etc/nccl.conf"], capture_output=True, check=True) for node in nodes
        ]
    check(steps, layout)
    assert [done.stdout for done in conf] == [EXPECTED[layout][3]] * 2


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_recording_tells_the_same_story(layout):
    check(list(replay.recorded(layout)), layout)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_recording_comes_back_as_it_was(layout, tmp_path):
    recording = replay.load(layout, "before")
    replay.save(layout, "before", recording, tmp_path)
    saved = [path.relative_to(tmp_path) for path in sorted(tmp_path.rglob("*")) if path.is_file()]
    assert [path.name for path in saved] == ["node-a.log", "node-b.log", "recording.json"]
    for path in saved:
        assert (tmp_path / path).read_bytes() == (replay.folder() / path).read_bytes()


def test_recordings_that_are_not_installed(monkeypatch, tmp_path):
    monkeypatch.setattr(replay, "_PACKAGE", tmp_path / "ncclcheck")
    with pytest.raises(LabError, match="recordings are not installed"):
        replay.folder()
    shutil.copytree(LAYOUT_FOLDER, tmp_path / "ncclcheck/_replay/replay")
    assert replay.folder() == tmp_path / "ncclcheck/_replay/replay"


LAYOUT_FOLDER = replay.folder()


def test_where_nothing_can_be_fixed_the_story_says_so():
    healed = replay.load("docker-first", "after")
    nodes = tuple(Node(facts.host) for facts in healed.facts)
    steps = list(story(nodes, replay.Recorded(healed, healed)))
    assert steps[-1] == NothingToFix()
    assert of(Comparison, steps) == []
