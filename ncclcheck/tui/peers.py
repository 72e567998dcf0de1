"""What is said of nodes together, and what can be done about it: text from values. Pure; no colours, no widgets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ncclcheck.errors import PeerError
from ncclcheck.model import Facts, Finding, Fix, Handshake, Leg, Node, Risk, Scope, Severity, Use, Verdict
from ncclcheck.peer import saying
from ncclcheck.peer.invitation import read
from ncclcheck.tui.outcomes import Activity
from ncclcheck.tui.pairing import Pairing, Way
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.wording import Said, Tone, line

if TYPE_CHECKING:
    from ncclcheck.doctor.conclude import Conclusion
    from ncclcheck.doctor.steps import Planned


def verdict(now: Snapshot) -> Said:
    """What holds between the nodes, in one line."""
    pairing = now.pairing
    if pairing is None:
        return Said("?", "Nothing tried yet between nodes", Tone.WARNING)
    if pairing.no_way is not None:
        return Said("✗", "None of the other node's addresses leads there from here", Tone.BAD)
    if pairing.known is not None:
        return _concluded(pairing, pairing.known)
    if not now.running_in(Activity.PAIR):
        return Said("–", "Ended before anything was known; nothing is open any more", Tone.MUTED)
    waits = pairing.way is Way.INVITE and not pairing.guests
    return Said("?", "Waiting for the other node" if waits else "Finding out who reaches whom", Tone.WARNING)


def _concluded(pairing: Pairing, known: Conclusion) -> Said:
    match, latest = known.sides.match, pairing.latest
    if not match.use:
        sign, tone = ("✗", Tone.BAD) if known.diagnosis.verdict is Verdict.PROBLEM else ("?", Tone.WARNING)
        return Said(sign, f"No interfaces fit together: {line(match.because)}", tone)
    if latest is not None and latest.passed:
        return _passes(pairing, known)
    if not match.proved:
        how = "by their cards, not proved" if pairing.way is Way.CARDS else "not proved"
        return Said("?", f"Use {uses(match.use)} ({how}){_instead(known)}", Tone.WARNING)
    if known.settled:
        return _settled(latest, match.use)
    return Said("✗", f"Use {uses(match.use)}{_instead(known)}", Tone.BAD)


def _passes(pairing: Pairing, known: Conclusion) -> Said:
    over = uses(known.sides.match.use)
    if pairing.before is not None and not pairing.before.passed:
        return Said("✓", f"Fixed and proved: NCCL's own handshake passes over {over}", Tone.GOOD)
    serious = [finding for finding in known.diagnosis.findings if finding.severity is not Severity.INFO]
    if serious:
        return Said("!", f"NCCL's own handshake passes, but {line(serious[0].title)}", Tone.WARNING)
    return Said("✓", f"NCCL's own handshake passes over {over}", Tone.GOOD)


def _settled(latest: Handshake | None, use: tuple[Use, ...]) -> Said:
    """NCCL takes what it should, and yet nothing proves that it comes through."""
    if latest is None or latest.failure:
        return Said("?", f"Connections pass over {uses(use)}; NCCL's own handshake was not run", Tone.WARNING)
    return Said("✗", f"NCCL's own handshake fails over {uses(use)}: {problem(latest)}", Tone.BAD)


def _instead(known: Conclusion) -> str:
    """What NCCL takes on the nodes where it takes something else."""
    use = {one.host: one.interface for one in known.sides.match.use}
    taken = {node.host: node.choice.interface or "none" for node in known.nodes if node.choice}
    wrong = {host: interface for host, interface in taken.items() if use.get(host) != interface}
    if not wrong:
        return ""
    interfaces = set(wrong.values())
    if len(interfaces) == 1 and len(wrong) == len(use):
        return line(f"; NCCL takes {interfaces.pop()} there now")
    return line("; NCCL takes " + ", ".join(f"{interface} on {host}" for host, interface in wrong.items()) + " now")


def uses(use: tuple[Use, ...]) -> str:
    """The interfaces with their nodes, in a sentence."""
    return line(saying.uses(use))


def handshake(result: Handshake) -> Said:
    """How NCCL's handshake went."""
    if result.failure:
        return Said("?", f"was not run: {line(result.failure)}", Tone.WARNING)
    if result.passed:
        return Said("✓", "passes, both ways and in the ring", Tone.GOOD)
    return Said("✗", f"fails: {problem(result)}", Tone.BAD)


def problem(result: Handshake) -> str:
    """Why a handshake failed: what went wrong first, in NCCL's own order."""
    order = list(Leg)
    failed = (one for one in result.contacts if one.problem)
    first = min(failed, key=lambda one: order.index(one.leg), default=None)
    return line(first.problem if first else result.failure or "it did not say why")


