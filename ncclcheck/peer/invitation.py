"""What one node tells the other so that it can join: where to call, and a token that proves it was told. Pure.

``41235-7KQ2…`` and addresses behind it: letters, digits, dots, colons and hyphens only, so that no shell, chat program
or terminal changes a character of it.
"""

from __future__ import annotations

import base64
import ipaddress
import re
import secrets
from dataclasses import dataclass

from ncclcheck.errors import PeerError

TOKEN_BYTES = 10
"""80 bits, used once and gone after minutes; 16 characters that a person can type."""
_LONGEST = 4096
"""Characters; a node with hundreds of addresses shows fewer."""
_HEAD = re.compile(r"([0-9]{1,5})-([A-Z2-7]{16})")


@dataclass(frozen=True, slots=True)
class Invitation:
    """Where somebody waits, and the token that both sides know."""

    port: int
    token: str
    addresses: tuple[str, ...]
    """Candidates; IPv6 link-local ones without a zone, which the caller has to add."""

    @property
    def command(self) -> str:
        """What to type on the other node."""
        return f"ncclcheck join {self.port}-{self.token} {' '.join(self.addresses)}"


def new_token() -> str:
    """A token that nobody can guess."""
    return base64.b32encode(secrets.token_bytes(TOKEN_BYTES)).decode()


def looks_like(text: str) -> bool:
    """Whether a text is what another node shows to be joined, whole or not; a log that quotes it is none."""
    words = text.split()[:3] if len(text) <= _LONGEST else []
    return words[:2] == ["ncclcheck", "join"] and len(words) == 3


def read(words: tuple[str, ...]) -> Invitation:
    """The invitation in the words of a command line, also with ``ncclcheck join`` in front; PeerError for others."""
    kept = [word for word in " ".join(words).split() if word not in ("ncclcheck", "join")]
    head = _HEAD.fullmatch(kept[0].upper()) if kept else None
    if head is None or not 0 < int(head[1]) < 65536:
        raise _unreadable(f"{kept[0]!r} is no PORT-TOKEN" if kept else "nothing was given")
    addresses = tuple(dict.fromkeys(_address(word) for word in kept[1:]))
    if not addresses:
        raise _unreadable("it names no address")
    return Invitation(int(head[1]), head[2], addresses)


def _address(word: str) -> str:
    try:
        return str(ipaddress.ip_address(word.strip("[],")))
    except ValueError:
        raise _unreadable(f"{word!r} is no address") from None


def _unreadable(problem: str) -> PeerError:
    return PeerError(
        f"this is no invitation: {problem}",
        place="join",
        next_step="Copy the whole line that ncclcheck pair shows on the other node: ncclcheck join PORT-TOKEN ADDRESS…",
    )
