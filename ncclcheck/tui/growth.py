"""How a pairing grows with each step. Pure; it knows the steps themselves, so it is loaded with the first of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ncclcheck.doctor.steps import (
    Concluded,
    Ended,
    Joined,
    Knocking,
    MadeFix,
    NoWay,
    Planned,
    Shook,
    Step,
    Trying,
    Turned,
    Waiting,
    WentFast,
)
from ncclcheck.speedtest.reports import Progress
from ncclcheck.tui import peers, wording
from ncclcheck.tui.outcomes import Activity, Doing, Noted
from ncclcheck.tui.pairing import Pairing

_MOST_STRANGERS = 100


def grown(pairing: Pairing, step: Step) -> Pairing:
    """The pairing after a step."""
    match step:
        case Waiting(invitation, failed):
            return replace(pairing, invitation=invitation, deaf=failed)
        case Turned():
            return replace(pairing, turned=(*pairing.turned, step)[-_MOST_STRANGERS:])
        case Knocking():
            return replace(pairing, knocked=(*pairing.knocked, step))
        case NoWay():
            return replace(pairing, no_way=step)
        case Joined(facts):
            return replace(pairing, guests=(*pairing.guests, facts))
        case _:
            return _learnt(pairing, step)


def _learnt(pairing: Pairing, step: Step) -> Pairing:
    match step:
        case Trying(cell):
            return replace(pairing, cells=(*pairing.cells, cell))
        case Concluded(known):
            return replace(pairing, known=known, cells=known.sides.cells)
        case Shook(handshake, proposed):
            if proposed:
                return replace(pairing, proposed=handshake)
            return replace(pairing, after=handshake) if pairing.before else replace(pairing, before=handshake)
        case _:
            return _mended(pairing, step)


def _mended(pairing: Pairing, step: Step) -> Pairing:
    match step:
        case Planned():
            return replace(pairing, planned=step)
        case MadeFix():
            return replace(pairing, made=(*pairing.made, step))
        case WentFast(test):
            return replace(pairing, test=test)
        case Ended():
            return replace(pairing, ended=step)
        case _:
            return pairing


def doing(step: Step) -> Iterator[Doing | Noted]:
    """What goes on after a step, in words; how the last thing went before it."""
    match step:
        case Waiting():
            yield Doing(Activity.PAIR, "waiting for the other node")
        case Joined(facts):
            yield Noted(Activity.PAIR, f"{facts.host} takes part")
            yield Doing(Activity.PAIR, "trying every way")
        case Trying(cell):
            yield Noted(Activity.PAIR, f"{cell.caller} calls {cell.address}")
        case Knocking(address, problem):
            yield Noted(Activity.PAIR, f"{address}: {problem}")
        case _:
            yield from _doing_later(step)


def _doing_later(step: Step) -> Iterator[Doing | Noted]:
    match step:
        case Concluded():
            yield Doing(Activity.PAIR, "NCCL's own handshake")
        case Shook(handshake):
            yield Noted(Activity.PAIR, peers.handshake(handshake).text)
        case Planned(host):
            yield Doing(Activity.PAIR, f"the fix of {host}")
        case MadeFix(host, _, text):
            yield Noted(Activity.PAIR, f"{host}: {text}")
        case Progress(text, seconds):
            yield Noted(Activity.PAIR, f"{text} ({seconds:.0f} s)")
        case WentFast(test):
            yield Noted(Activity.PAIR, wording.rates(test))
        case _:
            return
