"""What the screens may ask of the core: one small frozen value, so that tests bring a fake of the same shape.

The real use cases are imported at their first call: the first paint waits for none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ncclcheck.model import Applied, Diagnosis, Edit, Facts, Fix, Handshake, Judgement, Node, Probe, SpeedTest
from ncclcheck.speedtest.plan import Side
from ncclcheck.speedtest.reports import Progress

if TYPE_CHECKING:
    from ncclcheck.doctor.conclude import Conclusion
    from ncclcheck.doctor.part import Agree
    from ncclcheck.doctor.speed import Judged
    from ncclcheck.doctor.steps import Step
    from ncclcheck.speedtest.history import Run


@dataclass(frozen=True, slots=True)
class Meeting:
    """A speed test between two nodes that we both can run commands on."""

    nodes: tuple[Node, Node]
    address: str
    """Where rank 0 waits for rank 1."""
    port: int
    size: int
    """Bytes."""
    interfaces: tuple[str, str]


Ticks = Iterator[Progress | SpeedTest]
"""Where the test stands, and the result as the last value."""

Kept: TypeAlias = "Iterator[Progress | Judged]"
"""The same of a test that is written down as it goes, with what its result means."""

Steps: TypeAlias = "Generator[Step, None, None]"
"""What happens between nodes; whoever stops looking closes it."""

Stopped: TypeAlias = Callable[[], bool]
"""Whether the person at the keys wants it ended; asked several times a second."""


@dataclass(frozen=True, slots=True)
class UseCases:
    """The doctor's use cases, as the screens call them."""

    scan: Callable[[Node], Facts]
    probe: Callable[[Node], Probe]
    read: Callable[[Sequence[str]], tuple[tuple[str, tuple[tuple[int, str], ...]], ...]]
    """Sources by name, each with its numbered lines."""
    diagnose: Callable[[Sequence[str], tuple[Facts, ...]], Diagnosis]
    diagnose_text: Callable[[str, tuple[Facts, ...]], Diagnosis]
    diagnose_probes: Callable[[Sequence[Probe], tuple[Facts, ...]], Diagnosis]
    preview: Callable[[Fix, Node], tuple[Edit, ...]]
    apply: Callable[[tuple[Edit, ...], Node], tuple[Applied, ...]]
    undo: Callable[[tuple[Applied, ...], Node], None]
    measure: Callable[[Meeting], Ticks]
    measure_here: Callable[[Side], Ticks]
    keep: Callable[[Ticks, Sequence[str], Facts, str], Kept]
    """By the test's command line, the node of rank 0 or of ours, and what the test is for."""
    judge: Callable[[SpeedTest, Facts], tuple[SpeedTest, Judgement]]
    """Of a test that others ran; the test comes back with what carried it."""
    history: Callable[[], tuple[Run, ...]]
    invite: Callable[[Agree, Stopped], Steps]
    join: Callable[[str, Agree], Steps]
    """By what the other node shows; PeerError where that is no invitation."""
    between: Callable[[Sequence[Node], Stopped], Steps]
    match_cards: Callable[[str, tuple[Facts, ...]], Conclusion]
    """The cards in a text; a single one is compared with our own nodes."""
    handshake: Callable[[Sequence[Node]], Handshake]
