"""What the screens show: one frozen snapshot, and how each outcome changes it. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ncclcheck.model import Comparison, Diagnosis, Facts, Fix, Judgement, Node, Probe, SpeedTest
from ncclcheck.speedtest import reports
from ncclcheck.tui.live import Live, ticked
from ncclcheck.tui.outcomes import (
    Activity,
    Answered,
    Began,
    Called,
    Changed,
    Copied,
    Diagnosed,
    Doing,
    Ended,
    Failed,
    Grew,
    Listed,
    Measured,
    Measures,
    Meets,
    NodeApplied,
    NodeEdits,
    Noted,
    Opened,
    Outcome,
    Previewed,
    Probed,
    Read,
    Remembered,
    Renewed,
    Replaced,
    Scanned,
    Stepped,
    Stopped,
    Ticked,
    Undone,
)
from ncclcheck.tui.outcomes_told import Ahead, Chose, Foresaw
from ncclcheck.tui.pairing import Pairing
from ncclcheck.tui.rule_trial import Draft, Proposed, RuleKept, RuleOutcome, Trial, Tried
from ncclcheck.tui.setup.values import Asks, Guided, GuideOutcome, Invites, Leads, Offers
from ncclcheck.tui.setup.values import grown as guided
from ncclcheck.tui.steps import Progress, Step, changed, followed
from ncclcheck.tui.text.document import Document, annotated

if TYPE_CHECKING:
    from ncclcheck.doctor.foresight import Foresight
    from ncclcheck.doctor.history import Made
    from ncclcheck.doctor.ranks import Roll
    from ncclcheck.speedtest.history import Run


@dataclass(frozen=True, slots=True)
class Earlier:
    """How things were before the fix."""

    probes: tuple[Probe, ...]
    speed: SpeedTest | None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything on the screens at one moment."""

    nodes: tuple[Node, ...] = ()
    scanned: tuple[Scanned, ...] = ()
    probes: tuple[Probe, ...] = ()
    """One for each node, in the order of the nodes."""
    document: Document = field(default_factory=Document)
    diagnosis: Diagnosis | None = None
    of_nodes: bool = False
    """Whether the diagnosis is about our own nodes."""
    fix: Fix | None = None
    """The fix that the dialog shows."""
    plan: tuple[NodeEdits, ...] | None = None
    """``None`` while it is being worked out."""
    changes: tuple[NodeApplied, ...] = ()
    earlier: Earlier | None = None
    speed: SpeedTest | None = None
    judgement: Judgement | None = None
    """What that speed means."""
    unkept: str = ""
    """Why that speed is not in the history."""
    live: Live | None = None
    """The speed test that is running."""
    runs: tuple[Run, ...] = ()
    """The latest ones that were kept, the latest last."""
    made: tuple[Made, ...] = ()
    """Changes that can be looked at and taken back, the newest first."""
    roll: Roll | None = None
    """The diagnosed job rank by rank; for a moment still that of the job before."""
    guided: Guided = field(default_factory=Guided)
    """What the place of the setup shows."""
    pairing: Pairing | None = None
    newest_between: bool = False
    """Whether the newest answer is the pairing's rather than the diagnosis."""
    steps: tuple[Step, ...] = ()
    failure: Failed | None = None
    foresight: Foresight | None = None
    """What somebody tries in the dialog for it."""
    draft: Draft | None = None
    """The proposal for a rule of somebody's own."""
    trial: Trial | None = None
    """The pattern that somebody tries for a rule of their own."""
    own_rule: str = ""
    """Where the last one of these was written."""
    launcher: str = ""
    """In whose words fixes are told, by ``doctor.finding_text.launchers``."""

    @property
    def comparison(self) -> Comparison | None:
        """The speed test before the fix and after it, where both were run."""
        if self.earlier is None or self.earlier.speed is None or self.speed is None:
            return None
        return Comparison(self.earlier.speed, self.speed)

    @property
    def running(self) -> Step | None:
        """The step that is going on; the scan in the background only where there is nothing else."""
        going = [step for step in self.steps if step.progress is Progress.RUNNING]
        return max(going, key=lambda step: step.activity is not Activity.SCAN, default=None)

    @property
    def busy(self) -> bool:
        """Whether the nodes are being worked on, so that nothing else should be started on them."""
        return self.running is not None and self.running.activity in _WORK

    def running_in(self, activity: Activity) -> bool:
        """Whether this activity is going on."""
        return any(step.progress is Progress.RUNNING for step in self.steps_of(activity))

    def steps_of(self, activity: Activity) -> tuple[Step, ...]:
        """The steps of one activity, in order."""
        return tuple(step for step in self.steps if step.activity is activity)

    @property
    def facts(self) -> tuple[Facts, ...]:
        """What is known of the nodes."""
        return tuple(scanned.facts for scanned in self.scanned)

    def facts_of(self, node: Node) -> Facts | None:
        """What is known of one node."""
        return next((scanned.facts for scanned in self.scanned if scanned.node == node), None)

    def probe_of(self, node: Node) -> Probe | None:
        """What the real NCCL did on one node."""
        return dict(zip(self.nodes, self.probes, strict=False)).get(node)


_ASIDE = (Activity.HISTORY, Activity.RANKS, Activity.INDEX, Activity.WHAT_IF, Activity.TRIAL, Activity.GUIDES)
"""What nobody asked for by itself."""
_WORK = (Activity.PROBE, Activity.FIX, Activity.SPEED, Activity.PAIR, Activity.SETUP)


