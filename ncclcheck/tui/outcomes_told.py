"""What is told ahead of time: the steps that come, what a change would do, and in whose words a fix is told. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ncclcheck.doctor.foresight import Foresight
    from ncclcheck.tui.outcomes import Activity


@dataclass(frozen=True, slots=True)
class Ahead:
    """The steps that an activity will go through, in the words of its ``Doing``."""

    activity: Activity
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Foresaw:
    """What a change would do was worked out; nothing is changed."""

    foresight: Foresight


@dataclass(frozen=True, slots=True)
class Chose:
    """Somebody wants fixes told in the words of this launcher."""

    launcher: str
