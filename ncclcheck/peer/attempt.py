"""One connection: called, greeted, and what that tells."""

from __future__ import annotations

import asyncio
import secrets
import socket
import time
from dataclasses import dataclass

from ncclcheck.model import Outcome
from ncclcheck.peer.calls import Call, bare
from ncclcheck.peer.greeting import LONGEST, Answer, Hello, answer_of, hello_line
from ncclcheck.peer.icmp import Failure, Verdict, judged, no_neighbour
from ncclcheck.peer.sockets import is_own, read_line, tcp_state
from ncclcheck.printable import printable

_WAITED = 2
"""Repetitions left out, each a second apart or more: a neighbour that is there answers within milliseconds."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls."""

    host: str
    key: str
    addresses: tuple[tuple[str, str], ...]
    """Its own, with the interface that has each."""


async def greeted(one: socket.socket, caller: Caller, call: Call, size: int, until: float) -> Answer | Verdict:
    """Who answered, or why nobody of us did; afterwards the callee waits for ``size`` bytes."""
    hello = Hello(caller.host, call.callee, secrets.token_hex(16), size)
    loop = asyncio.get_running_loop()
    try:
        await loop.sock_sendall(one, hello_line(hello, caller.key))
        line = await asyncio.wait_for(read_line(one, LONGEST), max(0.0, until - time.monotonic()))
    except asyncio.TimeoutError:
        return Verdict(Outcome.DROPPED, "the connection came about, and then nothing more came through")
    except OSError as error:
        return Verdict(Outcome.STRANGER, f"whoever accepted the call broke it off ({error.strerror})")
    if not line:
        return Verdict(Outcome.STRANGER, f"whoever accepted the call is not {call.callee}: it closed without an answer")
    answer = answer_of(line, hello, caller.key)
    return answer or Verdict(Outcome.STRANGER, f"whoever answered does not know this session: not {call.callee}")


def failed(one: socket.socket, call: Call, failure: Failure) -> Verdict:
    """Why a call did not come about; looks at the socket that made it, while it is still open."""
    verdict = judged(call, failure)
    if verdict.outcome is Outcome.REFUSED and is_own(call.address):
        return itself(call)
    return _silence(one, call, verdict) if verdict.outcome is Outcome.DROPPED else verdict


def _silence(one: socket.socket, call: Call, verdict: Verdict) -> Verdict:
    """Whether the call left this machine at all: of its repetitions the kernel counts only those that did."""
    state = tcp_state(one)
    if not (state.calling and state.timeouts):
        return verdict
    # Nothing is repeated as long as the first packet waits for the neighbour's hardware address. At the end of that
    # the kernel sends itself an ICMP message, which is lost now and then under load (Linux 6.18): then one is repeated.
    waited = state.timeouts - state.repeated
    if waited >= _WAITED or not state.repeated:
        return no_neighbour(call)
    if state.underway:
        return verdict
    why = "this node's own kernel lets no packet out, as an output rule of its firewall does"
    return Verdict(Outcome.FORBIDDEN, why)


def itself(call: Call) -> Verdict:
    """The caller has the address that it should call."""
    return Verdict(Outcome.STRANGER, f"this node itself has {bare(call.address)}, so it never reaches {call.callee}")


def recognized(caller: Caller, call: Call, answer: Answer, local: str | None) -> Verdict:
    """Whether it is the callee, and saw us as we are."""
    if answer.host != call.callee:
        who = "this node itself" if answer.host == caller.host else printable(answer.host)
        return Verdict(Outcome.STRANGER, f"{who} answered, which has the same address as {call.callee}")
    if answer.source == local:
        return Verdict(Outcome.OK)
    saw = f"{call.callee} saw {printable(answer.source)} instead of {local}"
    interface = dict(caller.addresses).get(answer.source)
    why = f"the address of this node's own {interface}" if interface else "something in between changes it (NAT)"
    return Verdict(Outcome.WRONG_SOURCE, f"{saw}: {why}")
