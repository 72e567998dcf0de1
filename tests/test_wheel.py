"""What is installed holds all the rules, and finds them."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BUILD = """
import os, sys
from hatchling.build import build_wheel
os.chdir(sys.argv[1])
print(build_wheel(sys.argv[2]))
"""
ASK = """
from ncclcheck.rulebook.guides import load_guides
from ncclcheck.rulebook.library import builtin_folder
from ncclcheck.rulebook.load import load
book = load((builtin_folder(),))
guides = load_guides()
print(builtin_folder(), len(book.rules), len(book.events), len(book.broken), len(guides.places + guides.launchers))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built here without asking anybody for anything."""
    folder = tmp_path_factory.mktemp("wheel")
    built = _run(["-c", BUILD, str(ROOT), str(folder)])
    return folder / built.split()[-1]


def _run(arguments: list[str], folder: Path = ROOT) -> str:
    """What an interpreter prints that sees the package of this folder before any other."""
    env = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, env=env, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_holds_every_rule_and_no_test_log(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
    rules = {str(path.relative_to(ROOT / "rules")) for path in (ROOT / "rules").rglob("*.toml")}
    assert rules <= {name.removeprefix("ncclcheck/_rules/") for name in names}
    assert not [name for name in names if "expect.toml" in name or name.startswith("tests")]


def test_the_installed_package_finds_its_rules(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path)
    folder, rules, events, broken, guides = _run(["-c", ASK], tmp_path).split()
    assert folder == str(tmp_path / "ncclcheck" / "_rules")
    assert int(rules) == len(list((ROOT / "rules" / "causes").glob("*.toml")))
    assert int(events) > 0
    assert broken == "0"
    assert int(guides) == len(list((ROOT / "rules" / "guides").glob("*.toml"))) - 1  # nodes.toml is of neither kind
