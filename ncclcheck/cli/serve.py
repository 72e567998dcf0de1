"""``ncclcheck serve``: the assistant in a browser, through textual-serve."""

from __future__ import annotations

import argparse
import importlib.util
import ipaddress
import socket

from ncclcheck.cli.arguments import whole
from ncclcheck.cli.diagnostics import ExitCode, note
from ncclcheck.cli.output import write
from ncclcheck.errors import NcclcheckError

_DESCRIPTION = """\
Shows the assistant in a browser, by a line with a secret in it. Whoever has this line acts as you on this node: it can
read your files, change settings and run tests. By default only programs on this node can connect; from your own machine
use an ssh tunnel: ssh -L PORT:127.0.0.1:PORT NODE. Each browser tab is a session of its own, and ends with the tab.
A paste may have 4 MB there; open what is longer as a file (o)."""

_OPEN = """\
! This waits at {host}, which other machines may reach, without encryption: who listens on the way can read the line
  above and act as you here. Better: leave --host out, and use ssh -L {port}:127.0.0.1:{port} from your own machine."""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command and its arguments."""
    parser = subparsers.add_parser(
        "serve",
        help="the assistant in a browser",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--host", metavar="ADDRESS", default="127.0.0.1", help="default: 127.0.0.1, this node alone")
    port = whole(0, 65535, "a port from 0 to 65535")
    parser.add_argument("--port", metavar="N", type=port, default=0, help="default: any that is free")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> ExitCode:
    """Serve until Ctrl-C."""
    if importlib.util.find_spec("textual_serve") is None:
        raise NcclcheckError(
            "the browser needs one more package", next_step="install it with: pip install 'ncclcheck[serve]'"
        )
    with _bound(options.host, options.port) as waiting:
        _serve(waiting, options.host)
    return ExitCode.CLEAR


def _bound(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        problem = f"cannot wait there: {error.strerror or error}"
        raise NcclcheckError(problem, place=f"{host}:{port}", next_step="choose another --host or --port") from error


def _serve(waiting: socket.socket, host: str) -> None:
    from ncclcheck.tui.terminal.browser import serve

    address, port = waiting.getsockname()[:2]
    at = f"[{address}]" if ":" in address else address

    def ready(path: str) -> None:
        write(f"Open this in a browser; Ctrl-C here ends it:\n\n  http://{at}:{port}{path}\n")
        if not ipaddress.ip_address(address).is_loopback:
            note(_OPEN.format(host=host, port=port))

    serve(waiting, ready)
