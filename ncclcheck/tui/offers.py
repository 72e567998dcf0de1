"""What a person can do now, in one place for menu, keys and palette. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ncclcheck.model import Finding, Fix, Verdict
from ncclcheck.tui import peers
from ncclcheck.tui.outcomes import Activity
from ncclcheck.tui.pairing import Pairing, Way
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


def choices(now: Snapshot) -> tuple[Offer, ...]:
    """Everything that applies now in any place: what decides which keys work."""
    return offers(now) + offers_between(now) + offers_for_speed(now)


def next_step(now: Snapshot) -> str:
    """The action that is most worth taking."""
    if now.diagnosis is None:
        return "probe"
    if now.changes:
        return "speed" if now.speed is None else "log"
    if first_fixable(now):
        return "fix"
    return _next_to_know(now) if now.diagnosis.verdict is Verdict.UNKNOWN else "log"


def _next_to_know(now: Snapshot) -> str:
    """The action that brings what is missing to an answer."""
    if not now.of_nodes:
        return "open"
    return "speed" if len(now.nodes) > 1 and applies("speed", now) else "peers"


def next_in_log(now: Snapshot, chosen: Finding | None) -> str:
    """The action that is most worth taking where a finding of a log is looked at."""
    if now.diagnosis is None or chosen is None:
        return "probe" if now.diagnosis is None else next_step(now)
    return "fix" if chosen.fixes and not now.changes else "evidence(1)"


def first_fixable(now: Snapshot) -> Finding | None:
    """The first finding for which something can be done."""
    findings = now.diagnosis.findings if now.diagnosis else ()
    return next((finding for finding in findings if finding.fixes), None)


def worded(finding: Finding | None) -> Fix | None:
    """The fix of a finding that can be told in the words of each launcher."""
    return next((fix for fix in finding.fixes if fix.launches), None) if finding else None


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
        Offer(
            "peers", "4", "Peers", "find out what is wrong between " + ("them" if two else "this node and another one")
        ),
        Offer("setup", "6", "Set up", "from fresh nodes to a measured bandwidth, step by step"),
        Offer("open", "o", "Open a log", "a file or a folder; or paste a log anywhere"),
        Offer("copy", "c", "Copy", "the finding as text, to send to somebody"),
        Offer("stop", "x", "Stop", "end what is running after its present step"),
    )


# Between nodes -------------------------------------------------------------------------------------------------------


def offers_between(now: Snapshot) -> tuple[Offer, ...]:
    """Everything that applies now where nodes are compared."""
    if now.running_in(Activity.PAIR):
        return tuple(_while_pairing(now, now.pairing))
    if now.busy:
        return (Offer("stop", "x", "Stop", "end what is running after its present step"),)
    return tuple(offer for offer in _after_pairing(now) if applies_between(offer.action, now))


def applies_between(action: str, now: Snapshot) -> bool:
    """Whether an action makes sense now where nodes are compared."""
    match action:
        case "fix":
            return peers.question(now) is not None or (not now.busy and bool(peers.own_fixes(now)))
        case "prove":
            return peers.provable(now)
        case "invite" | "join":
            return not now.busy and (action == "invite" or len(now.nodes) == 1)
        case "copy":
            return now.pairing is not None
        case _:
            return applies(action, now)


def next_between(now: Snapshot) -> str:
    """The action that is most worth taking where nodes are compared."""
    if now.running_in(Activity.PAIR):
        return "fix" if peers.question(now) else "copy" if _invites(now.pairing) else "stop"
    latest = now.pairing.latest if now.pairing else None
    if peers.provable(now) and now.changes and not (latest and latest.passed):
        return "prove"
    if peers.own_fixes(now) and not now.changes:
        return "fix"
    return "copy" if now.pairing and (now.pairing.known or now.pairing.no_way) else "invite"


def _invites(pairing: Pairing | None) -> bool:
    return pairing is not None and pairing.way is Way.INVITE and not pairing.guests


def _while_pairing(now: Snapshot, pairing: Pairing | None) -> Iterator[Offer]:
    if peers.question(now):
        yield Offer("fix", "f", "Answer", "see what would change on this node, and say yes or no")
    if _invites(pairing):
        yield Offer("copy", "c", "Copy", "the line for the other node")
        yield Offer("stop", "x", "Stop", "wait no longer, and close the port")
    else:
        yield Offer("stop", "x", "Stop", "end it")


def _after_pairing(now: Snapshot) -> Iterator[Offer]:
    two, again = len(now.nodes) > 1, " again" if now.pairing else ""
    both = "both" if len(now.nodes) == 2 else "all"
    if now.changes:
        yield Offer("fix", "f", "What changed", "see what was done, or undo it")
    else:
        yield Offer("fix", "f", f"Fix {both}" if two else "Fix", "see what would change, apply it, prove it")
    yield Offer("prove", "v", "Prove", "NCCL's own handshake, then the speed test")
    if two:
        yield Offer("invite", "i", f"Compare{again}", "try every interface against every address, both ways")
    else:
        yield Offer("invite", "i", f"Invite{again}", "wait for another node, and show what to run there")
        yield Offer("join", "j", f"Join{again}", "the other node shows a line to run: paste it here")
    yield Offer("copy", "c", "Copy", "what was found out, as text")


# The speed test -----------------------------------------------------------------------------------------------------


def offers_for_speed(now: Snapshot) -> tuple[Offer, ...]:
    """Everything that applies now where the speed is looked at."""
    return tuple(offer for offer in _for_speed(now) if applies_to_speed(offer.action, now))


def applies_to_speed(action: str, now: Snapshot) -> bool:
    """Whether an action makes sense now where the speed is looked at."""
    if action == "copy":
        return now.speed is not None and now.live is None
    return applies(action, now)


def next_for_speed(now: Snapshot) -> str:
    """The action that is most worth taking where the speed is looked at."""
    if now.busy:
        return "stop"
    return "peers" if now.speed is not None and not now.speed.passed else "speed"


def _for_speed(now: Snapshot) -> Iterator[Offer]:
    again = " again" if now.speed else ""
    where = "between the two nodes" if len(now.nodes) > 1 else "to another node"
    yield Offer("speed", "s", f"Measure{again}", f"{where}, with plain TCP beside it")
    yield Offer("peers", "4", "Peers", "find out who reaches whom, over which interface")
    yield Offer("copy", "c", "Copy", "the result with all of its figures, as text")
    yield Offer("stop", "x", "Stop", "end what is running; a speed test ends on both sides")


_NEEDS: dict[str, Callable[[Snapshot], bool]] = {
    "probe": lambda now: not now.busy,
    "fix": lambda now: not now.busy and first_fixable(now) is not None,
    "log": lambda now: now.diagnosis is not None,
    "copy": lambda now: now.diagnosis is not None or bool(now.facts),
    "plain": lambda now: now.diagnosis is not None or bool(now.facts),
    "launcher": lambda now: worded(first_fixable(now)) is not None,
    "speed": lambda now: not now.busy and len(now.facts) == len(now.nodes),
    "setup": lambda now: now.diagnosis is None and not now.busy,
    "stop": lambda now: now.busy,
    "what_if": lambda now: any(facts.choice for facts in now.facts),
}