def advance(now: Snapshot, outcome: Outcome) -> Snapshot:
    """The snapshot after an outcome."""
    match outcome:
        case Began() | Ahead() | Doing() | Noted() | Ended() | Stopped() | Failed():
            return _progress(now, outcome)
        case Scanned(node):
            others = tuple(scanned for scanned in now.scanned if scanned.node != node)
            return replace(now, scanned=tuple(sorted((*others, outcome), key=lambda new: now.nodes.index(new.node))))
        case Opened() | Diagnosed() | Renewed() | Grew() | Replaced():
            return _read(now, outcome)
        case Proposed() | Tried() | RuleKept():
            return _making(now, outcome)
        case Probed() | Called() | Listed() | Chose() | Foresaw() | Copied() | Read():
            return _learnt(now, outcome)
        case _:
            return _by_subject(now, outcome)


def _read(now: Snapshot, outcome: Opened | Diagnosed | Renewed | Grew | Replaced) -> Snapshot:
    """What is read, and the answer to it; what is told late of a text that nobody looks at any more is dropped."""
    match outcome:
        case Opened(text):
            return replace(now, document=text, diagnosis=None, of_nodes=False, newest_between=False)
        case Diagnosed(diagnosis, text, of_nodes):
            answered = annotated(now.document if text.same_texts(now.document) else text, diagnosis)
            return replace(now, diagnosis=diagnosis, document=answered, of_nodes=of_nodes, newest_between=False)
        case Renewed(diagnosis, text) if text.same_texts(now.document):
            return replace(now, diagnosis=diagnosis, document=annotated(now.document, diagnosis))
        case Grew(text) if text.same_texts(now.document):
            return replace(now, document=now.document.extended(text))
        case _:
            return now


def _learnt(now: Snapshot, outcome: Probed | Called | Listed | Chose | Foresaw | Copied | Read) -> Snapshot:
    match outcome:
        case Probed(probes):
            return replace(now, probes=probes)
        case Called(roll):
            return replace(now, roll=roll)
        case Listed(made):
            return replace(now, made=made)
        case Chose(launcher):
            return replace(now, launcher=launcher)
        case Foresaw(foresight):
            return replace(now, foresight=foresight)
        case Copied() | Read():
            return replace(now, failure=None)


def _making(now: Snapshot, outcome: RuleOutcome) -> Snapshot:
    match outcome:
        case Proposed(draft):
            return replace(now, draft=draft)
        case Tried(trial):
            return replace(now, trial=trial)
        case RuleKept(path):
            return replace(now, own_rule=path)


_Deed = (
    Measures | Ticked | Measured | Remembered | Meets | Stepped | Answered | Previewed | Changed | Undone | GuideOutcome
)


def _by_subject(now: Snapshot, outcome: _Deed) -> Snapshot:
    match outcome:
        case Offers() | Invites() | Leads() | Asks():
            return replace(now, guided=guided(now.guided, outcome))
        case Measures() | Ticked() | Measured() | Remembered():
            return _measuring(now, outcome)
        case Meets() | Stepped() | Answered():
            return _between(now, outcome)
        case _:
            return _fixing(now, outcome)


def _measuring(now: Snapshot, outcome: Measures | Ticked | Measured | Remembered) -> Snapshot:
    match outcome:
        case Measures():
            return replace(now, live=Live())
        case Ticked(activity, tick):
            note = f"{tick.text} ({tick.seconds:.0f} s)"
            return replace(now, live=ticked(now.live or Live(), tick), steps=changed(now.steps, activity, note=note))
        case Measured(speed, judgement, warning):
            return replace(now, speed=speed, judgement=judgement, unkept=warning, live=None)
        case Remembered(runs):
            return replace(now, runs=runs)


def _between(now: Snapshot, outcome: Meets | Stepped | Answered) -> Snapshot:
    if isinstance(outcome, Meets):
        return replace(now, pairing=Pairing(outcome.way))
    if now.pairing is None:
        return now
    if isinstance(outcome, Answered):
        return replace(now, pairing=replace(now.pairing, answer=outcome.yes))
    # The steps bring the rulebook along; the first paint need not wait for it.
    from ncclcheck.tui.growth import grown

    pairing = grown(now.pairing, outcome.step)
    learnt = (pairing.known, pairing.latest) != (now.pairing.known, now.pairing.latest)
    live = ticked(now.live or Live(), outcome.step) if isinstance(outcome.step, reports.Progress) else now.live
    return replace(now, pairing=pairing, newest_between=now.newest_between or learnt, live=live)


def _fixing(now: Snapshot, outcome: Previewed | Changed | Undone) -> Snapshot:
    match outcome:
        case Previewed(fix, plan):
            return replace(now, fix=fix, plan=plan)
        case Changed(change):
            # The first change of a fix is where "before" ends.
            earlier = now.earlier if now.changes else Earlier(now.probes, now.speed)
            return replace(now, changes=(*now.changes, change), earlier=earlier, speed=None, judgement=None)
        case Undone(change):
            # What was proved with the change is not proved without it.
            pairing = replace(now.pairing, after=None) if now.pairing else None
            left = tuple(one for one in now.changes if one != change)
            earlier = now.earlier if left else None
            return replace(now, changes=left, earlier=earlier, speed=None, judgement=None, pairing=pairing)


def _progress(now: Snapshot, outcome: Began | Ahead | Doing | Noted | Ended | Stopped | Failed) -> Snapshot:
    activity = outcome.activity
    if activity in _WORK and not isinstance(outcome, Ahead | Doing | Noted):
        # However it ended, nothing is being measured any more.
        now = replace(now, live=None)
    if isinstance(outcome, Began):
        kept = tuple(step for step in now.steps if step.activity is not activity)
        # Whoever only goes to another place has not read it yet.
        return replace(now, steps=kept, failure=now.failure if activity in _ASIDE else None)
    failure = outcome if isinstance(outcome, Failed) else now.failure
    return replace(now, steps=followed(now.steps, outcome), failure=failure)
