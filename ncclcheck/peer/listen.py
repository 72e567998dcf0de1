"""Listeners on a node's own addresses, as NCCL has them, that tell a caller who they are.

Strangers may call: they get no answer, and neither their number nor their patience does any harm.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ncclcheck.peer.calls import bare
from ncclcheck.peer.greeting import LONGEST, Answer, Hello, answer_line, hello_of
from ncclcheck.peer.sockets import Tally, family_of, read_bytes, read_line, socket_address
from ncclcheck.peer.synqueue import Lost, SynQueue

_BACKLOG = 256
_MOST_GUESTS = 400
"""Connections at a time; further ones wait in the kernel's queue."""
_HELLO_LIMIT = 2.0
_WHOLE_LIMIT = 10.0
"""Seconds that a caller may take to say who it is, and for all."""
_PAUSE = 0.1
"""Seconds between two looks at the kernel's queue."""


@dataclass(frozen=True, slots=True)
class Listeners:
    """What is open, until the block ends."""

    ports: tuple[tuple[str, int], ...]
    """Address and port."""
    failed: tuple[tuple[str, str], ...]
    """Addresses where no listening is possible, and why."""
    queue: SynQueue

    def unanswered(self) -> frozenset[Lost]:
        """The calls that this kernel saw and that never came about, so far: its answer got lost."""
        return self.queue.unanswered()


@contextmanager
def listening(host: str, addresses: tuple[str, ...], key: str) -> Iterator[Listeners]:
    """A listener for each of the node's own addresses, on a port that the kernel chooses, as NCCL's are."""
    with contextlib.ExitStack() as stack:
        opened, failed = [], []
        for address in addresses:
            try:
                opened.append((address, stack.enter_context(_opened(address))))
            except OSError as error:
                failed.append((address, error.strerror or str(error)))
        ports = tuple((address, int(door.getsockname()[1])) for address, door in opened)
        queue = SynQueue(frozenset(port for _, port in ports))
        service = _Service(host, key, queue)
        stack.enter_context(_served(service, tuple(door for _, door in opened)))
        yield Listeners(ports, tuple(failed), queue)


def _opened(address: str) -> socket.socket:
    door = socket.socket(family_of(address), socket.SOCK_STREAM)
    try:
        door.setblocking(False)
        door.bind(socket_address(address, 0))
        door.listen(_BACKLOG)
    except BaseException:
        door.close()
        raise
    return door


@contextmanager
def _served(service: _Service, doors: tuple[socket.socket, ...]) -> Iterator[None]:
    loop = asyncio.new_event_loop()
    serving = loop.create_task(service.serve(doors))
    thread = threading.Thread(target=_run, args=(loop, serving), name="listeners")
    thread.start()
    try:
        yield
    finally:
        loop.call_soon_threadsafe(serving.cancel)
        thread.join()
        loop.close()


def _run(loop: asyncio.AbstractEventLoop, serving: asyncio.Task[None]) -> None:
    with contextlib.suppress(asyncio.CancelledError):
        loop.run_until_complete(serving)
    loop.run_until_complete(loop.shutdown_default_executor())


class _Service:
    """Answers callers; lives on the listeners' thread."""

    def __init__(self, host: str, key: str, queue: SynQueue) -> None:
        self._host = host
        self._key = key
        self._queue = queue
        self._guests: set[asyncio.Task[None]] = set()

    async def serve(self, doors: tuple[socket.socket, ...]) -> None:
        """Accept at all doors, and watch the kernel's queue, until cancelled."""
        loop = asyncio.get_running_loop()
        for door in doors:
            loop.add_reader(door, self._knock, loop, door)
        try:
            await self._watch()
        finally:
            for door in doors:
                loop.remove_reader(door)
            for guest in self._guests:
                guest.cancel()
            await asyncio.gather(*self._guests, return_exceptions=True)

    async def _watch(self) -> None:
        while True:
            begin = time.monotonic()
            await asyncio.to_thread(self._queue.sample)
            # On a machine with very many connections a look takes long: then look less often.
            await asyncio.sleep(max(_PAUSE, 5 * (time.monotonic() - begin)))

    def _knock(self, loop: asyncio.AbstractEventLoop, door: socket.socket) -> None:
        try:
            guest, place = self._admitted(door)
        except OSError:
            # No room, no free file, or the caller is gone again: whoever waits does so in the kernel's queue.
            loop.remove_reader(door)
            loop.call_later(_PAUSE, self._open_again, loop, door)
            return
        self._queue.complete(bare(place[0]), place[1])
        task = loop.create_task(self._receive(guest, place[0]))
        self._guests.add(task)
        task.add_done_callback(self._guests.discard)
        # A task that is cancelled before it began closes nothing.
        task.add_done_callback(lambda _: guest.close())

    def _admitted(self, door: socket.socket) -> tuple[socket.socket, tuple[str, int]]:
        if len(self._guests) >= _MOST_GUESTS:
            raise BlockingIOError
        guest, place = door.accept()
        guest.setblocking(False)
        return guest, (str(place[0]), int(place[1]))

    def _open_again(self, loop: asyncio.AbstractEventLoop, door: socket.socket) -> None:
        if door.fileno() >= 0:
            loop.add_reader(door, self._knock, loop, door)

    async def _receive(self, guest: socket.socket, source: str) -> None:
        with guest, contextlib.suppress(OSError, asyncio.TimeoutError):
            line = await asyncio.wait_for(read_line(guest, LONGEST), _HELLO_LIMIT)
            if hello := hello_of(line, self._key):
                await asyncio.wait_for(self._talk(guest, hello, source), _WHOLE_LIMIT)

    async def _talk(self, guest: socket.socket, hello: Hello, source: str) -> None:
        """Answer; then take as many bytes as announced, confirm, and send as many."""
        loop = asyncio.get_running_loop()
        answer = Answer(self._host, bare(source))
        await loop.sock_sendall(guest, answer_line(answer, hello, self._key))
        if await read_bytes(guest, hello.size, Tally()):
            await loop.sock_sendall(guest, b"+")
            await loop.sock_sendall(guest, bytes(hello.size))
            # Until the caller is gone: closing first would leave its port waiting here.
            await loop.sock_recv(guest, 1)
