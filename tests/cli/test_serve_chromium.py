"""The assistant in a real browser: it is drawn, loads nothing from elsewhere, and strangers' text is only text."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.cli.test_serve import served

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
HOSTILE = (
    '<img src=x onerror="hacked=1"><script>hacked=1</script> \x1b]0;owned\x07\x1b]52;c;aGk=\x07[@click=app.quit]x[/]'
)
_SEEN = """({
    hacked: typeof hacked, title: document.title, drawn: document.querySelectorAll('#terminal canvas').length > 0,
    foreign: document.querySelectorAll('img, iframe, script:not([src^="static/"])').length,
    ready: !!document.body?.classList.contains('-first-byte'),
})"""


@contextmanager
def chromium(home: Path) -> Iterator[str]:
    """A browser without a window, and where it can be spoken to (Chrome DevTools Protocol)."""
    assert CHROMIUM
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", f"--user-data-dir={home}"]
    with subprocess.Popen([CHROMIUM, *flags, "about:blank"], stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr
            while not (found := re.search(r"ws://([\d.:]+)/", line := process.stderr.readline())):
                assert line, "it has ended"
            yield f"http://{found[1]}"
        finally:
            process.terminate()


class Page:
    """A page of that browser."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._sent = 0
        self.asked: list[str] = []
        """What it asked the network for."""

    async def call(self, method: str, **parameters: object) -> Any:
        """Have something done; its result."""
        self._sent += 1
        await self._socket.send_json({"id": self._sent, "method": method, "params": parameters})
        while (said := await self._socket.receive_json()).get("id") != self._sent:
            if said.get("method") == "Network.requestWillBeSent":
                self.asked.append(said["params"]["request"]["url"])
        return said["result"]

    async def seen(self) -> dict[str, Any]:
        """What there is in the page by now."""
        found = await self.call("Runtime.evaluate", expression=_SEEN, returnByValue=True)
        value: dict[str, Any] = found["result"]["value"]
        return value


@pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's package chromium")
async def test_in_chromium_it_is_drawn_and_inert(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NCCL_SOCKET_IFNAME", HOSTILE)
    with served(tmp_path) as (_, address), chromium(tmp_path / "profile") as browser:
        async with aiohttp.ClientSession() as session, session.get(f"{browser}/json") as answer:
            where = next(tab["webSocketDebuggerUrl"] for tab in await answer.json() if tab["type"] == "page")
            async with session.ws_connect(where, max_msg_size=0) as socket:
                page = Page(socket)
                for domain in ("Page", "Network", "Runtime"):
                    await page.call(f"{domain}.enable")
                blank = await picture(page)
                await page.call("Page.navigate", url=address)
                while not (seen := await page.seen())["ready"] or await picture(page) < 4 * blank:
                    pass
    assert seen == {"hacked": "undefined", "title": "ncclcheck", "drawn": True, "foreign": 0, "ready": True}
    assert [url for url in page.asked if not url.startswith((address, "data:", "ws" + address[4:]))] == []


async def picture(page: Page) -> int:
    """Bytes of a picture of the page (PNG): where nothing is drawn there are few."""
    shot = await page.call("Page.captureScreenshot")
    return len(base64.b64decode(shot["data"]))
