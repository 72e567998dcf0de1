"""Which libnccl a Python would load, found without loading anything."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ncclcheck.errors import ProbeError
from ncclcheck.model import Library
from ncclcheck.node import interpreter, libnccl
from ncclcheck.node.interpreter import Interpreter

WHEEL = "the nvidia-nccl wheel, which torch's wheel loads"


def library(path: Path, version: str = "2.18.3") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x7fELF\0\0NCCL version " + version.encode() + b"+cuda12.1\0more")
    return path


def python_in(folder: Path) -> Interpreter:
    return Interpreter("python", prefix=str(folder), paths=(str(folder / "site"),), why="")


def test_the_order_is_the_linkers(tmp_path: Path) -> None:
    wheel = library(tmp_path / "site/nvidia/nccl/lib/libnccl.so.2", "2.29.7")
    path = library(tmp_path / "ld/libnccl.so.2", "2.27.7")
    conda = library(tmp_path / "lib/libnccl.so.2", "2.19.3")
    preloaded = library(tmp_path / "pre/libnccl.so.2.18.3")
    env = {"LD_LIBRARY_PATH": f":{path.parent}:/nonexistent", "LD_PRELOAD": f"/x/libjemalloc.so {preloaded}"}

    found = libnccl.find_all(python_in(tmp_path), env)

    assert found[:4] == (
        Library(str(preloaded), "2.18.3", "LD_PRELOAD"),
        Library(str(wheel), "2.29.7", WHEEL),
        Library(str(path), "2.27.7", "LD_LIBRARY_PATH"),
        Library(str(conda), "2.19.3", "the environment's own lib folder (conda)"),
    )


def test_one_library_under_two_names_counts_once(tmp_path: Path) -> None:
    real = library(tmp_path / "site/nvidia/nccl/lib/libnccl.so.2")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/libnccl.so.2").symlink_to(real)

    assert [found.path for found in libnccl.find_all(python_in(tmp_path), {})][:2] != [str(real)] * 2
    assert libnccl.find(python_in(tmp_path), {}) == Library(str(real), "2.18.3", WHEEL)


@pytest.mark.parametrize(
    ("content", "version"), [(b"", None), (b"no version", None), (b"NCCL version 2.8.4\n", "2.8.4")]
)
def test_the_version_stands_in_the_binary(tmp_path: Path, content: bytes, version: str | None) -> None:
    (tmp_path / "libnccl.so.2").write_bytes(content)

    assert libnccl.version_in(tmp_path / "libnccl.so.2") == version


def test_the_linkers_cache_is_read(tmp_path: Path) -> None:
    cache = tmp_path / "ld.so.cache"
    cache.write_bytes(b"glibc-ld.so.cache1.1\0libnccl.so.2\0/opt/lib/libnccl.so.2\0libm.so.6\0/lib/libm.so.6\0")

    assert list(libnccl.in_cache(cache)) == [Path("/opt/lib/libnccl.so.2")]
    assert list(libnccl.in_cache(tmp_path / "none")) == []


def test_this_python_has_the_wheels_library() -> None:
    chosen, found = libnccl.choose(sys.executable, os.environ)

    assert chosen is not None
    assert found is not None
    assert (chosen.why, Path(found.path).parts[-4:]) == ("as asked for", ("nvidia", "nccl", "lib", "libnccl.so.2"))


def test_an_active_environment_goes_before_the_path(tmp_path: Path) -> None:
    env = {"VIRTUAL_ENV": "/venv", "CONDA_PREFIX": "/conda", "PATH": str(tmp_path)}
    (tmp_path / "python3").symlink_to(sys.executable)

    assert list(interpreter.candidates(env)) == [
        ("/venv/bin/python", "active virtual environment (VIRTUAL_ENV)"),
        ("/conda/bin/python", "active conda environment (CONDA_PREFIX)"),
        (str(tmp_path / "python3"), "python3 on PATH"),
        (sys.executable, "the Python that runs ncclcheck"),
    ]


def test_a_python_that_is_not_there_is_an_error_with_a_next_step() -> None:
    with pytest.raises(ProbeError) as caught:
        libnccl.choose("/nonexistent/python", {})

    assert (caught.value.place, caught.value.problem) == ("/nonexistent/python", "there is no such Python")
    assert "--python" in caught.value.next_step


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("echo broken >&2; exit 3", "this Python does not answer: broken"),
        ("echo hello", "this Python does not answer: "),
        ("true", "this Python does not answer: "),
    ],
)
def test_a_python_that_does_not_answer_is_an_error(tmp_path: Path, script: str, problem: str) -> None:
    fake = tmp_path / "python"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)

    with pytest.raises(ProbeError) as caught:
        interpreter.named(str(fake), {"PATH": os.environ["PATH"]})

    assert caught.value.problem.startswith(problem)


def test_neither_torch_nor_nccl_is_loaded() -> None:
    code = (
        "import os, sys; from ncclcheck.node import libnccl; libnccl.choose(sys.executable, os.environ);"
        "print('torch' in sys.modules, 'libnccl' in open('/proc/self/maps').read())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"
