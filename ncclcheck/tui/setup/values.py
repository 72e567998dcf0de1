"""A setup as the screens know it: what can be chosen, how far each step is, what is asked. Pure.

It is light: workers make these values, and the first paint needs nothing but their shapes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ncclcheck.doctor.setup.begin import SetupOptions
    from ncclcheck.model import Edit
    from ncclcheck.tui.wording import Said, Tone

_LONGEST = 4096
"""Characters of a line for another node."""

Told = tuple[tuple[str, "Tone"], ...]
"""Lines of text, as long as they may be, each in a tone."""


def is_invitation(text: str) -> bool:
    """Whether a text is what a setup shows for another node, whole or not."""
    words = text.split() if len(text) <= _LONGEST else []
    return words[:2] == ["ncclcheck", "setup"] and "--join" in words


# Before it begins ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a guide, to which only the person knows the answer."""

    name: str
    question: str
    pattern: str
    example: str


@dataclass(frozen=True, slots=True)
class PlaceView:
    """A place that can be chosen."""

    name: str
    title: str
    told: Told = ()
    """By which signs it was guessed, and what its guide is about."""
    questions: tuple[Asked, ...] = ()


@dataclass(frozen=True, slots=True)
class KeptView:
    """A setup that was begun before."""

    told: str
    """When, and how far it came."""
    complete: bool


@dataclass(frozen=True, slots=True)
class Beginning:
    """What can be chosen, the usual first."""

    places: tuple[PlaceView, ...] = ()
    launchers: tuple[tuple[str, str], ...] = ()
    """Name and title."""
    kept: KeptView | None = None


@dataclass(frozen=True, slots=True)
class Invited:
    """Another node's line was pasted: this one joins it."""

    options: SetupOptions | None
    told: str
    """Whom; where the line cannot be read, why."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was chosen; what stayed at its usual value is empty."""

    resume: bool = False
    again: str = ""
    """With ``resume``: the step from which on nothing counts any more."""
    place: str = ""
    launcher: str = ""
    nodes: int = 2
    script: str = ""
    answers: Mapping[str, str] = field(default_factory=dict)
    invited: Invited | None = None


@dataclass(frozen=True, slots=True)
class FormState:
    """What can be said of the choices as they are."""

    problem: str = ""
    """What is missing, or does not fit."""
    resumes: bool = False
    """Whether the last setup would be taken up again."""


# While it goes on ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StepView:
    """A step of the guide on this node."""

    id: str
    title: str
    sign: str
    tone: Tone
    told: Told
    """What is wrong and what mends it, what was seen, what the step is about."""
    copied: str = ""
    """What is worth copying of it."""
    page: str = ""
    """Of the rule that tells more, where the step failed."""
    skippable: bool = False


@dataclass(frozen=True, slots=True)
class Led:
    """How far a setup is."""

    steps: tuple[StepView, ...] = ()
    at: str = ""
    """The step at hand."""
    said: Said | None = None
    """All of it in a line."""
    role: int = 0
    inviting: str = ""
    """The line for the other nodes, while one of them is waited for."""
    ready: bool = False
    """Whether all is proved, and the command lines are there."""
    summary: str = ""
    """What was done and measured, as Markdown; only at the end."""
    path: str = ""
    """Where the summary is kept."""
    changed: bool = False
    """Whether anything was written on this node that can be taken back."""
    note: str = ""
    """What could not be done beside it, such as to keep it."""

    def step(self, name: str) -> StepView | None:
        """The step of that id."""
        return next((one for one in self.steps if one.id == name), None)


@dataclass(frozen=True, slots=True, eq=False)
class Agreement:
    """May this be written on this node? Each question is one of its own, so that no answer is another one's."""

    edits: tuple[Edit, ...]
    title: str


@dataclass(frozen=True, slots=True, eq=False)
class Preparing:
    """Are these steps done, of which no check can tell?"""

    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Wishing:
    """What to do now that a step has failed?"""


Asking = Agreement | Preparing | Wishing


@dataclass(frozen=True, slots=True)
class Guided:
    """Everything that the place shows."""

    beginning: Beginning | None = None
    invited: Invited | None = None
    led: Led | None = None
    """The setup that goes on, or that went on last; None before any has begun."""
    asking: Asking | None = None

    @property
    def inviting(self) -> str:
        """The line that the other nodes wait for."""
        return self.led.inviting if self.led else ""


@dataclass(frozen=True, slots=True)
class Offers:
    """What can be chosen is known; with None it is being looked at."""

    beginning: Beginning | None


@dataclass(frozen=True, slots=True)
class Invites:
    """A line of another node was read."""

    invited: Invited


@dataclass(frozen=True, slots=True)
class Leads:
    """A setup went on; with None the next one is prepared."""

    led: Led | None


@dataclass(frozen=True, slots=True)
class Asks:
    """The person is asked something, or with None no more."""

    asking: Asking | None


GuideOutcome = Offers | Invites | Leads | Asks


def grown(now: Guided, outcome: GuideOutcome) -> Guided:
    """What the place shows after an outcome."""
    match outcome:
        case Offers(None):
            return replace(now, beginning=None, invited=None)
        case Offers(beginning):
            return replace(now, beginning=beginning)
        case Invites(invited):
            return replace(now, invited=invited)
        case Leads(led):
            return replace(now, led=led)
        case Asks(asking):
            return replace(now, asking=asking)
