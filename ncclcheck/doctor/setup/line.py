"""The line that a setup shows for the other nodes, read back. Pure; the other way round is ``Setup.invite``."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from ncclcheck.doctor.setup.begin import SetupOptions
from ncclcheck.doctor.setup.state import LAUNCHER, SIZE
from ncclcheck.errors import PeerError
from ncclcheck.peer import invitation
from ncclcheck.speedtest.worker.words import parse_size

_ONE_WORD = ("--nodes", "--launcher", "--script", "--size")
_JOIN = "--join"


def options(text: str) -> SetupOptions:
    """What a line says, be it of ``ncclcheck setup`` or of ``ncclcheck join``; PeerError where it is neither."""
    words = _words(text)
    if words[:2] == ["ncclcheck", "join"]:
        return SetupOptions(role=1, invitation=invitation.read(tuple(words)))
    if words[:2] != ["ncclcheck", "setup"]:
        raise _unreadable(f"it begins with {' '.join(words[:2])!r}")
    given = _given(words[2:])
    try:
        return SetupOptions(
            launcher=given.get("--launcher", LAUNCHER),
            role=1,
            nodes=_count(given.get("--nodes", "2")),
            script=given.get("--script", ""),
            invitation=invitation.read(tuple(given.get(_JOIN, "").split())),
            size=parse_size(given["--size"]) if "--size" in given else SIZE,
        )
    except ValueError as error:
        raise _unreadable(str(error)) from None


def _count(text: str) -> int:
    if not text.isdecimal() or not 2 <= int(text) <= 64:
        raise ValueError(f"{text!r} is no number of nodes from 2 to 64")
    return int(text)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise _unreadable(f"a quote is missing ({error})") from None


def _given(words: list[str]) -> Mapping[str, str]:
    """The words behind each option, in one text."""
    found: dict[str, list[str]] = {}
    for word in words:
        if word.startswith("--"):
            found[word] = []
        elif found:
            found[next(reversed(found))].append(word)
        else:
            raise _unreadable(f"{word!r} is too much")
    for name, values in found.items():
        if name not in (*_ONE_WORD, _JOIN):
            raise _unreadable(f"the option {name} is for a shell")
        if name in _ONE_WORD and len(values) != 1:
            raise _unreadable(f"{name} takes one word")
    return {name: " ".join(values) for name, values in found.items()}


def _unreadable(problem: str) -> PeerError:
    return PeerError(
        f"this is no line for another node: {problem}",
        place="setup",
        next_step="Copy the whole line that the first node shows: ncclcheck setup … --join PORT-TOKEN ADDRESS…",
    )
