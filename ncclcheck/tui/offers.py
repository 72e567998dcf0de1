"""What a person can do now, in one place for menu, keys and palette. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ncclcheck.model import Finding, Fix
from ncclcheck.tui.state import Snapshot


@dataclass(frozen=True, slots=True)
class Offer:
    """A way on: an action of the app, its key, and what it is good for."""

    action: str
    key: str
    label: str
    purpose: str


def offers(now: Snapshot) -> tuple[Offer, ...]:
    """Everything that applies now, in the order in which it always stands."""
    return tuple(offer for offer in _all(now) if applies(offer.action, now))


def applies(action: str, now: Snapshot) -> bool:
    """Whether an action makes sense now; one without a condition always does."""
    need = _NEEDS.get(action)
    return need is None or need(now)


def next_step(now: Snapshot) -> str:
    """The action that is most worth taking."""
    if now.diagnosis is None:
        return "probe"
    if now.changes:
        return "speed" if now.speed is None else "log"
    return "fix" if first_fixable(now) else "log"


def first_fixable(now: Snapshot) -> Finding | None:
    """The first finding for which something can be done."""
    findings = now.diagnosis.findings if now.diagnosis else ()
    return next((finding for finding in findings if finding.fixes), None)


def best_fix(finding: Finding, applicable: tuple[Fix, ...]) -> Fix:
    """The fix to show first: one that can be applied, else the first one."""
    return next((fix for fix in finding.fixes if fix in applicable), finding.fixes[0])


def _all(now: Snapshot) -> tuple[Offer, ...]:
    two = len(now.nodes) > 1
    return (
        Offer("probe", "p", "Probe", "ask the real NCCL which network it takes" + (" on each node" if two else "")),
        Offer("what_if", "w", "What if", "see what NCCL would take with another setting"),
        Offer("fix", "f", "Fix", "see what would change, apply it, prove it"),
        Offer("log", "2", "Log", "read it with what was found beside it"),
        Offer("speed", "s", "Speed test", "measure between the two nodes" if two else "measure to another node"),
        Offer("open", "o", "Open a log", "a file or a folder; or paste a log anywhere"),
        Offer("copy", "c", "Copy", "the finding as text, to send to somebody"),
        Offer("stop", "x", "Stop", "end what is running after its present step"),
    )


_NEEDS: dict[str, Callable[[Snapshot], bool]] = {
    "probe": lambda now: not now.busy,
    "fix": lambda now: not now.busy and first_fixable(now) is not None,
    "log": lambda now: now.diagnosis is not None,
    "copy": lambda now: now.diagnosis is not None or bool(now.facts),
    "speed": lambda now: not now.busy and len(now.facts) == len(now.nodes),
    "stop": lambda now: now.busy,
    "what_if": lambda now: any(facts.choice for facts in now.facts),
}
