"""The assistant in a browser: textual-serve's server behind a path that nobody can guess. [effects]

textual-serve alone (1.1.3) serves whoever asks: every user of this node, and every web page that a browser here has
open, may connect to a port of loopback. It loads fonts from the internet, and its page knows only the address that it
was bound to.
"""

from __future__ import annotations

import secrets
import shlex
import socket
import sys
from collections.abc import Callable
from html import escape
from importlib import resources
from string import Template

from aiohttp import web
from textual_serve.server import Server

_TITLE = "ncclcheck"
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data:; "
    "connect-src 'self' {websocket}; frame-ancestors 'none'"
)
"""Nothing from elsewhere (Content Security Policy Level 3); the toolkit makes its styles with a script."""


class _Sessions(Server):
    """A process of ours for each browser tab."""

    def __init__(self, command: str) -> None:
        super().__init__(command, title=_TITLE)

    async def handle_index(self, request: web.Request) -> web.Response:
        """The page, which leads back to wherever it was asked for."""
        scheme = "wss" if request.secure else "ws"
        websocket = f"{scheme}://{request.host}{request.path}ws"
        page = resources.files(__package__).joinpath("browser.html").read_text(encoding="utf-8")
        policy = _POLICY.format(websocket=f"{scheme}://{request.host}")
        return web.Response(
            text=Template(page).substitute(websocket=escape(websocket)),
            content_type="text/html",
            headers={**_HEADERS, "Content-Security-Policy": policy},
        )

    async def on_startup(self, app: web.Application) -> None:
        """Say nothing; whoever serves says where."""


def command() -> str:
    """What a session runs, for a shell."""
    return shlex.join((sys.executable, "-m", "ncclcheck"))


def serve(waiting: socket.socket, ready: Callable[[str], None], run: str = "") -> None:
    """Serve on this socket until Ctrl-C or SIGTERM; ``ready`` is told the path, once it can be asked for."""
    secret = secrets.token_urlsafe(24)
    web.run_app(_outer(f"/{secret}/", ready, run or command()), sock=waiting, print=lambda *_: None, access_log=None)


async def _outer(path: str, ready: Callable[[str], None], run: str) -> web.Application:
    outer = web.Application()
    outer.add_subapp(path, await _Sessions(run)._make_app())

    async def started(_: web.Application) -> None:
        ready(path)

    outer.on_startup.append(started)
    return outer
