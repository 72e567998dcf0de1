"""What can be chosen before a setup begins, as the place shows it; made from the doctor's own values on a worker's
thread. Pure.
"""

from __future__ import annotations

from datetime import datetime

from ncclcheck.doctor.setup.kept import Kept
from ncclcheck.doctor.setup.line import options
from ncclcheck.doctor.setup.offer import Offered
from ncclcheck.doctor.setup.state import State
from ncclcheck.errors import PeerError
from ncclcheck.rulebook.guide_schema import Guide
from ncclcheck.rulebook.guides import first_uses
from ncclcheck.tui.setup.content import joined, meanings
from ncclcheck.tui.setup.values import Asked, Beginning, Invited, KeptView, PlaceView
from ncclcheck.tui.wording import Tone


def beginning(offered: Offered) -> Beginning:
    """What can be chosen."""
    return Beginning(
        tuple(_place(guide, why) for guide, why in offered.places),
        tuple((guide.name, guide.title) for guide in offered.launchers),
        _kept(offered.kept) if offered.kept else None,
    )


def _place(guide: Guide, why: tuple[str, ...]) -> PlaceView:
    """Whoever begins here is on the first node, so that what is done once at the provider's is asked here."""
    text = f"{guide.title} {guide.text}"
    terms = next(first_uses((text,), guide.terms))
    signs = [(f"By these signs: {'; '.join(why)}", Tone.STRONG)] if why else []
    told = (*signs, (joined(guide.text), Tone.PLAIN), *meanings(terms))
    asked = [item for step in guide.step if step.where != "others" for item in step.ask.items()]
    questions = tuple(Asked(name, one.question, one.pattern, one.example) for name, one in asked)
    return PlaceView(guide.name, guide.title, told, questions)


def _kept(kept: Kept) -> KeptView:
    over = [one for one in kept.stages if one.state in (State.DONE, State.SKIPPED)]
    when = datetime.fromisoformat(kept.time).astimezone()
    complete = len(over) == len(kept.stages)
    told = f"{when:%Y-%m-%d %H:%M}, {len(over)} of {len(kept.stages)} steps done"
    return KeptView(told, complete)


def invited(text: str) -> Invited:
    """The line of another node, as it is shown."""
    try:
        told = options(text)
    except PeerError as error:
        return Invited(None, error.problem)
    asked = told.invitation
    return Invited(told, f"port {asked.port} of {', '.join(asked.addresses)}" if asked else "")
