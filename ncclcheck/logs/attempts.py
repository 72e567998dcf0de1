"""Connections that did not come about: retry and failure lines, added up by target.

The chain of return codes after a failure (``bootstrap.cc:257 -> 6``) tells which connection it was; the line numbers
belong to a version and are in ``rules/connects.toml``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ncclcheck.logs.versions import Version, version_of
from ncclcheck.model import Attempt, Event, Process, Stage, Where

RESULTS: Mapping[str, str] = {
    "Connection refused": "refused",
    "ECONNREFUSED": "refused",
    "retries": "refused",
    "Connection timed out": "timed-out",
    "timeouts": "timed-out",
    "No route to host": "no-route",
    "Network is unreachable": "unreachable",
    "Software caused connection abort": "aborted",
    "Invalid argument": "invalid",
    "Permission denied": "prohibited",
    "Operation not permitted": "not-permitted",
    "Cannot assign requested address": "no-local-port",
    "Connection reset by peer": "reset",
}
"""Texts of errno, and NCCL 2.16 to 2.23's own words for refused and timed out too often."""

_FUNCTIONS = {
    "rootSend": "callback",
    "bootstrapRoot": "callback",
    "sendToRoot": "root",
    "socketRingConnect": "ring",
    "netRingConnect": "ring",
}
_FILES = {"transport/net_socket.cc": "data", "transport/net_ib.cc": "data", "transport/net.cc": "data"}
_LINKS = {"gloo.refused": "gloo", "store.timeout": "store", "store.connect-failed": "store"}
_MOST_EVIDENCE = 6
_LONGEST_CHAIN = 30


@dataclass(frozen=True, slots=True)
class ConnectLines:
    """Line numbers in bootstrap.cc of the three connects, for a range of versions."""

    first: Version
    last: Version
    callback: int
    root: int
    ring: int

    def numbers(self) -> tuple[tuple[str, int], ...]:
        """Each kind of connect with its line."""
        return (("callback", self.callback), ("root", self.root), ("ring", self.ring))


@dataclass(slots=True)
class _Tally:
    address: str
    port: int | None
    link: str
    stage: Stage
    result: str = "other"
    count: int = 0
    limit: int | None = None
    gave_up: bool = False
    evidence: list[Where] = field(default_factory=list)
    chain: list[Event] = field(default_factory=list)


class Attempts:
    """The failed connects of one process."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._tallies: dict[tuple[str, int | None, str, int | None], _Tally] = {}
        self._unprinted: dict[int | None, _Tally] = {}
        self._open: dict[int | None, _Tally] = {}

    def take(self, event: Event, stage: Stage) -> None:
        """Count a retry or a failure."""
        address, port = event.get("address"), event.number("port") or None
        link = _LINKS.get(event.kind, "unknown")
        key = (address, port, link, event.thread)
        tally = self._tallies.get(key)
        if tally is None:
            tally = self._tallies[key] = _Tally(address, port, link, stage)
        tally.stage = stage
        tally.count = max(tally.count + 1, event.number("attempt") or event.number("attempts") or 0)
        tally.limit = event.number("limit") or tally.limit
        tally.result = "timed-out" if event.kind == "store.timeout" else RESULTS.get(event.get("error"), "other")
        tally.gave_up = tally.gave_up or event.kind in ("connect.failed", "gloo.refused", "store.timeout")
        if len(tally.evidence) < _MOST_EVIDENCE:
            tally.evidence.append(event.where)
        self._open[event.thread] = tally

    def trace(self, event: Event, stage: Stage) -> None:
        """Take a line of the chain of return codes: it belongs to the failure before it on this thread."""
        if event.thread not in self._open and event.get("file") == "misc/socket.cc":
            # Up to 2.19 an unreachable host leaves only the chain: no message at all.
            silent = _Tally("", None, "unknown", stage, result="unprinted", gave_up=True, evidence=[event.where])
            self._open[event.thread] = self._unprinted.setdefault(event.thread, silent)
        tally = self._open.get(event.thread)
        if tally is not None and tally.gave_up and len(tally.chain) < _LONGEST_CHAIN:
            tally.chain.append(event)

    def other(self, event: Event) -> None:
        """Any other line of the thread ends the chain."""
        self._open.pop(event.thread, None)

    def frozen(self, nccl: str | None, table: Sequence[ConnectLines], final: Stage) -> tuple[Attempt, ...]:
        """The attempts, each with the connection that it was for."""
        version = version_of(nccl)
        printed = tuple(self._attempt(tally, version, table, final) for tally in self._tallies.values())
        silent = tuple(self._attempt(tally, version, table, final) for tally in self._unprinted.values())
        return printed + tuple(attempt for attempt in silent if attempt.link in ("root", "callback", "ring"))

    def _attempt(self, tally: _Tally, version: Version | None, table: Sequence[ConnectLines], final: Stage) -> Attempt:
        link = tally.link if tally.link != "unknown" else _link(tally, version, table)
        return Attempt(
            process=self._process,
            address=tally.address,
            port=tally.port,
            result=tally.result,
            count=tally.count,
            gave_up=tally.gave_up,
            link=link,
            limit=tally.limit,
            recovered=not tally.gave_up and final > tally.stage,
            evidence=(*tally.evidence, *(event.where for event in tally.chain[:3])),
        )


def _link(tally: _Tally, version: Version | None, table: Sequence[ConnectLines]) -> str:
    for event in tally.chain:
        link = _FUNCTIONS.get(event.get("function")) or _FILES.get(event.get("file"))
        if not link and event.get("file") == "bootstrap.cc":
            link = _link_by_line(event.number("line"), version, table)
        if link:
            return link
    return "data" if tally.stage >= Stage.TOPOLOGY else "bootstrap"


def _link_by_line(line: int | None, version: Version | None, table: Sequence[ConnectLines]) -> str:
    rows = [row for row in table if version is None or row.first <= version <= row.last]
    found = {link for row in rows for link, number in row.numbers() if number == line}
    return found.pop() if len(found) == 1 else ""
