"""The worker needs Python 3.8, torch and itself: read as such, and run as one file from elsewhere, under launchers."""

import ast
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ncclcheck.errors import SpeedError
from ncclcheck.speedtest.plan import WORKER, save_worker
from tests.speedtest.pairs import QUICK, free_port

FILES = sorted(Path(WORKER).glob("*.py"))
SUBSCRIPTS = {"list", "dict", "tuple", "set", "type", "Callable", "Iterator", "Mapping", "MutableMapping"}


def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_it_imports_only_python_torch_and_itself(path):
    nodes = list(ast.walk(tree_of(path)))
    absolute = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    own = set()
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            assert node.level < 2
            names = [node.module] if node.module else [alias.name for alias in node.names]
            (own if node.level else absolute).update(names)
    assert {name.partition(".")[0] for name in absolute} - sys.stdlib_module_names <= {"torch"}
    assert {f"{name}.py" for name in own} <= {path.name for path in FILES}


def annotations(tree):
    """All nodes that are never run, as annotations are postponed and what is for type checkers is left out."""
    for node in ast.walk(tree):
        fields = (getattr(node, name, None) for name in ("annotation", "returns"))
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            fields = node.body
        for field in fields:
            if isinstance(field, ast.AST):
                yield from ast.walk(field)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_it_subscripts_nothing_that_python_38_cannot(path):
    tree = tree_of(path)
    postponed = set(map(id, annotations(tree)))
    run = [node for node in ast.walk(tree) if isinstance(node, ast.Subscript) and id(node) not in postponed]
    assert [node.lineno for node in run if getattr(node.value, "id", "") in SUBSCRIPTS] == []


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    path = tmp_path_factory.mktemp("elsewhere") / "speedtest.pyz"
    save_worker(str(path))
    return path


def test_the_archive_holds_the_worker_and_nothing_else(archive):
    with zipfile.ZipFile(archive) as packed:
        assert sorted(packed.namelist()) == [path.name for path in FILES if path.name != "__init__.py"]


def test_a_place_that_cannot_be_written(tmp_path):
    with pytest.raises(SpeedError, match="the worker cannot be written: No such file or directory"):
        save_worker(str(tmp_path / "none/speedtest.pyz"))


def launched(archive, *command, env=None):
    """Ends all right; the events of all ranks."""
    bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, *command],
        cwd=archive.parent,
        env={**bare, **(env or {})},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


WORDS = (*QUICK, "--backend", "gloo", "--sizes", "64K", "--patterns", "all-reduce")


STATIC = ("--nproc_per_node", "2", "--master_addr", "127.0.0.1", "--master_port", "PORT")


@pytest.mark.parametrize(
    "way",
    [
        ("torch.distributed.run", *STATIC),
        ("torch.distributed.run", "--nproc_per_node", "2", "--standalone"),
        # The second seed's.
        ("torch.distributed.launch", *STATIC),
    ],
    ids=["static", "c10d", "launch"],
)
def test_under_torchrun(archive, way):
    run = ["-m", *(str(free_port()) if word == "PORT" else word for word in way)]
    told = launched(archive, *run, archive.name, "64K", *WORDS)
    results = [event for event in told if event["event"] == "result"]
    assert sorted(event["rank"] for event in results) == [0, 1]
    assert all(event["verified"] and event["ranks"] == 2 for event in results)
    assert sorted(event["rank"] for event in told if event["event"] == "finished") == [0, 1]


def test_under_srun_and_mpirun(archive):
    """Their variables, as neither is here."""
    place = f"127.0.0.1:{free_port()}"
    slurm = {"SLURM_PROCID": "1", "SLURM_NTASKS": "2", "SLURM_LOCALID": "0"}
    words = [sys.executable, archive.name, place, "64K", *WORDS]
    with subprocess.Popen(words, cwd=archive.parent, env={**os.environ, **slurm}, stdout=subprocess.DEVNULL) as one:
        mpi = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_RANK": "0"}
        told = launched(archive, archive.name, place, "64K", *WORDS, env=mpi)
        assert one.wait(30) == 0
    assert told[-1] == {"event": "finished", "rank": 0}
