"""The steps of a pairing in words. Pure."""

from __future__ import annotations

from ncclcheck.cli.handshake_text import handshake_text
from ncclcheck.cli.sides_text import conclusion_text
from ncclcheck.cli.speed_text import test_text
from ncclcheck.doctor.steps import (
    Concluded,
    Ended,
    FoundPort,
    Joined,
    Knocking,
    MadeFix,
    NoWay,
    Planned,
    Shook,
    Step,
    Trained,
    Trying,
    Turned,
    Waiting,
    WentFast,
)
from ncclcheck.fixes.plan import diff
from ncclcheck.peer.saying import uses
from ncclcheck.speedtest.reports import Measured, Progress, Rate


def step_text(step: Step) -> str:
    """What a step tells; empty for one that only counts."""
    match step:
        case Waiting() | Turned() | Knocking() | NoWay() | Joined():
            return _meeting(step)
        case Planned() | MadeFix() | Ended():
            return _mending(step)
        case _:
            return _learning(step)


def _learning(step: Trying | Concluded | Shook | FoundPort | Progress | WentFast | Trained) -> str:
    match step:
        case Concluded(conclusion):
            return f"\n{conclusion_text(conclusion)}"
        case Shook():
            return _handshake(step)
        case WentFast(test) | Trained(test):
            return test_text(test)
        case FoundPort(address, port, taken):
            held = f" (somebody has {', '.join(map(str, taken))})" if taken else ""
            return f"Ranks meet at {address}, port {port}, which is free{held}."
        case Trying() | Rate() | Measured():
            return ""
        case Progress(text, seconds):
            return f"{seconds:6.1f} s  {text}"


def _meeting(step: Waiting | Turned | Knocking | NoWay | Joined) -> str:
    match step:
        case Waiting(invitation, failed):
            lost = "".join(f"\n(not waiting at {address}: {why})" for address, why in failed)
            return f"On the other node, run:\n\n    {invitation.command}\n{lost}\nWaiting for it; Ctrl-C ends this."
        case Turned(address, problem):
            return f"{address} {problem}; it was turned away"
        case Knocking(address, problem, seconds):
            return f"{address}: {problem} ({seconds:.1f} s)"
        case NoWay():
            return _no_way(step)
        case Joined(facts, address):
            return f"{facts.host} takes part{f', and was met at {address}' if address else ''}"


def _no_way(step: NoWay) -> str:
    tried = "\n".join(f"  {one.address}: {one.problem}" for one in step.tried)
    return (
        f"None of the other node's addresses leads there.\n{tried}\n"
        f"Tried from: {', '.join(step.sources) or 'no address but loopback'}\n\n"
        "Without a connection, cards tell what the two have in common. This is this node's card; on the other node\n"
        "run ncclcheck match and paste it there:\n\n"
        f"{step.card}"
    )


def _handshake(step: Shook) -> str:
    how = "with the proposed interfaces" if step.proposed else "with the settings as they are"
    ranks = len({contact.rank for contact in step.handshake.contacts})
    lines = handshake_text(step.handshake, ranks).splitlines()
    return "\n".join([f"\nNCCL's own handshake, {how}:", *(f"  {line}".rstrip() for line in lines)])


def _mending(step: Planned | MadeFix | Ended) -> str:
    match step:
        case Planned(host, edits):
            return f"\n{host} would change:\n\n{diff(edits)}"
        case MadeFix(host, applied, text):
            return f"{host}: {'' if applied else 'NOT changed: '}{text}"
        case Ended(verified, use):
            if verified:
                what = f"use {uses(use)}. " if use else ""
                return f"\nVerified: {what}NCCL's own handshake passes as things are set now."
            return "\nNOT verified: NCCL's own handshake does not pass as things are set now."
