"""All that a judgement looks at. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from ncclcheck.model import Interface, RdmaDevice, Speed, SpeedTest, Transport
from ncclcheck.speedtest.ceiling import Ceiling, carries_tcp, gigabits, mss


@dataclass(frozen=True, slots=True)
class Case:
    """A test, and what is known of the machine that it ran on."""

    test: SpeedTest
    speed: Speed
    """By which it is judged."""
    transport: Transport
    used: tuple[Interface, ...]
    links: tuple[Interface, ...]
    rdma: tuple[RdmaDevice, ...]
    ceiling: Ceiling

    @property
    def measured(self) -> float:
        """GB/s of bus bandwidth."""
        return self.speed.busbw

    @property
    def share(self) -> float | None:
        """Of the ceiling."""
        return self.measured / self.ceiling.rate if self.ceiling.rate else None

    @property
    def baseline(self) -> float | None:
        """GB/s of plain TCP; ``None`` where it was not measured."""
        return self.test.baseline.rate if self.test.baseline else None

    @property
    def tcp(self) -> bool:
        """Whether plain TCP is what it may be compared with."""
        return carries_tcp(self.transport) and bool(self.transport.network or not active_ports(self.rdma))

    @property
    def backend(self) -> str:
        """Its name in a sentence."""
        return "gloo" if self.transport.network == "gloo" else "NCCL"

    @property
    def way(self) -> str:
        """What carried the data."""
        names = self.transport.devices or self.transport.interfaces
        return " and ".join(names) or self.transport.network or "a way that nobody named"

    @property
    def again(self) -> float:
        """The share of the baseline's segments that were sent again."""
        baseline = self.test.baseline
        if not baseline or not baseline.retransmits:
            return 0.0
        packet = mss(min((one.mtu for one in self.used if one.mtu), default=None))
        return baseline.retransmits / max(baseline.bytes / packet, baseline.retransmits)


def active_ports(rdma: tuple[RdmaDevice, ...]) -> dict[str, float]:
    """GB/s of each RDMA port that is up, by NCCL's name for it."""
    return {
        f"{one.name}:{port.number}": rate / 8
        for one in rdma
        for port in one.ports
        if port.state == "ACTIVE" and (rate := gigabits(port.rate))
    }