# Which nodes ---------------------------------------------------------------------------------------------------------


def nodes(now: Snapshot) -> tuple[Facts, ...]:
    """The nodes as they are known by now; those of ours as they were last looked at, where a fix may have been made."""
    pairing = now.pairing
    if pairing is None:
        return now.facts if len(now.nodes) > 1 else ()
    if pairing.known is None:
        mine = now.facts if pairing.way is Way.BETWEEN else now.facts[:1]
        names = {facts.host for facts in mine} if pairing.way is Way.BETWEEN else set()
        return (*mine, *(guest for guest in pairing.guests if guest.host not in names))
    fresh = {name: facts for node, name in _own(now).items() if (facts := now.facts_of(node)) is not None}
    if pairing.way is not Way.BETWEEN:
        return pairing.known.nodes
    return tuple(replace(fresh.get(node.host, node), host=node.host) for node in pairing.known.nodes)


def mended(now: Snapshot) -> frozenset[str]:
    """The nodes that a pairing changed, so that what they said of themselves before is over."""
    pairing = now.pairing
    return frozenset(step.host for step in pairing.made if step.applied) if pairing else frozenset()


def own_node(now: Snapshot) -> Node:
    """The node of ours that takes part in a pairing with others, under its name there."""
    return Node(next(iter(_own(now).values()), now.nodes[0].name))


def _own(now: Snapshot) -> dict[Node, str]:
    """The nodes of ours, and the name of each among its peers: of two with one name the second goes by another."""
    pairing = now.pairing
    if pairing is None or pairing.known is None:
        return {}
    hosts = [node.host for node in pairing.known.nodes]
    if pairing.way is Way.BETWEEN and len(now.nodes) == len(hosts) == 2:
        return dict(zip(now.nodes, hosts, strict=True))
    if pairing.way in (Way.INVITE, Way.JOIN):
        others = {guest.host for guest in pairing.guests}
        return dict(zip(now.nodes, (host for host in hosts if host not in others), strict=False))
    named = ((node, facts.host) for node in now.nodes if (facts := now.facts_of(node)) is not None)
    return {node: host for node, host in named if host in hosts}


# What can be done ----------------------------------------------------------------------------------------------------


def question(now: Snapshot) -> Planned | None:
    """What our own user is asked by a pairing that is going on."""
    pairing = now.pairing
    if pairing is None or pairing.answer is not None or not now.running_in(Activity.PAIR):
        return None
    return pairing.planned if pairing.planned and pairing.planned.edits else None


def own_fixes(now: Snapshot) -> dict[Node, Fix]:
    """The setting to make on each node of ours; none while a pairing is going on, nor where it was made in one."""
    pairing = now.pairing
    if pairing is None or pairing.known is None or now.running_in(Activity.PAIR):
        return {}
    found = ((node, pairing.known.fix_for(name)) for node, name in _own(now).items() if name not in mended(now))
    return {node: fix for node, fix in found if fix is not None}


def finding(now: Snapshot) -> Finding | None:
    """What is wrong between the nodes, with one fix for all nodes of ours; without such a fix the first finding."""
    known = now.pairing.known if now.pairing else None
    found = known.diagnosis.findings if known else ()
    mine = own_fixes(now)
    first = next((one for one in found if set(one.fixes) & set(mine.values())), next(iter(found), None))
    if first is None or known is None or not mine:
        return first
    hosts = tuple(_own(now)[node] for node in mine)
    use = tuple(one for one in known.sides.match.use if one.host in hosts)
    env = tuple(dict.fromkeys(pair for fix in mine.values() for pair in fix.env))
    title = f"Let NCCL use {uses(use)}, and no other interface"
    return replace(first, fixes=(Fix(title, Scope.THIS_NODE, Risk.SAFE, env, hosts=hosts),))


def is_remedy(fix: Fix, now: Snapshot) -> bool:
    """Whether it stands for the own fixes of all nodes of ours."""
    wrong = finding(now) if own_fixes(now) else None
    return wrong is not None and wrong.fixes == (fix,)


def provable(now: Snapshot) -> bool:
    """Whether we can run NCCL's handshake and the speed test ourselves."""
    return len(now.nodes) > 1 and now.pairing is not None and now.pairing.known is not None and not now.busy


def invitation_problem(text: str) -> str:
    """What is wrong with an invitation that somebody typed; empty where nothing is."""
    try:
        read(tuple(text.split()))
    except PeerError as error:
        return line(f"{error.problem}. {error.next_step}")
    return ""
