"""A node's own ``/etc``, home folder, ``/sys`` and ``/proc``, made in its mount namespace and kept in memory."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ncclcheck.lab import kernel
from ncclcheck.lab.layout import LabNode, Layout, hosts

ETC = Path("/etc")
HOME = ETC / "lab-home"

ENVIRONMENT = (
    ("HOME", str(HOME)),
    ("TMPDIR", str(HOME / "tmp")),
    ("XDG_CACHE_HOME", str(HOME / ".cache")),
    ("XDG_CONFIG_HOME", str(HOME / ".config")),
    ("XDG_DATA_HOME", str(HOME / ".local/share")),
    ("XDG_STATE_HOME", str(HOME / ".local/state")),
)


def own_proc() -> None:
    """Show the lab's own processes only; a kernel that hides parts of ``/proc`` forbids it, and we do without."""
    try:
        kernel.mount("proc", "/proc")
    except PermissionError:
        return


def own_sys() -> None:
    """``/sys`` shows the network namespace that mounted it: without a new one, speeds would be this machine's."""
    try:
        kernel.mount("sysfs", "/sys")
    except PermissionError:
        # Nothing to read is better than another node's figures.
        kernel.mount("tmpfs", "/sys")


def passwd(text: str, user: int, home: str) -> str:
    """The passwd file (passwd(5)) with this user's home folder replaced; the user is added where missing."""
    lines = [line.split(":") for line in text.splitlines() if line.count(":") == 6]
    if not any(words[2] == str(user) for words in lines):
        lines.insert(0, ["root", "x", str(user), "0", "", home, "/bin/sh"])
    return "".join(":".join([*words[:5], home, words[6]] if words[2] == str(user) else words) + "\n" for words in lines)


def _replace(name: str, text: str) -> None:
    """Write a file of the new ``/etc``, never through a link that leads out of it."""
    path = ETC / name
    path.unlink(missing_ok=True)
    path.write_text(text)


def _copy_etc() -> None:
    """Cover ``/etc`` with a copy in memory; what may not be read is left out."""
    original = os.open(ETC, os.O_RDONLY | os.O_DIRECTORY)
    kernel.mount("tmpfs", str(ETC), options="mode=755")
    try:
        shutil.copytree(f"/proc/self/fd/{original}", ETC, symlinks=True, dirs_exist_ok=True)
    except shutil.Error as error:
        # copytree goes on to the end and then lists what it could not copy.
        del error
    os.close(original)


def own_etc(layout: Layout, node: LabNode) -> None:
    """The node's ``/etc``: this machine's, but for names, home folder and NCCL's settings."""
    _copy_etc()
    files = {
        "hostname": f"{node.name}\n",
        "hosts": hosts(layout),
        "passwd": passwd((ETC / "passwd").read_text(), os.getuid(), str(HOME)),
        "resolv.conf": "# no name server reaches into the lab\n",
    }
    for name, text in files.items():
        _replace(name, text)
    (ETC / "nccl.conf").unlink(missing_ok=True)
    for name, text in node.etc:
        _replace(name, text)
    (HOME / "tmp").mkdir(parents=True)
