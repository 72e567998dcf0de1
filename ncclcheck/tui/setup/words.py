"""What is said of a setup in a line, and what can be done about it now. Pure, and light."""

from __future__ import annotations

from dataclasses import replace

from ncclcheck.tui.outcomes import Activity
from ncclcheck.tui.setup.values import Agreement, FormState, Led, Preparing, StepView, Told, Wishing
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.wording import Said, Tone, line

_AGAIN = "Enter takes it up again: everything is looked at anew."
_FIRST = "Enter begins, and shows the line for the other node."
_JOINS = "Enter joins; nothing is written without a yes."
DEEDS = ("agree", "skip", "repeat", "take_back", "anew")
"""Actions of the place that do not always apply."""
_SETTINGS = "nodes/settings"
"""The step in which something is written."""
_CHANGE = "←/→ change a choice."


def verdict(now: Snapshot) -> Said:
    """How far it is, in one line."""
    led, asking = now.guided.led, now.guided.asking
    if isinstance(asking, Agreement):
        return Said("?", "Something is to be written on this node", Tone.WARNING)
    if isinstance(asking, Preparing):
        return Said("?", "These steps are yours: no check can tell whether they are done", Tone.WARNING)
    if not begun(now) or led is None or led.said is None:
        return Said("?", "From two fresh nodes to a measured bandwidth, step by step", Tone.WARNING)
    text = line(led.said.text)
    if goes_on(now) or led.ready:
        return Said(led.said.sign, text, led.said.tone)
    failed = led.said.sign == "✗"
    return (
        Said("✗", text, Tone.BAD) if failed else Said("–", f"Not ready yet, and nothing is open: {text}", Tone.WARNING)
    )


def goes_on(now: Snapshot) -> bool:
    """Whether a setup is under way."""
    return now.running_in(Activity.SETUP)


def begun(now: Snapshot) -> bool:
    """Whether there is a setup to be looked at; a line that was pasted since is looked at first."""
    return now.guided.led is not None and (goes_on(now) or now.guided.invited is None)


def at(now: Snapshot, left_out: frozenset[str] = frozenset()) -> str:
    """The step at hand; ``left_out`` are those that the person has left out while being asked."""
    asking, led = now.guided.asking, now.guided.led
    if isinstance(asking, Preparing):
        return next((name for name in asking.steps if name not in left_out), asking.steps[-1])
    if isinstance(asking, Agreement):
        return _SETTINGS
    return led.at if led else ""


def may_leave_out(now: Snapshot, step: StepView | None) -> bool:
    """Whether a step can be left out at this moment."""
    match now.guided.asking:
        case Preparing(steps):
            return step is not None and step.id in steps
        case Wishing():
            return step is not None and step.skippable
        case _:
            return False


def may_repeat(now: Snapshot) -> bool:
    """Whether all can be looked at again from a step on."""
    return now.guided.led is not None and (not goes_on(now) or isinstance(now.guided.asking, Wishing))


def may_take_back(now: Snapshot) -> bool:
    """Whether there is anything to put back, and nobody at work on it."""
    led = now.guided.led
    return led is not None and led.changed and may_repeat(now)


def may(action: str, now: Snapshot, step: StepView | None) -> bool:
    """Whether one of the deeds can be done at this moment, at this step."""
    if action == "agree":
        return isinstance(now.guided.asking, Agreement)
    if not begun(now):
        return False
    if action == "skip":
        return may_leave_out(now, step)
    if action == "anew":
        return not goes_on(now)
    return may_take_back(now) if action == "take_back" else may_repeat(now)


def copied(now: Snapshot, step: StepView | None) -> str:
    """What is worth copying now: the line for the other node, the summary, else what belongs to the step."""
    led = now.guided.led
    if led and led.inviting and goes_on(now):
        return led.inviting
    if led and led.summary:
        return led.summary
    return step.copied if step else ""


def steps(now: Snapshot) -> tuple[StepView, ...]:
    """The steps; what was going on when it was ended goes on no more."""
    led = now.guided.led
    if led is None or goes_on(now):
        return led.steps if led else ()
    return tuple(replace(one, sign="·", tone=Tone.MUTED) if one.sign == "…" else one for one in led.steps)


def told(now: Snapshot, step: StepView | None) -> Told:
    """The step in full; in its stead what stands above the diff that is asked about."""
    asking = now.guided.asking
    if isinstance(asking, Agreement):
        return (("Write this on this node?", Tone.STRONG), (asking.title, Tone.PLAIN))
    led = now.guided.led
    if step and led and led.inviting and step.id == led.at and not goes_on(now):
        return (("Nobody is waited for any more. Enter waits again, with the same line.", Tone.PLAIN),)
    return step.told if step else ()


def hint(now: Snapshot, form: FormState) -> Said:
    """What to do next, with its keys."""
    led = now.guided.led
    if not begun(now):
        return _before(now, form)
    match now.guided.asking:
        case Agreement():
            return Said(
                "?",
                "y or Enter writes it, n leaves everything as it is.",
                Tone.STRONG,
            )
        case Preparing():
            return Said("?", "Enter: all of these are done. k leaves out the one under the cursor.", Tone.STRONG)
        case Wishing():
            return _wishing(led)
    if goes_on(now):
        inviting = led is not None and bool(led.inviting)
        waits = (
            "Run the line on the other node; c copies it. x ends the waiting." if inviting else "Working. x stops it."
        )
        return Said("…", waits, Tone.STRONG if inviting else Tone.MUTED)
    return _over(led)


def _before(now: Snapshot, form: FormState) -> Said:
    guided = now.guided
    if guided.beginning is None:
        return Said("…", "Looking at this node.", Tone.MUTED)
    if form.problem:
        return Said("?", line(form.problem), Tone.WARNING)
    if form.resumes:
        return Said("→", f"{_AGAIN} {_CHANGE}", Tone.STRONG)
    if guided.invited:
        return Said("→", f"{_JOINS} {_CHANGE}", Tone.STRONG)
    return Said("→", f"{_FIRST} {_CHANGE}", Tone.STRONG)


def _wishing(led: Led | None) -> Said:
    again = "waits for the first node" if led and led.role else "looks again"
    return Said("?", f"Do what is said, then Enter {again}. x ends; it can be taken up later.", Tone.STRONG)


def _over(led: Led | None) -> Said:
    note = f" {line(led.note)}" if led and led.note else ""
    if led and led.ready:
        kept = f" It is in {line(led.path)} too." if led.path else ""
        return Said(
            "→", f"Start your training with these lines. Enter or c copies the summary.{kept}{note}", Tone.STRONG
        )
    return Said("→", f"{_AGAIN} b begins another one.{note}", Tone.STRONG)
