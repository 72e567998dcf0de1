"""Pastes of any size through a real pseudo-terminal, and through tmux; keys, mouse, size and Ctrl-Z besides."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pexpect
import pytest
from textual.drivers.headless_driver import HeadlessDriver
from textual.drivers.linux_driver import LinuxDriver
from textual.drivers.web_driver import WebDriver

from ncclcheck.tui.app import Doctor
from ncclcheck.tui.terminal.driver import PasteDriver, with_pastes
from tests.cases import ROOT
from tests.tui import fake
from tests.yardstick import within

LINE = "node-a:4711:4711 [0] NCCL INFO NET/Socket : Using [0]eth0:172.17.0.2<0> [1]eth1:10.0.0.1<0> → ü\n"
BIG = LINE * (50_000_000 // len(LINE.encode()))
ROOM = 260
"""MiB at most with 50 MB pasted: a letter outside of Latin-1 makes each of them two bytes, for a moment twice."""
_LIMIT = 30.0
_TRIES = 4


class Pasting:
    """The app in a terminal; what it draws is thrown away by a thread, for it must be able to draw."""

    def __init__(self, out: Path, *command: str) -> None:
        self._out = out
        env = {**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT)}
        words = command or (sys.executable, "-m", "tests.tui.paste_app", str(out))
        self.process = pexpect.spawn(words[0], list(words[1:]), dimensions=(24, 80), env=env, cwd=str(out.parent))
        self.process.expect_exact("here we are", timeout=_LIMIT)
        self._drawn = threading.Thread(target=self._throw_away)
        self._drawn.start()
        self.until("size")

    def _throw_away(self) -> None:
        # Not by pexpect, which asks for the child's end as close() does, and only one of two is told. EIO is that end.
        with suppress(OSError):
            while os.read(self.process.child_fd, 65536):
                pass

    def write(self, data: bytes) -> None:
        """What a terminal sends."""
        left = memoryview(data)
        while left:
            left = left[os.write(self.process.child_fd, left[:65536]) :]

    def paste(self, text: str) -> None:
        """What a terminal does with its paste key."""
        self.write(b"\x1b[200~" + text.replace("\n", "\r").encode() + b"\x1b[201~")

    def told(self) -> list[dict[str, Any]]:
        """What reached the app."""
        return [json.loads(line) for line in self._out.read_text().splitlines()] if self._out.exists() else []

    def until(self, what: str, count: int = 1) -> dict[str, Any]:
        """Wait for an event of that name, or for so many."""
        end = time.monotonic() + _LIMIT
        while len(found := [one for one in self.told() if what in one]) < count:
            assert time.monotonic() < end, f"no {what}: {self.told()[-9:]}"
            time.sleep(0.02)
        return found[count - 1]

    def until_told(self, what: dict[str, Any]) -> None:
        """Wait for this very event."""
        end = time.monotonic() + _LIMIT
        while what not in self.told():
            assert time.monotonic() < end, f"no {what}: {self.told()[-9:]}"
            time.sleep(0.02)

    def close(self) -> None:
        """End it, whatever it does."""
        if self.process.isalive():
            self.process.kill(signal.SIGKILL)
            self.process.wait()
        self._drawn.join()
        self.process.close()


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Pasting]:
    opened = Pasting(tmp_path / "told")
    yield opened
    opened.close()


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def arrives_in_time(terminal: Pasting, paste: Callable[[], object]) -> int:
    """Paste the big text; how often, for the best of several counts: other work on the machine is not measured."""
    slow: list[str] = []
    for count in range(1, _TRIES + 1):
        began = time.monotonic()
        paste()
        found = terminal.until("pasted", count)
        seconds = time.monotonic() - began
        assert (found["pasted"], found["digest"]) == (len(BIG), digest(BIG))
        if within(10.0, seconds) and within(0.25, found["late"]):
            return count
        slow.append(f"{seconds:.1f} s, the loop {found['late']:.2f} s late")
    return pytest.fail(f"each time: {slow}")


def test_fifty_megabytes_arrive_whole_and_the_screen_goes_on(terminal: Pasting) -> None:
    arrives_in_time(terminal, lambda: terminal.paste(BIG))
    assert terminal.until("pasted")["peak"] < ROOM
    assert all(one["arrives"] > 1 << 20 for one in terminal.told() if "arrives" in one)
    assert [one for one in terminal.told() if "key" in one] == []


def test_without_marks_no_letter_of_it_is_a_key(terminal: Pasting) -> None:
    text = LINE * 10_000
    terminal.write(text.replace("\n", "\r").encode())
    assert terminal.until("pasted")["digest"] == digest(text)
    terminal.write(b"x")
    assert terminal.until("key") == {"key": "x"}


def test_what_is_no_utf8_is_replaced_and_the_next_key_works(terminal: Pasting) -> None:
    terminal.write(b"\x1b[200~r\xe4d \x1b[31m\x00log\x1b[201~x\xffy")
    assert terminal.until("pasted")["digest"] == digest("r\ufffdd \x1b[31mlog")
    assert [terminal.until("key", number)["key"] for number in (1, 3)] == ["x", "y"]


def test_keys_mouse_size_and_suspending_stay_as_they_are(terminal: Pasting) -> None:
    terminal.write(b"x\x1b[A\xc3\xbc")
    terminal.until("key", 3)
    terminal.write(b"\x1b[<0;5;3M\x1b[<0;5;3m")
    assert terminal.until("click") == {"click": [4, 2]}
    terminal.process.setwinsize(40, 120)
    terminal.until_told({"size": [120, 40]})
    for number in (1, 2):
        terminal.paste(LINE)
        assert terminal.until("pasted", number)["digest"] == digest(LINE)
        if number == 1:
            _suspend_and_resume(terminal)
    terminal.write(b"\x1b")
    assert terminal.until("key", 4) == {"key": "escape"}
    assert [one["key"] for one in terminal.told() if "key" in one] == ["x", "up", "ü", "escape"]
    terminal.write(b"q")
    terminal.process.wait()
    assert terminal.process.exitstatus == 0


def _suspend_and_resume(terminal: Pasting) -> None:
    pid = terminal.process.pid
    os.kill(pid, signal.SIGTSTP)
    end = time.monotonic() + _LIMIT
    while "\nState:\tT" not in Path(f"/proc/{pid}/status").read_text():
        assert time.monotonic() < end, "it does not stop"
        time.sleep(0.02)
    os.kill(pid, signal.SIGCONT)
    terminal.until("resumed")


# tmux ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[tuple[Pasting, list[str]]]:
    out = tmp_path / "told"
    base = ["tmux", "-S", str(tmp_path / "tmux"), "-f", "/dev/null"]
    opened = Pasting(out, *base, "new-session", f"{sys.executable} -m tests.tui.paste_app {out}")
    yield opened, base
    subprocess.run([*base, "kill-server"], check=True)
    opened.close()


def test_through_tmux_by_its_own_paste_and_by_the_terminals(tmux: tuple[Pasting, list[str]], tmp_path: Path) -> None:
    terminal, base = tmux
    (tmp_path / "text").write_text(BIG)
    subprocess.run([*base, "load-buffer", str(tmp_path / "text")], check=True)
    pasted = arrives_in_time(terminal, lambda: subprocess.run([*base, "paste-buffer", "-p"], check=True))
    # tmux 3.3 takes what its terminal sends key by key, a second a megabyte.
    text = LINE * 5_000
    terminal.paste(text)
    assert terminal.until("pasted", pasted + 1)["digest"] == digest(text)


# Which driver --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chosen", "expected"), [(LinuxDriver, PasteDriver), (WebDriver, WebDriver), (HeadlessDriver, HeadlessDriver)]
)
def test_only_the_driver_for_terminals_is_ours(chosen: type[LinuxDriver], expected: type[LinuxDriver]) -> None:
    assert with_pastes(chosen) is expected


def test_the_app_takes_it_unless_another_one_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Doctor(fake.HERE, cases=fake.Doctor().cases())
    assert issubclass(app.get_driver_class(), PasteDriver)
    # As textual-serve does.
    monkeypatch.setattr("textual.constants.DRIVER", "textual.drivers.web_driver:WebDriver")
    assert issubclass(app.get_driver_class(), WebDriver)
