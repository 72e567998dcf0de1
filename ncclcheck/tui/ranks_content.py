"""What the place of the ranks shows, as Content made of pieces: names and lines come from strangers."""

from __future__ import annotations

from collections.abc import Iterable

from textual.content import Content

from ncclcheck.doctor.ranks import Group
from ncclcheck.tui import ranks, ranks_details
from ncclcheck.tui.content import lines, piece, said
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.wording import Said


def counts(now: Snapshot) -> Content:
    """The line above the table."""
    return said(ranks.counts(now))


def details(group: Group, now: Snapshot) -> Content:
    """The row under the cursor in full."""
    return sentences(ranks_details.details(group, now))


def sentences(told: Iterable[Said]) -> Content:
    """Sentences under each other; some have no sign."""
    return lines(said(one) if one.sign else piece(one.text, one.tone) for one in told)
