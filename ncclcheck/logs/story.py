"""One process's part of the job, folded event by event.

Owns the stage: which line proves that NCCL came how far depends on the version, so it is worked out at the end.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from ncclcheck.logs.attempts import Attempts, ConnectLines
from ncclcheck.logs.versions import INIT_START_BEFORE_BOOTSTRAP, at_least
from ncclcheck.model import Attempt, Endpoint, Event, Process, Rank, Stage, Where

_INTEGER = re.compile(r"-?\d+\.\s*$")
_STAGES = {
    "bootstrap.interface": Stage.INTERFACE,
    "net.interface": Stage.INTERFACE,
    "socket.interface": Stage.BOOTSTRAP,
    "rdma.devices": Stage.BOOTSTRAP,
    "network": Stage.BOOTSTRAP,
    "bootstrap.done": Stage.RING,
    "topology": Stage.TOPOLOGY,
    "channel": Stage.CHANNELS,
    "connected": Stage.CONNECTED,
    "collective.finished": Stage.COLLECTIVE,
    "tests.row": Stage.COLLECTIVE,
    "destroyed": Stage.DESTROYED,
}
_STARTS = frozenset({"bootstrap.interface", "net.interface", "version", "setting"})
_CONNECTS = frozenset({"connect.retry", "connect.failed", "gloo.refused", "store.timeout", "store.connect-failed"})
_MOST_OF_A_KIND = 200
"""Events of one kind kept for one process; a retry loop of a day adds nothing after that."""
_LARGEST_WORLD = 1_000_000
"""Ranks; a larger number is a garbled line."""


class Story:
    """What one process has told so far."""

    def __init__(self, process: Process, event: Event) -> None:
        self.process = process
        self.hint: int | None = event.rank
        self.from_start = event.kind in _STARTS
        self.nccl: str | None = None
        self.last: Where = event.where
        self._communicators: dict[str, tuple[int, dict[int, None]]] = {}
        self._bootstrap: Endpoint | None = None
        self._sockets: dict[str, Endpoint] = {}
        self._network: str | None = None
        self._settings: dict[str, str] = {}
        self._device: str | None = None
        self._reached: set[Stage] = set()
        self._state_seen: set[str] = set()
        self._root: bool | None = None
        self._attempts = Attempts(process)
        self._events: list[Event] = []
        self._kinds: Counter[str] = Counter()

    def take(self, event: Event) -> None:
        """Fold one event."""
        self.last = event.where
        if self.hint is None:
            self.hint = event.rank
        self._kinds[event.kind] += 1
        if self._kinds[event.kind] <= _MOST_OF_A_KIND:
            self._events.append(event)
        if event.kind in _STAGES:
            self._reached.add(_STAGES[event.kind])
        if event.kind in _CONNECTS:
            self._attempts.take(event, self.stage)
        elif event.kind == "trace":
            self._attempts.trace(event, self.stage)
        else:
            self._attempts.other(event)
        if handler := _HANDLERS.get(event.kind):
            handler(self, event)

    @property
    def stage(self) -> Stage:
        """How far it came, by what its version's lines prove."""
        reached = max(self._reached, default=Stage.SILENT)
        if "START" in self._state_seen:
            early = at_least(self.nccl, INIT_START_BEFORE_BOOTSTRAP)
            reached = max(reached, Stage.RING if early is False else Stage.BOOTSTRAP)
        if "COMPLETE" in self._state_seen:
            reached = max(reached, Stage.COMPLETE)
        return reached

    def rank(self, nccl: str | None) -> Rank:
        """What is known of it, frozen; ``nccl`` is the job's version where this process printed none."""
        world, numbers = self._world()
        return Rank(
            process=self.process,
            host=self.process.host,
            numbers=numbers,
            world_size=world,
            nccl=self.nccl or nccl,
            stage=self.stage,
            bootstrap=self._bootstrap,
            sockets=tuple(self._sockets.values()),
            network=self._network,
            settings=tuple(self._settings.items()),
            device=self._device,
            events=tuple(self._events),
            last=self.last,
            root=self._root,
        )

    def attempts(self, nccl: str | None, table: Sequence[ConnectLines]) -> tuple[Attempt, ...]:
        """Its failed connects."""
        return self._attempts.frozen(self.nccl or nccl, table, self.stage)

    def _world(self) -> tuple[int | None, tuple[int, ...]]:
        """Size and own ranks of the largest communicator: groups of a few ranks come after the world's."""
        if not self._communicators:
            return None, () if self.hint is None else (self.hint,)
        size, numbers = max(self._communicators.values(), key=lambda communicator: communicator[0])
        return size, tuple(numbers)

    def _take_bootstrap(self, event: Event) -> None:
        if self._root is None:
            self._root = True
        self._bootstrap = Endpoint(event.get("interface"), event.get("address"))

    def _take_driver(self, event: Event) -> None:
        if self._root is None:
            self._root = False

    def _take_shell(self, event: Event) -> None:
        if not event.get("level"):  # In NCCL's own lines it is advice, not a command.
            self._settings.setdefault(event.get("name"), event.get("value"))

    def _take_socket(self, event: Event) -> None:
        self._sockets[event.get("interface")] = Endpoint(event.get("interface"), event.get("address"))

    def _take_old_interface(self, event: Event) -> None:
        # Up to 2.3 bootstrap and data interfaces share one wording; the first line is the bootstrap's.
        if self._bootstrap is None:
            self._take_bootstrap(event)
        self._take_socket(event)

    def _take_network(self, event: Event) -> None:
        self._network = event.get("network")

    def _take_version(self, event: Event) -> None:
        self.nccl = self.nccl or event.get("version")

    def _take_setting(self, event: Event) -> None:
        value = event.get("value")
        self._settings[event.get("name")] = value.rstrip().rstrip(".") if _INTEGER.fullmatch(value) else value

    def _take_communicator(self, event: Event) -> None:
        size, number = event.number("world_size"), event.number("number")
        if size is None or number is None or not number < size <= _LARGEST_WORLD:
            return
        _, numbers = self._communicators.setdefault(event.get("id") or str(size), (size, {}))
        numbers[number] = None
        self._device = self._device or event.get("device") or None
        self._state_seen.add(event.get("state"))
        self._reached.add(Stage.BOOTSTRAP)


_HANDLERS: dict[str, Callable[[Story, Event], None]] = {
    "bootstrap.interface": Story._take_bootstrap,
    "socket.interface": Story._take_socket,
    "net.interface": Story._take_old_interface,
    "network": Story._take_network,
    "version": Story._take_version,
    "setting": Story._take_setting,
    "communicator": Story._take_communicator,
    "cuda.driver": Story._take_driver,
    "shell.setting": Story._take_shell,
}
