"""How a journey on a worker's thread tells the app what happens."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

from textual.message import Message
from textual.worker import get_current_worker

from ncclcheck.errors import NcclcheckError
from ncclcheck.tui.journey import Journey
from ncclcheck.tui.outcomes import Activity, Ended, Failed, Outcome


class Happened(Message):
    """A worker reports an outcome."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__()
        self.outcome = outcome


def report(post: Callable[[Message], object], activity: Activity, outcomes: Journey) -> None:
    """Post each outcome of a journey, until the worker is cancelled; then the journey is closed, and with it all that
    it holds open.
    """
    worker = get_current_worker()
    try:
        with closing(outcomes):
            for outcome in outcomes:
                if worker.is_cancelled:
                    return
                post(Happened(outcome))
    except NcclcheckError as error:
        # Whoever stopped it need not be told that it could not go on.
        if not worker.is_cancelled:
            post(Happened(Failed(activity, str(error))))
    else:
        post(Happened(Ended(activity)))
