"""What was measured, what it should have been, and what it proves."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Pattern(Enum):
    """Who sends to whom."""

    ONE_WAY = "one way"
    """Rank 1 to rank 0, and so for every further pair (sendrecv)."""
    BOTH_WAYS = "both ways"
    """The same pairs, in both directions at once."""
    ALL_GATHER = "all gather"
    ALL_REDUCE = "all reduce"


@dataclass(frozen=True, slots=True)
class Speed:
    """One pattern at one size."""

    pattern: Pattern
    size: int
    """Bytes as nccl-tests counts them: of a sender's message, of all ranks' together (all gather), of a rank's buffer
    (all reduce)."""
    seconds: tuple[float, ...]
    """Time of each round on the slowest rank."""
    verified: bool
    """Whether every received payload was what had been sent."""
    ranks: int = 2

    @property
    def median(self) -> float:
        """Seconds of the median round."""
        return self.quantile(0.5)

    def quantile(self, share: float) -> float:
        """Seconds that this share of the rounds took at most, between rounds by interpolation."""
        ordered = sorted(self.seconds)
        place = share * (len(ordered) - 1)
        below = int(place)
        above = min(below + 1, len(ordered) - 1)
        return ordered[below] + (ordered[above] - ordered[below]) * (place - below)

    @property
    def algbw(self) -> float:
        """Algorithm bandwidth of the median round, in GB/s of 1e9 bytes (nccl-tests 2.19.6, common.cu)."""
        return self.size / self.median / 1e9

    @property
    def busbw(self) -> float:
        """Bus bandwidth, which does not depend on the number of ranks (nccl-tests 2.19.6, PERFORMANCE.md)."""
        return self.algbw * self.factor

    @property
    def factor(self) -> float:
        """Of bus bandwidth to algorithm bandwidth."""
        share = (self.ranks - 1) / self.ranks
        return {Pattern.ALL_GATHER: share, Pattern.ALL_REDUCE: 2 * share}.get(self.pattern, 1.0)


@dataclass(frozen=True, slots=True)
class Baseline:
    """What plain TCP does over the same interfaces, without torch, NCCL or gloo."""

    tool: str
    """``iperf3`` or ``sockets``."""
    flows: int
    bytes: int = 0
    seconds: float = 0.0
    interface: str | None = None
    retransmits: int | None = None
    """Segments that were sent again; ``None`` where nobody counted."""
    failure: str = ""

    @property
    def rate(self) -> float | None:
        """GB/s of 1e9 bytes; ``None`` where it failed."""
        return self.bytes / self.seconds / 1e9 if self.seconds and not self.failure else None


@dataclass(frozen=True, slots=True)
class Transport:
    """What carried the bytes, by what NCCL or gloo said, never by a name."""

    network: str
    """``Socket``, ``IB``, a plugin's name, or ``gloo``; empty where nobody said it."""
    interfaces: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    """RDMA devices with port, ``mlx5_0:1/RoCE``."""
    gdr: bool | None = None
    """Whether network cards reach the GPU's memory directly; ``None`` where nothing is said of it."""
    threads: int | None = None
    sockets: int | None = None
    """Per thread."""
    within: bool = False
    """The data went through shared memory or between GPUs of one machine, over no network at all."""

    @property
    def flows(self) -> int:
        """Connections that share the data (NET/Socket; one where NCCL says nothing, gloo has one)."""
        return (self.threads or 1) * (self.sockets or 1)


@dataclass(frozen=True, slots=True)
class DdpProof:
    """A small model was trained over DistributedDataParallel on all ranks."""

    ranks: int
    steps: int
    step_seconds: float
    """Of the median step, on the slowest rank."""
    share: float
    """Of a step that the exchange of gradients took, beyond what was hidden behind the computing: 0 to 1."""
    same: bool
    """Whether all ranks had the same parameters and gradients at the end, to the bit."""
    first_loss: float
    last_loss: float

    @property
    def learnt(self) -> bool:
        """The loss became less."""
        return self.last_loss < self.first_loss


@dataclass(frozen=True, slots=True)
class SpeedTest:
    """A run of the speed test, finished or not."""

    backend: str
    """``nccl`` or ``gloo``."""
    interface: str | None
    speeds: tuple[Speed, ...] = ()
    failure: str = ""
    """Why it did not finish; empty when it did."""
    log: tuple[str, ...] = ()
    """What the workers printed beside their figures."""
    ranks: int = 2
    baseline: Baseline | None = None
    transport: Transport | None = None
    stage: str = ""
    """What it was doing when it failed."""
    ddp: DdpProof | None = None

    @property
    def passed(self) -> bool:
        """It ran to its end, and every payload was right."""
        return not self.failure and bool(self.speeds or self.ddp) and not self.damaged

    @property
    def damaged(self) -> bool:
        """Some of what arrived is not what was sent."""
        return not all(speed.verified for speed in self.speeds) or (self.ddp is not None and not self.ddp.same)

    def best(self, pattern: Pattern) -> Speed | None:
        """The largest size of a pattern, which is what a link is judged by."""
        return max((one for one in self.speeds if one.pattern is pattern), key=lambda one: one.size, default=None)

    @property
    def latency(self) -> float | None:
        """Seconds of the median round at the smallest size one way, where that is at most 8 bytes."""
        small = [one for one in self.speeds if one.pattern is Pattern.ONE_WAY and one.size <= 8]
        return min(small, key=lambda one: one.size).median if small else None


class Rating(Enum):
    """What a figure means."""

    HEALTHY = "healthy"
    TUNE = "tune"
    """It works, and settings would give more."""
    SUSPICIOUS = "suspicious"
    """So far below the link that something is wrong."""
    UNKNOWN = "unknown"
    """Nobody knows what this link should do."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a speed should have been, and why it is not."""

    rating: Rating
    measured: float
    """GB/s of bus bandwidth."""
    expected: float | None
    """GB/s; ``None`` where nobody knows."""
    source: str
    """Where the expectation comes from: the link's speed, or the baseline."""
    reason: str
    next_step: str = ""
    """The one thing to try next."""

    @property
    def percent(self) -> float | None:
        """Of what was expected."""
        return 100 * self.measured / self.expected if self.expected else None


class Trend(Enum):
    """How one run compares with another."""

    BETTER = "better"
    SAME = "same"
    WORSE = "worse"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The same test before and after a fix."""

    before: SpeedTest
    after: SpeedTest

    @property
    def proved(self) -> bool:
        """It failed before and passes now."""
        return not self.before.passed and self.after.passed
