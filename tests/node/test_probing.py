"""The real NCCL in a fresh process, and everything that can go wrong with one."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from ncclcheck.errors import ProbeError
from ncclcheck.model import Choice
from ncclcheck.node import libnccl, probing
from ncclcheck.node.probing import Answer


def real_library() -> str:
    _, found = libnccl.choose(sys.executable, os.environ)
    assert found is not None
    return found.path


def stand_in(folder: Path, script: str) -> str:
    """A "Python" that does something else."""
    fake = folder / "python"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)
    return str(fake)


def test_the_real_nccl_fails_for_a_name_that_does_not_exist() -> None:
    env = probing.environment_with((("NCCL_SOCKET_IFNAME", "=nosuch0"), ("NCCL_DEBUG", "silent")))

    answer = probing.run(sys.executable, real_library(), env, limit=60)

    assert (answer.code, probing.seen(answer).interface) == (5, None)
    assert "NCCL WARN Bootstrap : no socket interface found" in probing.seen(answer).reason


def test_the_real_nccl_takes_lo_when_told_to() -> None:
    env = probing.environment_with((("NCCL_SOCKET_IFNAME", "=lo"),))

    answer = probing.run(sys.executable, real_library(), env, limit=60)

    seen = probing.seen(answer)
    assert (answer.code, seen.interface, seen.address) == (0, "lo", "127.0.0.1")


def test_a_probe_that_hangs_is_ended_and_its_log_kept(tmp_path: Path) -> None:
    fake = stand_in(tmp_path, 'echo "NCCL INFO last words" > "$NCCL_DEBUG_FILE"; exec sleep 100')

    with pytest.raises(ProbeError) as caught:
        probing.run(fake, "/lib/libnccl.so.2", dict(os.environ), limit=1)

    assert caught.value.problem == "no answer within 1 s; NCCL's last line: NCCL INFO last words"


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("kill -SEGV $$", "the probe was ended by signal 11 (SIGSEGV)"),
        ("echo 'no module' >&2; exit 2", "the probe ended with exit status 2; NCCL's last line: no module"),
        ("echo nonsense", "it gave no answer that can be read"),
    ],
)
def test_a_probe_that_dies_says_how(tmp_path: Path, script: str, problem: str) -> None:
    with pytest.raises(ProbeError) as caught:
        probing.run(stand_in(tmp_path, script), "/lib/libnccl.so.2", dict(os.environ), limit=60)

    assert (caught.value.place, caught.value.problem) == ("/lib/libnccl.so.2", problem)


def test_a_library_that_cannot_be_loaded_says_why(tmp_path: Path) -> None:
    (tmp_path / "libnccl.so.2").write_bytes(b"not a library")

    with pytest.raises(ProbeError, match=r"cannot be loaded: .*libnccl"):
        probing.run(sys.executable, str(tmp_path / "libnccl.so.2"), dict(os.environ), limit=60)


def test_a_python_that_cannot_be_started_is_an_error() -> None:
    with pytest.raises(ProbeError, match="No such file"):
        probing.run("/nonexistent/python", "/lib/libnccl.so.2", {}, limit=1)


def answer(*log: str, code: int = 0) -> Answer:
    return Answer(nccl="2.29.7", code=code, unique_id=b"", log=log)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            answer("h:1:1 [0] NCCL INFO Bootstrap: Using eth0:10.0.0.5<0>"),
            Choice("2.29.7", "eth0", "10.0.0.5", "h:1:1 [0] NCCL INFO Bootstrap: Using eth0:10.0.0.5<0>"),
        ),
        (
            answer("h:1:1 [0] NCCL INFO Bootstrap : Using eth0:1:10.0.0.5<0>"),
            Choice("2.29.7", "eth0:1", "10.0.0.5", "h:1:1 [0] NCCL INFO Bootstrap : Using eth0:1:10.0.0.5<0>"),
        ),
        (answer(code=3), Choice("2.29.7", None, None, "NCCL printed no interface", code=3)),
    ],
)
def test_the_choice_in_the_log(given: Answer, expected: Choice) -> None:
    assert probing.seen(given) == expected
