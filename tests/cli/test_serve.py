"""The assistant in a browser: only by the secret line, inert, and gone with its tab or its server."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import aiohttp
import pyte
import pytest

from ncclcheck.cli import serve
from ncclcheck.cli.main import main
from ncclcheck.tui.terminal import browser
from tests.tui.test_hostile import HOSTILE, LITERAL

_LIMIT = 40.0
"""Seconds to wait for anything."""
_PAGE = re.compile(r"http://(127\.0\.0\.1:\d+)(/[\w-]{32}/)")


@contextmanager
def served(home: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server, and where it says that it waits."""
    env = {**os.environ, "XDG_STATE_HOME": str(home), "HOME": str(home)}
    command = [sys.executable, "-m", "ncclcheck", "serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as process:
        try:
            assert process.stdout
            while not (found := _PAGE.search(line := process.stdout.readline())):
                assert line, "it has ended"
            yield process, found[0]
        finally:
            process.terminate()
            process.wait(_LIMIT)


class Tab:
    """What a browser does, with pyte in place of xterm.js."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.output = b""
        self._screen = pyte.Screen(80, 24)
        self._stream = pyte.ByteStream(self._screen)

    async def until(self, words: str) -> str:
        """What is on the screen once these words are."""
        while words not in (text := "\n".join(self._screen.display)):
            message = await asyncio.wait_for(self.socket.receive(), _LIMIT)
            assert message.type is aiohttp.WSMsgType.BINARY, f"{message} instead of {words!r}:\n{text}"
            self.output += message.data
            self._stream.feed(message.data)
        return text

    async def types(self, keys: str) -> None:
        """Send keys."""
        await self.socket.send_json(["stdin", keys])


@asynccontextmanager
async def tab_of(page: str) -> AsyncIterator[Tab]:
    """A browser tab with this page."""
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(f"{page.replace('http', 'ws', 1)}ws?width=80&height=24") as socket,
    ):
        yield Tab(socket)


async def test_a_tab_is_the_assistant_and_strangers_text_is_inert_in_it(tmp_path: Path) -> None:
    with served(tmp_path) as (_, page):
        async with tab_of(page) as tab:
            await tab.until("MTU")  # From here on there is something that a key in the paste could copy.
            await tab.types(f"\x1b[200~NCCL INFO {HOSTILE}\rNCCL\x1b[201~")
            assert LITERAL[:30] in await tab.until("[@click=app.quit]x[/]")
            assert b"\x1b]52" not in tab.output
            assert "\u202e".encode() not in tab.output
            await tab.types("q")
            while (message := await asyncio.wait_for(tab.socket.receive(), _LIMIT)).type is aiohttp.WSMsgType.BINARY:
                pass
            assert message.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)


async def test_only_the_secret_line_leads_to_it(tmp_path: Path) -> None:
    with served(tmp_path) as (_, page):
        async with aiohttp.ClientSession() as session:
            root = page[: page.rindex("/", 0, -1) + 1]
            for path in ("", "ws", "static/js/textual.js", "x" * 32 + "/ws"):
                async with session.get(root + path) as refused:
                    assert refused.status == 404, path
            async with session.get(page) as shown:
                text, policy = await shown.text(), shown.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy
            assert re.findall(r"https?://", text) == []
            async with session.get(page, headers={"Host": 'x"><script>'}) as strange:
                assert "<script>" not in (await strange.text()).replace("<script src", "")


async def test_a_session_ends_with_its_tab_and_with_a_server_that_is_killed(tmp_path: Path) -> None:
    with served(tmp_path) as (server, page):
        async with tab_of(page) as tab:
            await tab.until("Not checked yet")
            first = children(server.pid)
            assert len(first) == 1
        await gone(first)
        async with tab_of(page) as tab:
            await tab.until("Not checked yet")
            second = children(server.pid)
            server.send_signal(signal.SIGKILL)
            await gone(second)


def children(pid: int) -> list[int]:
    """Every process below this one that is Python: a shell may stand between (proc(5), ``children``)."""
    below = [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    own = [one for one in below if b"ncclcheck" in Path(f"/proc/{one}/cmdline").read_bytes().split(b"\0")]
    return own + [one for other in below for one in children(other)]


async def gone(processes: list[int]) -> None:
    """Wait until none of them is there."""
    end = time.monotonic() + _LIMIT
    while alive := [one for one in processes if Path(f"/proc/{one}").exists() and not zombie(one)]:
        assert time.monotonic() < end, f"{alive} live on"
        await asyncio.sleep(0.05)


def zombie(pid: int) -> bool:
    """Whether only its exit code is left (proc(5), ``stat``)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


class Waiting:
    """A socket that is bound somewhere."""

    def __init__(self, address: str) -> None:
        self._address = address

    def getsockname(self) -> tuple[str, int]:
        """Where."""
        return self._address, 8000


@pytest.mark.parametrize(("address", "warned"), [("127.0.0.1", False), ("::1", False), ("0.0.0.0", True)])
def test_beyond_loopback_it_warns_in_words(
    address: str, warned: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(browser, "serve", lambda _, ready: ready("/secret/"))
    serve._serve(Waiting(address), address)  # type: ignore[arg-type]
    out, err = capsys.readouterr()
    assert ":8000/secret/" in out
    assert ("act as you" in err) is warned


def test_without_the_package_it_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert main(["serve"]) == 3
    assert "pip install 'ncclcheck[serve]'" in capsys.readouterr().err


def test_a_port_that_is_taken_is_a_message(capsys: pytest.CaptureFixture[str]) -> None:
    with serve._bound("127.0.0.1", 0) as taken:
        assert main(["serve", "--port", str(taken.getsockname()[1])]) == 3
    assert "Address already in use" in capsys.readouterr().err
