"""Imports run one way, and what is heavy is loaded late: each module in an interpreter of its own."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "ncclcheck"
HEAVY = ("textual", "pyroute2", "torch")
BELOW = {
    "model": (),
    "logs": ("model",),
    "node": ("model",),
    "speedtest": ("model",),
    "peer": ("model",),
    "lab": ("model",),
    "rulebook": ("model", "logs", "node", "peer"),
    "fixes": ("model", "node"),
    "doctor": ("model", "logs", "node", "peer", "speedtest", "lab", "rulebook", "fixes"),
    "cli": ("model", "logs", "node", "peer", "speedtest", "lab", "rulebook", "fixes", "doctor"),
    "tui": ("model", "logs", "node", "peer", "speedtest", "lab", "rulebook", "fixes", "doctor"),
}
"""Whom each room may import. What stands beside the rooms, such as ``errors``, is everybody's."""
LIGHT = ("model", "logs", "rulebook", "cli")
"""Rooms whose modules load nothing heavy."""


def modules(room: str = "") -> list[str]:
    """The names of a room's modules, or of all."""
    paths = sorted((PACKAGE / room).rglob("*.py"))
    names = (".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in paths)
    return [name.removesuffix(".__init__") for name in names if not name.endswith("__main__")]


def loads(names: list[str]) -> dict[str, list[str]]:
    """What heavy packages each module loads in a clean interpreter; a module that can't be imported fails."""
    script = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]: importlib.import_module(name)\n"
        f"print(*[heavy for heavy in {HEAVY!r} if heavy in sys.modules])"
    )
    running = {
        name: subprocess.Popen(
            [sys.executable, "-c", script, name],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
        )
        for name in names
    }
    found = {}
    for name, process in running.items():
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, f"{name}: {err}"
        found[name] = out.split()
    return found


@pytest.mark.parametrize("room", LIGHT)
def test_light_rooms_load_nothing_heavy(room: str) -> None:
    names = modules(room)
    assert names
    assert {name: heavy for name, heavy in loads(names).items() if heavy} == {}


def test_nothing_but_the_tui_loads_textual() -> None:
    rooms = [room for room in BELOW if room not in (*LIGHT, "tui")]
    names = [name for room in rooms for name in modules(room)]
    assert {name: heavy for name, heavy in loads(names).items() if {"textual", "torch"} & set(heavy)} == {}


def imports(path: Path) -> Iterator[str]:
    """Every module that a file names in an import, wherever it stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_only_the_worker_imports_torch() -> None:
    found = {
        path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py") if any(_is(name, "torch") for name in imports(path))
    }
    assert found == {Path("speedtest/worker") / name for name in ("ddp.py", "session.py")}


@pytest.mark.parametrize("room", sorted(BELOW))
def test_a_room_imports_only_those_below_it(room: str) -> None:
    allowed = {room, *BELOW[room]}
    wrong = {
        f"{path.relative_to(PACKAGE)} imports {name}"
        for path in (PACKAGE / room).rglob("*.py")
        for name in imports(path)
        if name.startswith("ncclcheck.") and (named := name.split(".")[1]) in BELOW and named not in allowed
    }
    assert wrong == ALLOWED.get(room, set())


_SIGNS = (".terminal.signs", ".terminal.signs.ascii_wanted", ".terminal.signs.to_ascii")
ALLOWED = {
    "cli": {
        f"cli/{file} imports ncclcheck.tui{name}"
        for file, names in {
            "main.py": (".run", ".run.run_app", ".run.unfit"),
            "demo.py": (".run", ".run.run_app", ".run.unfit"),
            "plain.py": ("", ".plain", ".places", ".places.DESTINATIONS", ".real", ".real.use_cases", *_SIGNS),
            "serve.py": (".terminal.browser", ".terminal.browser.serve"),
        }.items()
        for name in names
    }
}
"""The command line opens the assistant: without a command, for the demo, as text, and in a browser."""


def _is(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def test_every_room_is_known() -> None:
    assert {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()} == set(BELOW)
