"""What a running process has: real processes, one with a root of its own, and a /proc made for the rest."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ncclcheck.errors import NodeError
from ncclcheck.model import Library, RunningProcess, Setting, Trouble
from ncclcheck.node import libnccl
from ncclcheck.node.process import differing, look_at
from ncclcheck.node.rooted import inside

READY = "import sys; print('ready', flush=True); sys.stdin.read()"


@contextmanager
def running(*words: str, env: dict[str, str], cwd: Path | None = None) -> Iterator[int]:
    """A process that has started and waits for its standard input to end."""
    with subprocess.Popen(words, env=env, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield process.pid
        process.communicate()


def test_a_process_has_its_own_variables_and_files(tmp_path: Path) -> None:
    (tmp_path / "my.conf").write_text("NCCL_SOCKET_IFNAME=eth1 # x\nNCCL_DEBUG=INFO\n")
    env = {"NCCL_CONF_FILE": "my.conf", "NCCL_DEBUG": "", "MASTER_ADDR": "node-a", "SECRET": "x"}

    with running(sys.executable, "-c", READY, env=env, cwd=tmp_path) as pid:
        found = look_at(pid, "2.29.7")

    assert (found.pid, found.own_root, found.own_network, found.nccl) == (pid, False, False, "2.29.7")
    assert [one for one in found.settings if one.origin != "/etc/nccl.conf"] == [
        Setting("NCCL_CONF_FILE", "my.conf", "environment"),
        Setting("NCCL_DEBUG", "", "environment"),
        Setting("NCCL_SOCKET_IFNAME", "eth1 # x", "my.conf", line=1),
        Setting("NCCL_DEBUG", "INFO", "my.conf", line=2, wins=False),
        Setting("MASTER_ADDR", "node-a", "environment"),
    ]
    assert {Trouble.COMMENT, Trouble.EMPTY} <= {one.trouble for one in found.conf_troubles}
    assert [one.question for one in found.unknown] == ["which NCCL it will load"]


def test_the_library_in_its_memory_is_found() -> None:
    _, library = libnccl.choose(sys.executable, os.environ)
    assert library is not None

    with running(sys.executable, "-c", f"import ctypes; ctypes.CDLL({library.path!r}); {READY}", env={}) as pid:
        found = look_at(pid)

    (loaded,) = found.libraries
    assert (Path(loaded.path).samefile(library.path), loaded.version) == (True, library.version)
    assert found.nccl == library.version


CONTAINER = """
mkdir -p "$0/etc" "$0/home/a" "$0/real"
echo 'a:x:0:0::/home/a:/bin/sh' > "$0/etc/passwd"
echo NCCL_DEBUG=INFO > "$0/real/conf"
ln -s /real/conf "$0/home/a/.nccl.conf"
exec "$1" -c "$2" "$0"
"""
CHANGE_ROOT = f"import os, sys; os.chroot(sys.argv[1]); os.chdir('/'); {READY}"


def test_in_a_container_its_own_home_and_etc_count(tmp_path: Path) -> None:
    enter = ("unshare", "--user", "--map-root-user", "--net", "sh", "-ec", CONTAINER, str(tmp_path))

    with running(*enter, sys.executable, CHANGE_ROOT, env={"PATH": os.environ["PATH"]}) as pid:
        found = look_at(pid, "2.29.7")

    assert (found.user, found.own_root, found.own_network) == ("a", True, True)
    assert found.conf_files == ("/home/a/.nccl.conf",)
    assert Setting("NCCL_DEBUG", "INFO", "/home/a/.nccl.conf", line=1) in found.settings


def test_a_process_that_is_gone_is_an_error_with_a_next_step(tmp_path: Path) -> None:
    with pytest.raises(NodeError) as caught:
        look_at(2**22 + 1)
    with pytest.raises(NodeError) as elsewhere:
        look_at(1, proc=tmp_path / "proc")

    assert (caught.value.problem, caught.value.place) == ("there is no such process", "process 4194305")
    assert (bool(caught.value.next_step), elsewhere.value.next_step) == (True, "This needs /proc, which only Linux has")


NOBODY = """
import os
from ncclcheck.errors import NodeError
from ncclcheck.node.process import look_at
if os.getuid() == 0:
    os.setuid(65534)
try:
    look_at(1)
except NodeError as error:
    print(error)
"""


def test_a_process_of_somebody_else_is_an_error_with_a_next_step() -> None:
    done = subprocess.run([sys.executable, "-c", NOBODY], capture_output=True, text=True, check=True)

    assert done.stdout == (
        "process 1: its variables may not be read: Permission denied\n"
        "  Run this as the user of the process, or as root: sudo ncclcheck node --pid 1\n"
    )


def process(pid: int, **values: str) -> RunningProcess:
    return RunningProcess(
        pid,
        "python",
        "a",
        "2.29.7",
        False,
        False,
        tuple(Setting(name, value, "environment") for name, value in values.items()),
    )


def test_what_differs_between_processes() -> None:
    one = process(1, NCCL_DEBUG="INFO", NCCL_IB_DISABLE="1", RANK="0", MASTER_ADDR="a")
    two = process(2, NCCL_DEBUG="WARN", RANK="1", MASTER_ADDR="a")

    assert differing((one, two)) == ("NCCL_DEBUG", "NCCL_IB_DISABLE")
    assert differing((one,)) == differing((one, one)) == ()


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/etc/nccl.conf", "etc/nccl.conf"),
        ("/link/x", "etc/x"),
        ("/up/etc/../etc/x", "etc/x"),
        ("/../../x", "x"),
        ("/none/x", "none/x"),
    ],
)
def test_links_stay_inside_of_the_root(tmp_path: Path, path: str, place: str) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "link").symlink_to("/etc")
    (tmp_path / "up").symlink_to("../../..")

    assert inside(tmp_path, path) == tmp_path / place


def test_a_ring_of_links_has_an_end(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("/b")
    (tmp_path / "b").symlink_to("/a")

    assert inside(tmp_path, "/a").parent == tmp_path


def test_a_library_that_was_replaced_is_still_named(tmp_path: Path) -> None:
    folder = tmp_path / "7"
    folder.mkdir()
    (folder / "environ").write_bytes(b"")
    (folder / "maps").write_text("7f00-7f01 r-xp 0 0:1 2   /opt/libnccl.so.2 (deleted)\n")

    assert look_at(7, proc=tmp_path).libraries == (Library("/opt/libnccl.so.2", None, "loaded"),)
