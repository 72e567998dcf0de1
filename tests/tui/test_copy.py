"""A copy that survives: the bytes that reach the terminal, the file, and the normal screen; in a real terminal, too."""

from __future__ import annotations

import io
import os
import re
import signal
import sys
import time
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pexpect
import pytest
from hypothesis import given
from hypothesis import strategies as some

from ncclcheck.tui.terminal import aside, clipboard
from tests.tui import fake
from tests.tui.pilots import opened, pressed

TMUX = {"TMUX": "/tmp/tmux-0/default,1,0"}
SCREEN = {"STY": "1.pts-0.box"}
_LIMIT = 30.0
_PROGRAM = """
from ncclcheck.tui.app import Doctor
from tests.tui import fake
raise SystemExit(Doctor(fake.HERE, cases=fake.Doctor().cases()).run() or 0)
"""
LEFT, ENTERED = b"\x1b[?1049l", b"\x1b[?1049h"
"""What leaves the alternate screen, and what enters it (xterm, ctlseqs)."""


def copied(sequence: bytes) -> str:
    """The text in a plain OSC 52."""
    (inner,) = re.findall(rb"\x1b\]52;c;([A-Za-z0-9+/=]*)\x07", sequence)
    return b64decode(inner).decode()


def out_of_tmux(output: bytes) -> bytes:
    """What tmux would hand on: the passthrough's content with its escapes single again (tmux(1), allow-passthrough)."""
    (inner,) = re.findall(rb"\x1bPtmux;((?:\x1b\x1b|[^\x1b])*)\x1b\\", output)
    return inner.replace(b"\x1b\x1b", b"\x1b")


def out_of_screen(output: bytes) -> bytes:
    """What GNU screen would hand on: the content of every device control string."""
    pieces = re.findall(rb"\x1bP((?:\x1b(?!\\)|[^\x1b])*)\x1b\\", output)
    assert all(len(piece) <= 252 for piece in pieces)
    return b"".join(pieces)


@given(some.text(max_size=2000).filter(lambda text: text.isprintable()))
def test_what_is_wrapped_comes_out_whole(text: str) -> None:
    assert copied(out_of_tmux(clipboard.passed_through(text, TMUX).encode())) == text
    assert copied(out_of_screen(clipboard.passed_through(text, SCREEN).encode())) == text


def test_the_sequences_are_what_tmux_and_screen_want() -> None:
    assert clipboard.passed_through("hi", TMUX) == "\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\"
    assert clipboard.passed_through("hi", SCREEN) == "\x1bP\x1b]52;c;aGk=\x07\x1b\\"
    assert clipboard.passed_through("hi", TMUX | SCREEN) == clipboard.passed_through("hi", TMUX)
    assert clipboard.passed_through("hi", {}) == ""


def test_what_is_too_long_for_terminals_is_not_sent() -> None:
    assert clipboard.fits("x" * 70_000)
    assert not clipboard.fits("x" * 80_000)


async def test_what_is_too_long_is_said_to_be_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    long = " ".join(["word"] * 20_000)
    async with opened(fake.Doctor(finding=replace(fake.FINDING, explanation=long))) as pilot:
        await pressed(pilot, "p", "c")
        (note,) = [note.message for note in pilot.app._notifications]
        assert note.startswith("Too long for the terminal's clipboard. It is in ")
        assert pilot.app.clipboard == ""
        assert (tmp_path / "ncclcheck" / "copied.txt").read_text().count("word") == 20_000


async def test_without_a_terminal_of_its_own_the_screen_is_not_left() -> None:
    async with opened(fake.Doctor()) as pilot:
        await pressed(pilot, "p", "C")
        notes = [note.message for note in pilot.app._notifications]
        assert notes == ["The screen cannot be left here. c saves the text in a file."]


def test_on_the_normal_screen_nothing_acts_and_enter_goes_back() -> None:
    out, keys = io.StringIO(), io.StringIO("\nmore")
    aside.show("a\x1b]52;c;aGk=\x07\u202eb\n", out, keys)
    assert out.getvalue().startswith("a\\x1b]52;c;aGk=\\x07\\x202eb\n")
    assert "Enter goes back" in out.getvalue()
    assert keys.read() == "more"


def test_a_terminal_without_utf_8_is_no_obstacle() -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii", write_through=True)
    aside.show("ring …", out, io.StringIO(""))
    assert raw.getvalue().startswith(b"ring ~\n")


def test_ctrl_c_goes_back_as_well() -> None:
    class Interrupted(io.StringIO):
        def readline(self, size: int = -1, /) -> str:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)
            raise AssertionError("nobody was interrupted")

    before = signal.getsignal(signal.SIGINT)
    aside.show("text", io.StringIO(), Interrupted())
    assert signal.getsignal(signal.SIGINT) is before


# In a real terminal --------------------------------------------------------------------------------------------------


class Raw:
    """The program in a pseudo-terminal, with every byte that it writes."""

    def __init__(self, home: Path, env: dict[str, str]) -> None:
        kept = {name: value for name, value in os.environ.items() if name not in ("TMUX", "STY")}
        kept |= {"XDG_STATE_HOME": str(home), "TERM": "xterm-256color", "LANG": "C.UTF-8", **env}
        self.process = pexpect.spawn(sys.executable, ["-c", _PROGRAM], dimensions=(24, 80), env=kept)
        self.output = b""

    def until(self, words: bytes) -> bytes:
        """Wait for these bytes, and give what came since the last wait."""
        self.process.expect_exact(words, timeout=_LIMIT)
        news = self.process.before + self.process.after
        self.output += news
        return bytes(news)


@contextmanager
def raw(home: Path, env: dict[str, str]) -> Iterator[Raw]:
    """A program with a finding on its screen; it is ended whatever happens."""
    terminal = Raw(home, env)
    try:
        terminal.until(b"Not checked yet")
        terminal.process.send("p")
        terminal.until(b"cannot reach")
        yield terminal
    finally:
        terminal.process.close(force=True)


@pytest.mark.parametrize(("env", "unwrapped"), [(TMUX, out_of_tmux), (SCREEN, out_of_screen), ({}, bytes)])
def test_the_clipboard_gets_it_through_whatever_runs_in_between(
    env: dict[str, str], unwrapped: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    with raw(tmp_path, env) as terminal:
        terminal.process.send("c")
        output = terminal.until(b"copied.txt")
        saved = (tmp_path / "ncclcheck" / "copied.txt").read_text()
        assert saved.startswith("error[NC101] NCCL uses eth0")
        assert copied(unwrapped(output[output.index(b"\x1bP" if env else b"\x1b]52") :])) == saved
        assert b"\x1b]52;c;" in output.split(b"\x1bP")[0], "the plain one comes first, for tmux's own clipboard"


def test_the_plain_view_leaves_the_screen_and_comes_back(tmp_path: Path) -> None:
    with raw(tmp_path, {}) as terminal:
        for key in ("\r", "\x03"):
            terminal.process.send("C")
            terminal.until(LEFT)
            shown = terminal.until(b"-- Enter goes back to ncclcheck --")
            assert b"error[NC101] NCCL uses eth0 (172.17.0.2), which the other node cannot reach" in shown
            assert b"export NCCL_SOCKET_IFNAME=" in shown
            assert b"\x1b[" not in shown.split(b"error[NC101]")[1]
            terminal.process.send(key)
            terminal.until(ENTERED)
            terminal.until(b"cannot reach")
        terminal.process.send("q")
        terminal.process.expect_exact(pexpect.EOF, timeout=_LIMIT)
        terminal.process.wait()
        assert terminal.process.exitstatus == 0
