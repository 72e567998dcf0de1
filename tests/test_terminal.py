"""The program in real pseudo-terminals of every kind: what it draws there, and that it leaves each as it was."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.tui.terminals import LIMIT, Terminal

LOG = """\
node-a:4711:4711 [0] NCCL INFO Bootstrap: Using eth0:172.17.0.2<0>
node-a:4711:4711 [0] NCCL INFO NET/Socket : Using [0]eth0:172.17.0.2<0> [1]eth1:10.0.0.1<0>
node-a:4711:4711 [0] NCCL INFO Using network Socket
node-a:4711:4720 [0] NCCL INFO Call to connect returned Connection refused, retrying
"""
COLOUR = re.compile(rb"\x1b\[(?:[\d;]*;)?(?:3[0-8]|4[0-8]|9\d|10[0-7])(?:;[\d;]*)?m")
"""A sequence that sets a colour (ECMA-48, SGR; 39 and 49 take it away)."""
MARKED = ("xterm-256color", "tmux-256color", "vt220")
"""Kinds of terminals that say where a paste begins and ends; others send it as if it were typed."""


@contextmanager
def opened(home: Path, *words: str, **how: object) -> Iterator[Terminal]:
    """A terminal that is closed in the end."""
    terminal = Terminal(home, *words, **how)  # type: ignore[arg-type]
    try:
        yield terminal
    finally:
        terminal.close()


@contextmanager
def together(terminals: list[Terminal]) -> Iterator[list[Terminal]]:
    """Several that run at once."""
    try:
        yield terminals
    finally:
        for terminal in terminals:
            terminal.close()


def crashing(line: str) -> tuple[str, str]:
    """The program, changed by a line of Python."""
    return "-c", f"import sys; sys.argv[1:] = []\n{line}\nfrom ncclcheck.cli.main import console\nconsole()"


def ready(terminal: Terminal) -> None:
    """Wait until it takes keys and knows this node."""
    terminal.until("Not checked yet")
    terminal.until("Quit")
    terminal.until("MTU")


def test_start_paste_resize_and_quit(tmp_path: Path) -> None:
    with opened(tmp_path) as terminal:
        ready(terminal)
        terminal.paste(LOG.replace("\n", "\r"))
        terminal.until("-->")
        terminal.until("Call to connect returned Connection ref")
        terminal.resize(300, 80)
        terminal.until("what to do:")
        terminal.resize(80, 24)
        terminal.send("?")
        terminal.until("ncclcheck finds out why")
        terminal.until("esc Close")
        terminal.send("\x1b")
        terminal.until("q Quit")
        terminal.send("q")
        terminal.end()
        assert terminal.process.exitstatus == 0
        assert terminal.sane, terminal.changed


KINDS = {"vt100": True, "vt220": True, "linux": True, "screen": False, "tmux-256color": False, "xterm-256color": False}
"""Kinds of terminals, and whether their signs are ASCII whatever the locale says."""


def test_every_kind_of_terminal(tmp_path: Path) -> None:
    with together([Terminal(tmp_path / kind, env={"TERM": kind}) for kind in KINDS]) as every:
        for kind, terminal in zip(KINDS, every, strict=True):
            ready(terminal)
            assert "p  Probe         ask the real NCCL which network it takes" in terminal.text
            pasted = LOG.replace("\n", "\r")
            if kind in MARKED:
                terminal.paste(pasted)
            else:
                terminal.send(pasted)
        for terminal in every:
            terminal.until("Call to connect returned Connection ref")
            terminal.send("q")
        for (kind, ascii_alone), terminal in zip(KINDS.items(), every, strict=True):
            terminal.end()
            assert terminal.process.exitstatus == 0, kind
            assert terminal.sane, kind
            assert terminal.output.isascii() is ascii_alone, kind
            assert bool(COLOUR.search(terminal.output)) is not kind.startswith("vt"), kind
            # What such a terminal would print instead of understanding it.
            assert (b"u" in re.findall(rb"\x1b\[[<>?]\d*(u|\$p)", terminal.output)) is not ascii_alone, kind


def test_without_utf8_every_sign_is_ascii(tmp_path: Path) -> None:
    locales = {"C": True, "de_DE.ISO-8859-1": True, "": False}
    with together([Terminal(tmp_path, env={"LANG": locale}) for locale in locales]) as every:
        for terminal in every:
            ready(terminal)
            terminal.paste(f"{LOG}\u2713 \u6f22\u5b57 \u2588\n")
            terminal.until("Call to connect returned Connection ref")
            terminal.send("5")
            terminal.until("Not measured yet")
            terminal.send("q")
        for ascii_alone, terminal in zip(locales.values(), every, strict=True):
            terminal.end()
            assert terminal.output.isascii() is ascii_alone


def test_no_color_means_none_and_the_cursor_is_still_seen(tmp_path: Path) -> None:
    with opened(tmp_path, env={"NO_COLOR": "1"}) as terminal:
        ready(terminal)
        terminal.send("2")
        terminal.until("No log yet")
        terminal.send("1")
        terminal.until("Open a log")
        end = time.monotonic() + 5
        # A frame comes in pieces.
        while marked(terminal) != [["1", "Overview"], ["p", "Probe"]]:
            assert time.monotonic() < end, marked(terminal)
            terminal.take()
        assert not COLOUR.search(terminal.output)


def marked(terminal: Terminal) -> list[list[str]]:
    """The first words of the rows that stand out without a colour."""
    cells = [(terminal.screen.display[y].split()[:2], terminal.screen.buffer[y][10]) for y in range(24)]
    return [words for words, cell in cells if cell.reverse or cell.underscore]


def test_a_small_window_does_no_harm(tmp_path: Path) -> None:
    with together([Terminal(tmp_path, size=size) for size in ((20, 5), (40, 12), (60, 20))]) as every:
        for terminal in every:
            terminal.until("1 Overview")
            terminal.until("Not checked")
            for key in "2345671":
                terminal.send(key)
            terminal.resize(80, 24)
        for terminal in every:
            ready(terminal)
            terminal.send("q")
            terminal.end()
            assert terminal.process.exitstatus == 0


def test_the_terminal_can_have_its_mouse(tmp_path: Path) -> None:
    with opened(tmp_path) as terminal:
        ready(terminal)
        mouse = {1000, 1003, 1006, 1015}
        assert mouse <= terminal.changed
        terminal.send("m")
        terminal.until("m takes it back")
        assert not mouse & terminal.changed
        terminal.send("2")
        terminal.until("No log yet")
        assert "m takes it back" in terminal.text
        stopped_and_continued(terminal)
        terminal.until("m takes it back")
        assert not mouse & terminal.changed
        terminal.send("m")
        while "m takes it back" in terminal.text:
            terminal.take()
        assert mouse <= terminal.changed


def stopped_and_continued(terminal: Terminal) -> None:
    """Ctrl-Z, a look at the terminal that the shell gets, and fg."""
    terminal.send("\x1a")
    status = Path(f"/proc/{terminal.process.pid}/stat")
    while status.read_text().rsplit(")", 1)[1].split()[0] != "T":
        terminal.take()
    terminal.take()
    assert terminal.sane, terminal.changed
    terminal.screen.reset()
    os.kill(terminal.process.pid, signal.SIGCONT)


def test_suspended_and_resumed(tmp_path: Path) -> None:
    with opened(tmp_path) as terminal:
        ready(terminal)
        stopped_and_continued(terminal)
        ready(terminal)
        terminal.resize(100, 30)
        stopped_and_continued(terminal)
        ready(terminal)
        terminal.send("q")
        terminal.end()
        assert terminal.process.exitstatus == 0
        assert terminal.sane, terminal.changed


def test_a_signal_ends_it_in_good_order(tmp_path: Path) -> None:
    numbers = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    with together([Terminal(tmp_path) for _ in numbers]) as every:
        for number, terminal in zip(numbers, every, strict=True):
            ready(terminal)
            terminal.process.kill(number)
            assert terminal.end() < 10
            assert terminal.process.exitstatus == 128 + number
            assert terminal.sane, terminal.changed


def test_a_signal_while_it_starts(tmp_path: Path) -> None:
    waits = (0.05, 0.3, 0.6, 0.9)
    with together([Terminal(tmp_path) for _ in waits]) as every:
        began = time.monotonic()
        for wait, terminal in zip(waits, every, strict=True):
            while time.monotonic() < began + wait:
                terminal.take()
            terminal.process.kill(signal.SIGTERM)
        for terminal in every:
            terminal.end()
            by_itself = terminal.process.exitstatus == 128 + signal.SIGTERM
            assert by_itself or terminal.process.signalstatus == signal.SIGTERM
            assert terminal.sane, terminal.changed


def test_a_signal_while_a_text_is_shown_outside_of_it(tmp_path: Path) -> None:
    with opened(tmp_path) as terminal:
        ready(terminal)
        terminal.send("C")
        terminal.until("Enter goes back to ncclcheck")
        terminal.process.kill(signal.SIGTERM)
        assert terminal.end() < 10
        assert terminal.process.exitstatus == 128 + signal.SIGTERM
        assert terminal.sane, terminal.changed


def test_it_ends_with_its_terminal(tmp_path: Path) -> None:
    with opened(tmp_path) as terminal:
        ready(terminal)
        terminal.process.ptyproc.fileobj.close()
        end = time.monotonic() + LIMIT
        while terminal.process.isalive():
            assert time.monotonic() < end, "it lives on without a terminal"
            time.sleep(0.05)
        terminal.process.ptyproc.closed = terminal.process.closed = True


CRASHES = {
    "on a key": ("import ncclcheck.tui.app as a; a.Doctor.action_probe = lambda self: 1 / 0", "p"),
    "in a worker": ("import ncclcheck.tui.real as r; r._probe = lambda node: 1 / 0", "p"),
    "before the toolkit has the terminal": ("sys.modules['textual.app'] = None", ""),
    "while the toolkit starts": ("import ncclcheck.tui.app as a; a.Doctor.CSS_PATH = 'there-is-none.tcss'", ""),
}
"""A line of Python, and the key that leads to it."""


def test_a_crash_leaves_a_sane_terminal(tmp_path: Path) -> None:
    with together([Terminal(tmp_path, *crashing(line)) for line, _ in CRASHES.values()]) as every:
        for (what, (_, key)), terminal in zip(CRASHES.items(), every, strict=True):
            if key:
                ready(terminal)
                terminal.send(key)
            terminal.end()
            assert terminal.process.exitstatus == 1, what
            assert terminal.sane, what
            assert "Error" in terminal.text, "and says what happened"


def test_the_demo_is_found_fixed_and_proved_by_keys_alone(tmp_path: Path) -> None:
    with opened(tmp_path, "-m", "ncclcheck", "demo") as demo:
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
        assert demo.sane


def test_a_signal_ends_a_speed_test_and_takes_the_lab_away(tmp_path: Path) -> None:
    with opened(tmp_path, "-m", "ncclcheck", "demo") as demo:
        demo.until("for the same reason as on node-a")
        demo.send("s")
        until(demo, lambda: any(b"speedtest" in command for command in commands(demo.process.pid)))
        below = descendants(demo.process.pid)
        demo.process.kill(signal.SIGTERM)
        assert demo.end() < 20
        until(demo, lambda: not [pid for pid in below if Path(f"/proc/{pid}").exists()])
        assert demo.sane


def until(terminal: Terminal, happened: Callable[[], bool]) -> None:
    """Wait for something beside what is on the screen."""
    end = time.monotonic() + LIMIT
    while not happened():
        assert time.monotonic() < end, terminal.text
        if terminal.process.isalive():
            terminal.take()
        else:
            time.sleep(0.05)


def descendants(pid: int) -> list[int]:
    """Every process below this one (proc(5), ``children``)."""
    try:
        below = [
            int(one) for task in Path(f"/proc/{pid}/task").iterdir() for one in (task / "children").read_text().split()
        ]
    except FileNotFoundError:
        return []
    return below + [one for other in below for one in descendants(other)]


def commands(pid: int) -> Iterator[bytes]:
    """What they were called with."""
    for one in descendants(pid):
        try:
            yield Path(f"/proc/{one}/cmdline").read_bytes()
        except FileNotFoundError:
            continue


def test_where_it_cannot_be_drawn_it_is_told_as_text() -> None:
    command = [sys.executable, "-m", "ncclcheck"]
    run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert run.returncode == 0
    assert run.stdout.startswith("# Overview\n\n? Not checked yet")
    assert run.stderr == (
        "ncclcheck: as text, since standard error is redirected, and the assistant draws there. "
        "All places: ncclcheck --plain\n"
    )


def test_a_terminal_that_cannot_move_its_cursor_gets_text(tmp_path: Path) -> None:
    with opened(tmp_path, env={"TERM": "dumb"}, size=(200, 50)) as terminal:
        terminal.until("as text, since this terminal cannot move its cursor (TERM=dumb)")
        terminal.until("Ways on:")
        terminal.end()
        assert b"\x1b" not in terminal.output
        assert terminal.output.isascii()
