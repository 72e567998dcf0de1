"""The prediction against the real libnccl, in network namespaces."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.node.traps import TRAPS

SCRIPT = Path(__file__).parents[1] / "agree_with_nccl.py"
AS_ROOT = () if os.geteuid() == 0 else ("unshare", "--user", "--map-root-user")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [*AS_ROOT, sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)


def test_hundreds_of_random_cases_agree_with_the_real_nccl() -> None:
    done = run("--cases", "400", "--seed", "20")

    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert " 0 differences" in done.stdout


def test_every_trap_and_its_correction_agree_with_the_real_nccl(tmp_path: Path) -> None:
    lines = tmp_path / "lines"
    lines.write_bytes("\n".join(text for line, _, corrected in TRAPS for text in (line, corrected)).encode())

    done = run("--cases", "0", "--lines", str(lines))

    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert f"{2 * len(TRAPS)} cases, 0 differences" in done.stdout
