"""One node's part in a test: ``python -m tests.peer.reach_node``, JSON lines in and out."""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import time
from typing import Any

import msgspec

from ncclcheck.model import Facts
from ncclcheck.node.interfaces import read
from ncclcheck.peer.calls import Call, Door, calls_of, doors_of, listening_addresses
from ncclcheck.peer.listen import listening
from ncclcheck.peer.reach import reach


def heard() -> dict[str, Any]:
    return json.loads(sys.stdin.readline())


def say(**words: object) -> None:
    print(json.dumps(msgspec.to_builtins(words)), flush=True)


def called(me: str, calls: tuple[Call, ...], key: str, known_port: str | None) -> None:
    begin = time.monotonic()
    cells = list(reach(me, calls, key))
    took = time.monotonic() - begin
    say(cells=cells, seconds=took, known_port=answers(known_port) if known_port else None)


def answers(address: str) -> bool:
    """Whether somebody listens there, at the port that PyTorch's rendezvous usually has."""
    try:
        socket.create_connection((address, 29500), timeout=1).close()
    except OSError:
        return False
    return True


def main() -> None:
    asked = heard()
    facts = Facts(asked["host"], read()[0])
    with (
        contextlib.closing(socket.create_server(("", 29500))),
        listening(facts.host, listening_addresses(facts), asked["key"]) as listeners,
    ):
        say(doors=doors_of(facts, listeners.ports), failed=listeners.failed)
        told = heard()
        calls = calls_of(facts, msgspec.convert(told["doors"], tuple[Door, ...]))
        if asked["near_only"]:
            calls = tuple(call for call in calls if call.interface in ("", call.target))
        called(facts.host, calls, asked["key"], told["known_port"])
        heard()
        say(unanswered=sorted(listeners.unanswered()))


if __name__ == "__main__":
    main()
