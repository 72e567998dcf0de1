"""A large log that grows, while it is indexed and diagnosed: how long a key takes, and how much memory all of it.

200 MB in the ordinary run, for the file has to be written first; ``-m big`` takes the gigabyte that is promised.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases import ROOT
from tests.tui import big_log

SIZES = [pytest.param(200_000_000, id="200MB"), pytest.param(1_000_000_000, marks=pytest.mark.big, id="1GB")]


@pytest.mark.parametrize("size", SIZES)
def test_keys_are_handled_at_once_while_it_is_read_and_grows(tmp_path: Path, size: int) -> None:
    log = tmp_path / "job.log"
    big_log.write(log, size)
    try:
        told = looked_at(log, tmp_path)
    finally:
        log.unlink()
    assert told["first"] < 1.0, "seconds until the first rows are there"
    assert told["busy"], "the keys were pressed while it was diagnosed"
    assert told["slow"] < big_log.ENOUGH, "seconds a key takes, 99th percentile"
    assert told["end"] < 1.0, "seconds to the end of the log"
    assert told["grew"] > 20_000, "lines in a second"
    assert told["memory"] < 300, "MiB at most, with everything"


def looked_at(log: Path, home: Path) -> dict[str, float]:
    """What the other process measured."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(home)}
    command = [sys.executable, "-m", "tests.tui.big_log", str(log)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=env, cwd=ROOT, timeout=100)
    assert done.returncode == 0, done.stderr[-2000:]
    told: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return told
