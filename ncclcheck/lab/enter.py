"""Run a command on a lab node: ``enter.py PID COMMAND…`` joins the namespaces of process PID.

Stand-alone (Python 3.8, standard library), so that it starts fast and works under ``python -I``. The command is a
child of this process, since only children are in a joined process namespace (setns(2)); it ends when this one does.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys

# The user namespace first: it gives the right to join the others. "pid" only counts for the child.
_NAMESPACES = ("user", "mnt", "net", "uts", "pid")
_PR_SET_PDEATHSIG = 1
_NOT_RUN = 126

_libc = ctypes.CDLL(None, use_errno=True)


def _same(one: str, other: str) -> bool:
    return os.stat(one).st_ino == os.stat(other).st_ino


def _working_folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        # Removed under our feet.
        return "/"


def join(pid: str, folder: str) -> None:
    """Join the namespaces of that process that are not ours already, and go to the folder there."""
    own, theirs = "/proc/self/ns/", f"/proc/{pid}/ns/"
    names = [name for name in _NAMESPACES if not _same(own + name, theirs + name)]
    handles = [os.open(theirs + name, os.O_RDONLY) for name in names]
    for handle in handles:
        if _libc.setns(handle, 0) < 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code), f"namespaces of {pid}")
        os.close(handle)
    # Joining a mount namespace moves the working folder to its root; a folder that is not there is no obstacle.
    with contextlib.suppress(OSError):
        os.chdir(folder)


def _become(command: list[str]) -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # The parent is outside this process namespace and so has number 0, unless it went before the line above.
    if os.getppid() != 0:
        os._exit(_NOT_RUN)
    # Python ignores it, and a command would inherit that.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        sys.stderr.flush()
    os._exit(_NOT_RUN)


def _wait(child: int) -> int:
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, _frame: os.kill(child, received))
    # Ctrl-C reaches the child by the terminal; it decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _, status = os.waitpid(child, 0)
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def main(arguments: list[str]) -> int:
    """Exit code of the command, 128 + N where signal N ended it, 126 where it could not be run."""
    try:
        join(arguments[0], _working_folder())
        # In a process namespace that is about to end, this fails too.
        child = os.fork()
    except OSError as error:
        sys.stderr.write(f"the lab node is gone ({error.strerror})\n")
        return _NOT_RUN
    if child == 0:
        _become(arguments[1:])
    return _wait(child)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
