"""The steps of what goes on in the background: done, running, and left to do. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from ncclcheck.tui.outcomes import Activity, Doing, Ended, Failed, Noted, Stopped
from ncclcheck.tui.outcomes_told import Ahead


class Progress(Enum):
    """How far a step came."""

    LEFT = "left"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an activity, in words."""

    activity: Activity
    text: str
    note: str = ""
    """How it is going, while it goes on."""
    progress: Progress = Progress.RUNNING


Steps = tuple[Step, ...]

_ENDS = {Ended: Progress.DONE, Stopped: Progress.STOPPED, Failed: Progress.FAILED}


def followed(steps: Steps, outcome: Ahead | Doing | Noted | Ended | Stopped | Failed) -> Steps:
    """The steps after what happened in an activity."""
    activity = outcome.activity
    match outcome:
        case Ahead(_, texts):
            return (*steps, *(Step(activity, text, progress=Progress.LEFT) for text in texts))
        case Doing(_, text):
            return _onward(steps, activity, text)
        case Noted(_, note):
            return changed(steps, activity, note=note)
        case Ended() | Stopped() | Failed():
            return changed(steps, activity, progress=_ENDS[type(outcome)])


def _onward(steps: Steps, activity: Activity, text: str) -> Steps:
    """The step that was running is done, and the next one runs."""
    ended = changed(steps, activity, progress=Progress.DONE)
    next_one = Step(activity, text)
    at = next((at for at, step in enumerate(ended) if step == replace(next_one, progress=Progress.LEFT)), None)
    if at is not None:
        return (*ended[:at], next_one, *ended[at + 1 :])
    first_left = next((at for at, step in enumerate(ended) if _left(step, activity)), len(ended))
    return (*ended[:first_left], next_one, *ended[first_left:])


def changed(
    steps: Steps, activity: Activity, *, progress: Progress = Progress.RUNNING, note: str | None = None
) -> Steps:
    """The steps with another progress or note for the running one of an activity."""
    return tuple(
        replace(step, progress=progress, note=step.note if note is None else note)
        if step.activity is activity and step.progress is Progress.RUNNING
        else step
        for step in steps
    )


def undone(steps: Steps) -> Iterator[Step]:
    """Those that were not done to the end."""
    return (step for step in steps if step.progress not in (Progress.DONE, Progress.RUNNING))


def _left(step: Step, activity: Activity) -> bool:
    return step.activity is activity and step.progress is Progress.LEFT
