"""Those who take part in a pairing, as their host sees them: asked all at once, heard as they answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from ncclcheck.errors import PeerError
from ncclcheck.model import Facts
from ncclcheck.peer import messages
from ncclcheck.peer.channel import Channel
from ncclcheck.peer.together import together

ANSWER = 30.0
"""Seconds for an answer that takes no person."""
PERSON = 600.0
"""Seconds for one that does."""

M = TypeVar("M", bound=messages.Message)


@dataclass(frozen=True, slots=True)
class Member:
    """A guest."""

    facts: Facts
    channel: Channel
    met: str
    """The host's address that he called."""

    def answer(self, kind: type[M], limit: float = ANSWER) -> M:
        """His next message, which must be of this kind."""
        said = self.channel.receive(limit)
        if not isinstance(said, kind):
            raise PeerError(
                f"{type(said).__name__} came where {kind.__name__} was due",
                place=self.facts.host,
                next_step="Use the same version of ncclcheck on both nodes.",
            )
        return said

    def until(self, last: type[M], limit: float = ANSWER) -> Iterator[messages.Any]:
        """His messages up to the first of this kind, which is given too."""
        while True:
            said = self.channel.receive(limit)
            yield said
            if isinstance(said, last):
                return


@dataclass(frozen=True, slots=True)
class Company:
    """All guests."""

    members: tuple[Member, ...]

    def tell(self, message: messages.Message, *, but: str = "") -> None:
        """Send it to all, or to all but one."""
        for member in self.members:
            if member.facts.host != but:
                member.channel.send(message)

    def ask(self, message: messages.Message, kind: type[M], limit: float = ANSWER) -> Iterator[tuple[Member, M]]:
        """Send it to all, and give each one's answer as it comes."""
        self.tell(message)
        yield from together([partial(_one, member, kind, limit) for member in self.members])

    def close(self) -> None:
        """Hang up."""
        for member in self.members:
            member.channel.close()


def _one(member: Member, kind: type[M], limit: float) -> Iterator[tuple[Member, M]]:
    yield member, member.answer(kind, limit)
