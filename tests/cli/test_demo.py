"""``ncclcheck demo`` for real: what it tells, its exit codes, and that nothing is left whatever ends it."""

import os
import pty
import signal
import subprocess
import sys
import venv

import pytest

from tests.lab import people
from tests.lab.traces import descendants, namespaces, running, wait_for, wait_until_gone

DEMO = (sys.executable, "-m", "ncclcheck", "demo")


def finished(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)


def test_plain_it_proves_itself():
    done = finished(*DEMO, "--plain")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Two nodes in network namespaces of this machine (node-a, node-b)")
    assert lines[-1] == "Proved: the same test failed before the fix and passes now."
    for said in (
        "node-a: NCCL",
        "error[NC101] NCCL uses eth0 (172.17.0.2) on node-a",
        "speed test with gloo over eth0: FAILED",
        "+NCCL_SOCKET_IFNAME==eth1",
        "speed test with gloo over eth1: passed",
    ):
        assert said in done.stdout
    assert not any("REPLAY" in line for line in lines)


def test_an_ordinary_user_proves_it_too():
    done = finished(sys.executable, people.SCRIPT, "ordinary", *DEMO, "--layout", "overlay-first")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("Proved: the same test failed before the fix and passes now.\n")


@pytest.mark.parametrize("layout", ["docker-first", "overlay-first"])
def test_without_rights_it_replays_and_says_so(layout):
    done = finished(sys.executable, people.SCRIPT, "powerless", *DEMO, "--layout", layout)
    assert done.returncode == 0
    assert done.stderr.startswith("ncclcheck: no lab can be built here (user namespace: ")
    lines = done.stdout.splitlines()
    assert all(line.startswith("REPLAY  ") for line in lines)
    assert lines[-1] == "REPLAY  A recording proves nothing about this machine."


def test_without_torch_it_says_what_to_install(tmp_path):
    venv.create(tmp_path)
    bare = tmp_path / "bin/python"
    done = finished(*DEMO, "--plain", "--python", str(bare))
    assert done.returncode == 3
    assert "--python" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
@pytest.mark.parametrize("moment", ["node-a: NCCL", "is ready"])
def test_nothing_is_left_when_it_is_ended(number, moment):
    with subprocess.Popen(
        [*DEMO, "--plain"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as demo:
        assert any(moment in line for line in demo.stdout)
        family = descendants(demo.pid)
        spaces = frozenset().union(*map(namespaces, family))
        # As a terminal does it: to all of the foreground.
        os.killpg(demo.pid, number)
        demo.wait(10)
        assert wait_until_gone(spaces) == []
        assert wait_for(lambda: running(family), []) == []
        assert "Traceback" not in demo.stderr.read()
    assert len(spaces) >= 7
    assert demo.returncode == (130 if number is signal.SIGINT else -number)


def test_on_a_terminal_it_opens_the_assistant_on_the_lab():
    leader, terminal = pty.openpty()
    with subprocess.Popen(
        DEMO, stdin=terminal, stdout=terminal, stderr=terminal, env={**os.environ, "TERM": "xterm-256color"}
    ) as demo:
        os.close(terminal)
        seen = b""
        while b"node-a" not in seen:
            seen += os.read(leader, 65536)
        family = descendants(demo.pid)
        spaces = frozenset().union(*map(namespaces, family))
        demo.kill()
        assert wait_until_gone(spaces) == []
    os.close(leader)
    assert b"\x1b[?1049h" in seen
    assert len(spaces) >= 7
