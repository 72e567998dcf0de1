"""What plain TCP does between two machines, without torch, NCCL or gloo: iperf3 where it is there, else sockets.

Stand-alone, like all of this folder: Python 3.8 and its standard library. Both ends must be told the same tool.
Nothing outlives the call or the block: threads are joined, sockets closed, iperf3 ended, also where this process is
killed (Linux).
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace as Server
from typing import Any

CHUNK = 1 << 20
"""Bytes handed to the kernel at once: with less, Python itself becomes the limit."""
MOST_FLOWS = 128
GRACE = 5.0
"""Seconds beyond the measured ones, for connecting and for what is still on its way."""
_POLL = 0.1
_COUNT = struct.Struct("!Q")
_TOTAL_RETRANS = 100  # bytes before tcpi_total_retrans in struct tcp_info (Linux, include/uapi/linux/tcp.h)

# Becomes the command in its arguments, which the kernel then ends with whoever asked for it (prctl(2), PDEATHSIG).
_ATTACHED = """
import ctypes, os, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, 15)
if os.getppid() == int(sys.argv[1]):
    os.execvp(sys.argv[2], sys.argv[2:])
"""


def available_tool() -> str:
    """``iperf3`` where there is one on PATH, else ``sockets``."""
    return "iperf3" if shutil.which("iperf3") else "sockets"


@contextlib.contextmanager
def serve(address: str, interface: str | None = None, tool: str = "sockets") -> Iterator[Server]:
    """Receive at this address, on a port that ``.port`` names, until the block ends.

    Only what comes in by the interface is taken, where that may be asked for. iperf3 serves one call, sockets any
    number, of at most 128 connections. Raises OSError where nothing can listen there, or iperf3 does not start.
    """
    with (_iperf3_server if tool == "iperf3" else _socket_server)(address, interface) as port:
        yield Server(port=port)


def call(  # noqa: PLR0917 - where to, how much, and two options
    address: str, port: int, flows: int, seconds: float, interface: str | None = None, tool: str = "sockets"
) -> dict[str, Any]:
    """Send to a server over some connections at once for some seconds, and what came of it.

    ``bytes`` were received, over ``seconds`` until the last one was; ``interface`` is the one that the traffic was held
    to, ``None`` where the route decided. ``failure`` is one sentence, empty where all went well. Ends within
    ``seconds`` and twice GRACE.
    """
    sending = _call_iperf3 if tool == "iperf3" else _call_sockets
    try:
        told = sending(address, port, flows, seconds, interface)
    except OSError as error:
        way = f" over {interface}" if interface else ""
        told = {"failure": f"{tool} could not send to {address} port {port}{way}: {error.strerror or error}"}
    nothing = {"bytes": 0, "seconds": 0.0, "interface": None, "retransmits": None, "failure": ""}
    return {"tool": tool, "flows": flows, **nothing, **told}


def _place(address: str, port: int) -> tuple[int, Any]:
    """Family and socket address; a zone such as ``fe80::1%eth0`` is understood."""
    found = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    return found[0][0], found[0][4]


def _hold(end: socket.socket, interface: str | None) -> bool:
    """Keep a socket's traffic on an interface; whether that was granted (Linux; without CAP_NET_RAW from 5.7 on)."""
    with contextlib.suppress(PermissionError):
        if interface and sys.platform == "linux":
            end.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode() + b"\0")
            return True
    return False


@contextlib.contextmanager
def _socket_server(address: str, interface: str | None) -> Iterator[int]:
    family, place = _place(address, 0)
    done = threading.Event()
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        _hold(listener, interface)
        listener.bind(place)
        listener.listen(MOST_FLOWS)
        listener.settimeout(_POLL)
        acceptor = threading.Thread(target=_accept, args=(listener, done), daemon=True)
        acceptor.start()
        try:
            yield listener.getsockname()[1]
        finally:
            done.set()
            acceptor.join()


def _accept(listener: socket.socket, done: threading.Event) -> None:
    """Take connections until it is done; then cut those that still run."""
    drains: list[tuple[socket.socket, threading.Thread]] = []
    while not done.is_set():
        try:
            connection = listener.accept()[0]
        except OSError:  # a timeout, or a caller that went away before it was taken
            continue
        connection.settimeout(None)
        drains.append((connection, threading.Thread(target=_drain, args=(connection,), daemon=True)))
        drains[-1][1].start()
    for connection, thread in drains:
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        thread.join()


def _drain(connection: socket.socket) -> None:
    """Receive all, and answer how many bytes it was."""
    buffer, total = bytearray(CHUNK), 0
    with connection, contextlib.suppress(OSError):
        while count := connection.recv_into(buffer):
            total += count
        connection.sendall(_COUNT.pack(total))


class _Flow(threading.Thread):
    """One connection of the caller, with a thread to fill it."""

    def __init__(self, end: socket.socket, begin: threading.Event, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self.end, self.begin, self.stop = end, begin, stop
        self.sent, self.finished, self.problem = 0, 0.0, ""
        self.retransmits: int | None = None

    def run(self) -> None:
        self.begin.wait()
        try:
            self._fill()
            self.end.shutdown(socket.SHUT_WR)
            received = _COUNT.pack(self.sent) == self.end.recv(_COUNT.size, socket.MSG_WAITALL)
            self.finished = time.monotonic()
            self.retransmits = _retransmits(self.end)
            self.problem = "" if received else "the other side did not count all bytes"
        except OSError as error:
            self.problem = error.strerror or str(error)

    def _fill(self) -> None:
        chunk = memoryview(bytes(CHUNK))
        while not self.stop.is_set():
            with contextlib.suppress(BlockingIOError):  # nothing at all went out for a while: look at the clock again
                self.sent += self.end.send(chunk)


def _retransmits(end: socket.socket) -> int | None:
    """Segments sent again so far; ``None`` elsewhere than on Linux."""
    if sys.platform == "linux":
        told = end.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TOTAL_RETRANS + 4)
        return int.from_bytes(told[_TOTAL_RETRANS:], sys.byteorder)
    return None


