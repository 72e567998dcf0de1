"""The program in a real pseudo-terminal: it starts, takes a paste, follows a resize, and leaves a sane terminal."""

from __future__ import annotations

import os
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pyte
import pytest

LOG = """\
node-a:4711:4711 [0] NCCL INFO Bootstrap: Using eth0:172.17.0.2<0>
node-a:4711:4711 [0] NCCL INFO NET/Socket : Using [0]eth0:172.17.0.2<0> [1]eth1:10.0.0.1<0>
node-a:4711:4711 [0] NCCL INFO Using network Socket
node-a:4711:4720 [0] NCCL INFO Call to connect returned Connection refused, retrying
"""
_LIMIT = 30.0
"""Seconds to wait for anything."""


class Terminal:
    """A terminal with ncclcheck in it; what would be seen is kept by pyte."""

    def __init__(self, home: Path, *words: str) -> None:
        self.screen = pyte.Screen(80, 24)
        self._stream = pyte.ByteStream(self.screen)
        self.output = b""
        env = {name: value for name, value in os.environ.items() if not name.startswith("NCCL_")}
        env |= {"HOME": str(home), "XDG_STATE_HOME": str(home), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        self.process = pexpect.spawn(sys.executable, ["-m", "ncclcheck", *words], dimensions=(24, 80), env=env)
        # The child sets its own modes at once, but only after this.
        self.modes = termios.tcgetattr(self.process.child_fd)

    def _take(self) -> None:
        try:
            news = self.process.read_nonblocking(65536, timeout=0.2)
        except pexpect.TIMEOUT:
            return
        self.output += news
        self._stream.feed(news)

    def until(self, words: str, limit: float = _LIMIT) -> None:
        """Wait until these words are on the screen; the limit is in seconds."""
        end = time.monotonic() + limit
        while words not in (text := "\n".join(self.screen.display)):
            assert time.monotonic() < end, f"{words!r} never came:\n{text}"
            self._take()

    def send(self, keys: str) -> None:
        """Type, or paste what a bracket encloses."""
        self.process.send(keys)

    def end(self) -> None:
        """Wait for the end of the program."""
        end = time.monotonic() + _LIMIT
        while self.process.isalive():
            assert time.monotonic() < end, "it does not end"
            try:
                self._take()
            except pexpect.EOF:
                self.process.wait()


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal(tmp_path)
    yield opened
    opened.process.close(force=True)


def test_start_paste_resize_and_quit(terminal: Terminal) -> None:
    terminal.until("Not checked yet")
    terminal.until("q Quit")
    terminal.send("\x1b[200~" + LOG.replace("\n", "\r") + "\x1b[201~")
    terminal.until("How we know")
    terminal.until("Call to connect returned Connection ref")
    terminal.process.setwinsize(40, 120)
    terminal.screen.resize(40, 120)
    terminal.until("What to do")
    terminal.send("?")
    terminal.until("Every key of this place")
    terminal.until("esc Close")
    terminal.send("\x1b")
    terminal.until("q Quit")
    terminal.send("q")
    terminal.end()
    assert terminal.process.exitstatus == 0
    assert termios.tcgetattr(terminal.process.child_fd) == terminal.modes


def test_the_demo_is_found_fixed_and_proved_by_keys_alone(tmp_path: Path) -> None:
    demo = Terminal(tmp_path, "demo")
    try:
        demo.until("for the same reason as on node-a")
        demo.send("p")
        demo.until("NCCL uses eth0 (172.17.0.2)")
        demo.send("f")
        demo.until("+ NCCL_SOCKET_IFNAME==eth1")
        demo.send("a")
        demo.until("Proved: the speed test that failed before passes now.", limit=90)
        demo.send("\x1b")
        demo.until("q Quit")
        demo.send("q")
        demo.end()
        assert demo.process.exitstatus == 0
    finally:
        demo.process.close(force=True)


def test_without_a_terminal_it_says_what_to_use_instead() -> None:
    command = [sys.executable, "-m", "ncclcheck"]
    run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (3, "")
    assert run.stderr.startswith("ncclcheck: the interactive assistant needs a terminal\n  without one: ncclcheck node")


def test_the_terminal_is_sane_afterwards(terminal: Terminal) -> None:
    terminal.until("q Quit")
    terminal.send("q")
    terminal.end()
    # Alternate screen, bracketed paste and mouse are off, the cursor is back.
    left = [mode for mode in (b"1049l", b"2004l", b"1000l", b"25h") if b"\x1b[?" + mode in terminal.output[-2000:]]
    assert left == [b"1049l", b"2004l", b"1000l", b"25h"]
