"""A launcher is told by its traces, and the quick look for its words misses none of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncclcheck.logs.launcher import Launcher, LauncherReader
from ncclcheck.rulebook.load import load_launchers

LAUNCHERS = load_launchers()


def told(*lines: str) -> str | None:
    """The launcher by these lines."""
    reader = LauncherReader(LAUNCHERS)
    for line in lines:
        reader.take(line)
    return reader.found.name if reader.found else None


@pytest.mark.parametrize("launcher", LAUNCHERS, ids=lambda launcher: launcher.name)
@given(data=st.data())
def test_whatever_the_mark_matches_holds_a_word(launcher: Launcher, data: st.DataObject) -> None:
    line = data.draw(st.from_regex(launcher.pattern))
    assert any(word in line for word in launcher.words)


@pytest.mark.parametrize(
    ("line", "launcher"),
    [
        ("[1,3]<stdout>:node-a:1:1 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>", "mpirun"),
        ("(worker pid=77, ip=10.0.0.2) NCCL INFO", "Ray"),
        ("slurmstepd: error: *** STEP 1.0 ON node-a CANCELLED ***", "srun"),
        ("[2026-01-02 10:00:00,000] [INFO] [launch.py:347:main] Process 7 exits", "DeepSpeed"),
        ("[rank3]: Traceback (most recent call last):", "torchrun"),
        ("srun, docker and sbatches are only words here", None),
        ("node-a:1:1 [0] NCCL INFO comm 0x1 rank 0 nranks 2", None),
    ],
)
def test_a_line_tells(line: str, launcher: str | None) -> None:
    assert told("", line) == launcher


def test_the_first_of_the_list_counts_wherever_it_shows() -> None:
    assert told("[rank0]: hello", "srun: job 7 queued", "[rank1]: hello") == "srun"
    assert told("srun: job 7 queued", "[rank0]: hello") == "srun"
