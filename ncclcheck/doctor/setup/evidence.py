"""What a setup has seen by looking: nothing in it is taken on trust, and little of it outlives the run. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from ncclcheck.doctor.conclude import Conclusion
from ncclcheck.doctor.steps import Ended, FoundPort, MadeFix, NoWay
from ncclcheck.model import Facts, Handshake, SpeedTest, Use


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that checks are answered from."""

    role: int
    nodes: int
    """How many are to take part, as far as this node was told."""
    facts: Facts | None = None
    """Of this node, as it is now."""
    cuda: int | None = None
    """CUDA devices that the training's Python sees; ``None`` where it could not be asked."""
    conf_path: str = ""
    """The nccl.conf that settings are written to here."""
    running: bool = False
    """Nodes are being joined, or have joined and not ended."""
    guests: tuple[Facts, ...] = ()
    """The other nodes."""
    no_way: NoWay | None = None
    missed: str = ""
    """Why nobody is there; empty while somebody may still come."""
    known: Conclusion | None = None
    port: FoundPort | None = None
    shook: Handshake | None = None
    """The latest one with the settings as they are."""
    made: tuple[MadeFix, ...] = ()
    test: SpeedTest | None = None
    earlier: SpeedTest | None = None
    """The one before everything was looked at again."""
    before: tuple[Use, ...] = ()
    """The interfaces that it went over."""
    ddp: SpeedTest | None = None
    ended: Ended | None = None

    @property
    def use(self) -> tuple[Use, ...]:
        """The interfaces to use, the first node's first; none where none fit together, or nobody knows yet."""
        if self.known is None:
            return ()
        ranks = {node.host: rank for rank, node in enumerate(self.known.nodes)}
        return tuple(sorted(self.known.sides.match.use, key=lambda one: ranks[one.host]))

    @property
    def reached(self) -> bool:
        """Whether the nodes reach each other over these interfaces, in every direction."""
        return bool(self.use) and self.known is not None and self.known.sides.match.proved

    @property
    def own_name(self) -> str:
        """The name by which this node goes among the others."""
        if self.known is None:
            return self.facts.host if self.facts else ""
        if self.role == 0:
            return self.known.nodes[0].host
        others = {guest.host for guest in self.guests}
        return next((node.host for node in self.known.nodes if node.host not in others), "")

    @property
    def mended(self) -> bool:
        """Every node has made its fix, or had none to make."""
        return self.known is not None and len(self.made) >= len(self.known.nodes) and all(m.applied for m in self.made)

    @property
    def refused(self) -> MadeFix | None:
        """A fix that was not made."""
        return next((one for one in self.made if not one.applied), None)
