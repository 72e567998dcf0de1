"""A pairing as the screens know it: what happened so far between nodes. Pure, and light: the first paint needs it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ncclcheck.doctor.conclude import Conclusion
    from ncclcheck.doctor.steps import Ended, Knocking, MadeFix, NoWay, Planned, Turned
    from ncclcheck.model import Cell, Facts, Handshake, SpeedTest
    from ncclcheck.peer.invitation import Invitation


class Way(Enum):
    """How nodes come together."""

    BETWEEN = "between"
    """We can run commands on all of them."""
    INVITE = "invite"
    """This machine waits for another one."""
    JOIN = "join"
    """Another one waits for this machine."""
    CARDS = "cards"
    """There is no connection; cards were pasted."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Everything that is known of one pairing."""

    way: Way
    invitation: Invitation | None = None
    deaf: tuple[tuple[str, str], ...] = ()
    """Own addresses at which nobody can join, with the reason."""
    turned: tuple[Turned, ...] = ()
    knocked: tuple[Knocking, ...] = ()
    no_way: NoWay | None = None
    guests: tuple[Facts, ...] = ()
    """The nodes that take part, without our own."""
    cells: tuple[Cell, ...] = ()
    known: Conclusion | None = None
    before: Handshake | None = None
    """The first one with the settings as they are."""
    proposed: Handshake | None = None
    after: Handshake | None = None
    """The latest one with the settings as they are, where it is not the first."""
    planned: Planned | None = None
    answer: bool | None = None
    """What our own user said to the plan."""
    made: tuple[MadeFix, ...] = ()
    test: SpeedTest | None = None
    """That the nodes ran as a part of the pairing."""
    ended: Ended | None = None

    @property
    def latest(self) -> Handshake | None:
        """NCCL's handshake with the settings as they are now."""
        return self.after or self.before
