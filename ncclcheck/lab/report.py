"""What the lab's processes tell whoever builds it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Report:
    """A node stands, or something failed."""

    node: str = ""
    failure: str = ""
