"""What names lead to on this machine: its own, the master's, and the name of an address.

The system's resolver is asked, as Gloo and PyTorch do; a DNS server that does not answer holds nobody up.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ncclcheck.model import NameLookup, Unknown
from ncclcheck.node.later import Later

LIMIT = 1.0
"""Seconds that an answer may take."""


@dataclass(frozen=True, slots=True)
class Resolver:
    """The two questions, which raise OSError where there is no answer."""

    addresses: Callable[[str], tuple[str, ...]]
    names: Callable[[str], tuple[str, ...]]


def _addresses(name: str) -> tuple[str, ...]:
    found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


def _names(address: str) -> tuple[str, ...]:
    return (socket.getnameinfo((address, 0), socket.NI_NAMEREQD)[0],)


SYSTEM = Resolver(_addresses, _names)


@dataclass(frozen=True, slots=True)
class Question:
    """A name or address, and why it is looked up."""

    name: str
    role: str
    answer: Later[tuple[str, ...] | None]


def ask(host: str, env: Mapping[str, str], resolver: Resolver = SYSTEM) -> tuple[Question, ...]:
    """Begin to look up this host's own name and MASTER_ADDR."""
    names = [(host, "own name")] + [(env[name], name) for name in ("MASTER_ADDR",) if env.get(name)]
    return tuple(_question(name, role, resolver.addresses) for name, role in names)


def ask_back(address: str, resolver: Resolver = SYSTEM) -> Question:
    """Begin to look up the name of an address."""
    return _question(address, "reverse", resolver.names)


def _question(name: str, role: str, call: Callable[[str], tuple[str, ...]]) -> Question:
    def answer() -> tuple[str, ...]:
        try:
            return call(name)
        except (OSError, UnicodeError):
            return ()

    return Question(name, role, Later(answer))


def answers(questions: tuple[Question, ...]) -> tuple[tuple[NameLookup, ...], tuple[Unknown, ...]]:
    """What came within the limit, and what did not."""
    found: list[NameLookup] = []
    late: list[Unknown] = []
    for question in questions:
        answer = question.answer.within(LIMIT)
        if answer is None:
            late.append(Unknown(f"what {question.name} leads to ({question.role})", f"no answer within {LIMIT:g} s"))
        else:
            found.append(NameLookup(question.name, question.role, answer))
    return tuple(found), tuple(late)