def _call_sockets(address: str, port: int, flows: int, seconds: float, interface: str | None) -> dict[str, Any]:
    begin, stop = threading.Event(), threading.Event()
    with contextlib.ExitStack() as stack:
        ends, held = _connected(stack, _place(address, port), flows, interface)
        threads = [_Flow(end, begin, stop) for end in ends]
        for thread in threads:
            thread.start()
        started = time.monotonic()
        begin.set()
        try:
            stop.wait(seconds)
        finally:
            _settle(threads, stop)
        return {"interface": interface if held else None, **_sum(threads, started)}


def _connected(
    stack: contextlib.ExitStack, place: tuple[int, Any], flows: int, interface: str | None
) -> tuple[list[socket.socket], bool]:
    """All connections, and whether they are held to the interface."""
    until, ends, held = time.monotonic() + GRACE, [], False
    for _ in range(max(1, min(flows, MOST_FLOWS))):
        end = stack.enter_context(socket.socket(place[0], socket.SOCK_STREAM))
        held = _hold(end, interface)
        end.settimeout(max(0.1, until - time.monotonic()))
        end.connect(place[1])
        end.settimeout(None)
        # A send that waits longer gives what it got rid of, so that a slow link's end is not missed by a whole chunk.
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("@ll", 0, int(_POLL * 1e6)))
        ends.append(end)
    return ends, held


def _settle(threads: list[_Flow], stop: threading.Event) -> None:
    """Wait until the other side has all, or cut the connections: no thread is left."""
    stop.set()
    until = time.monotonic() + GRACE
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
        if thread.is_alive():
            with contextlib.suppress(OSError):
                thread.end.shutdown(socket.SHUT_RDWR)
            thread.join()
            thread.problem = f"the other side did not take all of it within {GRACE:g} s"


def _sum(threads: list[_Flow], started: float) -> dict[str, Any]:
    if problem := next((thread.problem for thread in threads if thread.problem), ""):
        return {"failure": f"a connection of the baseline broke: {problem}"}
    again = [thread.retransmits for thread in threads if thread.retransmits is not None]
    seconds = max(thread.finished for thread in threads) - started
    sent = sum(thread.sent for thread in threads)
    return {"bytes": sent, "seconds": seconds, "retransmits": sum(again) if again else None}


@contextlib.contextmanager
def _iperf3(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    """A running iperf3 that ends with the block, or with this process."""
    if not (path := shutil.which("iperf3")):
        raise OSError("there is no iperf3 on PATH here")
    command = [sys.executable, "-c", _ATTACHED, str(os.getpid()), path, *words]
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, stdin=nothing, stdout=pipe, stderr=subprocess.STDOUT) as process:
        try:
            yield process
        finally:
            process.kill()


def _held_words(interface: str | None) -> list[str]:
    """The option that keeps iperf3 on an interface, where this iperf3 has it (3.10 and later)."""
    if not interface:
        return []
    with _iperf3("--help") as process:
        told = process.communicate(timeout=GRACE)[0]
    return ["--bind-dev", interface] if b"--bind-dev" in told else []


@contextlib.contextmanager
def _iperf3_server(address: str, interface: str | None) -> Iterator[int]:
    family, place = _place(address, 0)
    with socket.socket(family, socket.SOCK_STREAM) as end:
        end.bind(place)
        port = int(end.getsockname()[1])
    where = ["-B", address, "-p", str(port), *_held_words(interface)]
    with _iperf3("-s", "-1", "-i", "0", "--forceflush", *where) as process:
        _wait_until_it_listens(process)
        yield port


def _wait_until_it_listens(process: subprocess.Popen[bytes]) -> None:
    """By its own word: a connection to try it would be its one test."""
    assert process.stdout
    said, until = b"", time.monotonic() + GRACE
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while b"Server listening" not in said:
            if not selector.select(max(0.0, until - time.monotonic())):
                raise OSError(f"iperf3 does not listen after {GRACE:g} s")
            said += (words := os.read(process.stdout.fileno(), 4096))
            if not words:
                raise OSError(f"iperf3 cannot serve: {said.decode(errors='replace').strip()}")


def _call_iperf3(address: str, port: int, flows: int, seconds: float, interface: str | None) -> dict[str, Any]:
    held = _held_words(interface)
    # It takes whole seconds only.
    limits = ["--connect-timeout", str(int(GRACE * 1000)), "-t", str(max(1, round(seconds)))]
    try:
        with _iperf3("-J", "-c", address, "-p", str(port), "-P", str(flows), *limits, *held) as process:
            told = process.communicate(timeout=seconds + 2 * GRACE)[0]
    except subprocess.TimeoutExpired:
        return {"failure": f"iperf3 did not end within {seconds + 2 * GRACE:g} s"}
    return {"interface": interface if held else None, **_told(told)}


def _told(text: bytes) -> dict[str, Any]:
    """The figures in iperf3's JSON (``iperf3 -J``, iperf 3.1 and later)."""
    try:
        report = json.loads(text)
        if "error" in report:
            return {"failure": f"iperf3 says: {report['error']}"}
        received, sent = report["end"]["sum_received"], report["end"]["sum_sent"]
        return {"bytes": received["bytes"], "seconds": received["seconds"], "retransmits": sent.get("retransmits")}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {"failure": "iperf3 gave no report that can be read"}
