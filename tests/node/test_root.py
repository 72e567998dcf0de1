"""The real root in a process of its own: what it tells, and that nothing is left of it whatever ends it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from ncclcheck.errors import ProbeError
from ncclcheck.node.libnccl import choose
from ncclcheck.node.root import serving

LO = {"NCCL_SOCKET_IFNAME": "=lo"}
# Starts a root, tells where it listens, and waits to be killed.
KEEPER = """
import os, sys
from ncclcheck.node.root import serving
with serving(sys.executable, sys.argv[1], {**os.environ, "NCCL_SOCKET_IFNAME": "=lo"}) as root:
    print(root.address, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(scope="module")
def library() -> str:
    _, found = choose(sys.executable, os.environ)
    assert found is not None
    return found.path


def answers(address: str) -> bool:
    """Whether somebody listens there."""
    host, port = address.split(":")
    with socket.socket() as caller:
        caller.settimeout(5)
        return caller.connect_ex((host, int(port))) == 0


def test_it_serves_while_the_block_lasts_and_tells_what_nccl_says(library: str) -> None:
    with serving(sys.executable, library, {**os.environ, **LO}) as root:
        assert (root.code, root.interface, len(root.unique_id)) == (0, "lo", 128)
        assert root.address.startswith("127.0.0.1:")
        assert answers(root.address)
        assert any("Bootstrap: Using lo:127.0.0.1<0>" in line for line in root.log())
    assert not answers(root.address)


def test_it_ends_with_a_block_that_fails(library: str) -> None:
    with pytest.raises(KeyboardInterrupt), serving(sys.executable, library, {**os.environ, **LO}) as root:
        raise KeyboardInterrupt
    assert not answers(root.address)


def test_nothing_is_left_when_its_starter_is_killed(library: str, tmp_path: Path) -> None:
    command, env = [sys.executable, "-c", KEEPER, library], {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as keeper:
        assert keeper.stdout is not None
        address = keeper.stdout.readline().strip()
        assert answers(address)
        keeper.kill()
    deadline = time.monotonic() + 10
    while answers(address):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_takes_no_file_is_named(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/proc/nowhere")
    with pytest.raises(ProbeError, match="no file for the log can be made") as caught, serving("python3", library, {}):
        pass
    assert caught.value.place == "TMPDIR"


def test_where_nccl_starts_no_root(library: str) -> None:
    with serving(sys.executable, library, {**os.environ, "NCCL_SOCKET_IFNAME": "nosuch"}) as root:
        assert (root.code, root.address, root.interface) == (5, "", None)
        assert any("no socket interface found" in line for line in root.log())


def test_nccl_comm_id_leaves_nobody_to_call(library: str) -> None:
    env = {**os.environ, "NCCL_COMM_ID": "127.0.0.1:41234"}
    with pytest.raises(ProbeError, match="NCCL_COMM_ID is set") as caught, serving(sys.executable, library, env):
        pass
    assert "Unset NCCL_COMM_ID" in caught.value.next_step


@pytest.mark.parametrize(
    ("script", "limit", "problem"),
    [
        ("exec sleep 60", 0.5, r"no root within 0\.5 s"),
        ("exit 7", 20, "NCCL's root ended with exit status 7"),
        ("kill -SEGV $$", 20, r"NCCL's root was ended by signal 11 \(SIGSEGV\)"),
        ("echo hello", 20, "it gave no answer that can be read"),
    ],
)
def test_a_python_that_does_something_else(tmp_path: Path, script: str, limit: float, problem: str) -> None:
    python = tmp_path / "python3"
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(0o755)
    begin = time.monotonic()
    with pytest.raises(ProbeError, match=problem) as caught, serving(str(python), "/lib/nccl.so", os.environ, limit):
        pass
    assert (caught.value.place, time.monotonic() - begin < 15) == ("/lib/nccl.so", True)


def test_what_cannot_be_run_or_loaded(tmp_path: Path) -> None:
    with pytest.raises(ProbeError, match="cannot be run: No such file") as caught, serving("/no/python", "/l", {}):
        pass
    assert caught.value.place == "/no/python"
    with (
        pytest.raises(ProbeError, match=r"cannot be loaded: .*cannot open shared object"),
        serving(sys.executable, str(tmp_path / "libnccl.so.2"), dict(os.environ)),
    ):
        pass
