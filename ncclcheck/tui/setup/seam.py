"""What the place of the setup may ask of the core; a part of ``seam``, so that tests bring a fake of the same shape."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from ncclcheck.doctor.setup.begin import SetupOptions
    from ncclcheck.doctor.setup.offer import Offered
    from ncclcheck.doctor.setup.person import Person
    from ncclcheck.doctor.setup.state import Setup
    from ncclcheck.doctor.setup.steps import SetupStep
    from ncclcheck.doctor.steps import Step
    from ncclcheck.model import Applied

Way: TypeAlias = "Generator[SetupStep | Step, None, None]"
"""What happens in a setup, in order; whoever stops looking closes it."""


@dataclass(frozen=True, slots=True)
class SetupCases:
    """The use case of the setup, with what stands round it."""

    offered: Callable[[], Offered]
    go: Callable[[SetupOptions, Person], Way]
    undo: Callable[[], tuple[Applied, ...]]
    """Take back what the last setup here has written."""
    keep: Callable[[Setup], str]
    """Write its summary down, and say where; NcclcheckError where that is not possible."""
    page: Callable[[str], str]
    """A rule as a page."""
    terms: Callable[[], Mapping[str, str]]
    """What the common guide explains."""
