"""What the screens may ask of the core: one small frozen value, so that tests bring a fake of the same shape.

The real use cases are imported at their first call: the first paint waits for none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ncclcheck.logs.sources import Source
from ncclcheck.model import (
    Applied,
    Change,
    Diagnosis,
    Edit,
    Facts,
    Fix,
    Handshake,
    Judgement,
    Node,
    Probe,
    SpeedTest,
    Where,
)
from ncclcheck.speedtest.plan import Side
from ncclcheck.speedtest.reports import Progress
from ncclcheck.tui.setup.seam import SetupCases

if TYPE_CHECKING:
    from ncclcheck.doctor.conclude import Conclusion
    from ncclcheck.doctor.foresight import Foresight, Present
    from ncclcheck.doctor.history import Made
    from ncclcheck.doctor.part import Agree
    from ncclcheck.doctor.speed import Judged
    from ncclcheck.doctor.steps import Step
    from ncclcheck.rulebook.own import OwnRule
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


class Examiner(Protocol):
    """Diagnoses a text that may go on: ``doctor.examine``."""

    def read(self, lines: Iterable[tuple[Where, str]]) -> Iterator[int]:
        """Take a source from its beginning to its present end; tells the number of lines now and then."""

    def take(self, lines: Iterable[tuple[Where, str]]) -> None:
        """Take what it went on with."""

    def diagnosis(self, size: int) -> Diagnosis:
        """What is wrong by what was taken, which has so many bytes."""


@dataclass(frozen=True, slots=True)
class UseCases:
    """The doctor's use cases, as the screens call them."""

    scan: Callable[[Node], Facts]
    probe: Callable[[Node], Probe]
    read: Callable[[Sequence[str]], tuple[Source, ...]]
    """The files behind the names, each to be read line by line."""
    examine: Callable[[tuple[Facts, ...]], Examiner]
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
    changes: Callable[[Sequence[tuple[Node, tuple[Applied, ...]]]], tuple[Made, ...]]
    """Those that are kept here, and those of this session elsewhere, the newest first."""
    invite: Callable[[Agree, Stopped], Steps]
    join: Callable[[str, Agree], Steps]
    """By what the other node shows; PeerError where that is no invitation."""
    between: Callable[[Sequence[Node], Stopped], Steps]
    match_cards: Callable[[str, tuple[Facts, ...]], Conclusion]
    """The cards in a text; a single one is compared with our own nodes."""
    handshake: Callable[[Sequence[Node]], Handshake]
    setup: SetupCases
    keep_rule: Callable[[OwnRule], Path]
    """Written among the user's rules; RuleError where it does not pass the check of rules."""
    foresee: Callable[[tuple[Facts, ...], Change, str, Present], Foresight]
    """What a change would do, with this NCCL version."""
