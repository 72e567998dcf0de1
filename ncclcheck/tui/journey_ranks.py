"""The way from an answer to the ranks it is about. Runs on a worker thread, for a job may have thousands of them."""

from __future__ import annotations

from ncclcheck.tui.journey import Outcomes
from ncclcheck.tui.outcomes import Called
from ncclcheck.tui.state import Snapshot


def call_roll(now: Snapshot) -> Outcomes:
    """How far each rank of the diagnosed job came, and whom it waits for."""
    from ncclcheck.doctor.ranks import roll_of
    from ncclcheck.tui import ranks

    if now.diagnosis is not None:
        roll = roll_of(now.diagnosis, now.document.text_at)
        ranks.prepare(roll)
        yield Called(roll)
