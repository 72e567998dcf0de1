"""The sentences on the screens: plain text from values. Pure; no colours, no widgets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from ncclcheck.model import (
    Change,
    Choice,
    Facts,
    Interface,
    LinkKind,
    Node,
    Pattern,
    Probe,
    Setting,
    Speed,
    SpeedTest,
    Unknown,
)
from ncclcheck.node.version import NEWEST
from ncclcheck.speedtest.plan import PORT, Side
from ncclcheck.speedtest.worker import parse_place, parse_size, show
from ncclcheck.tui.outcomes import Activity, Copied, Failed
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.terminal.clipboard import fits
from ncclcheck.tui.text.document import shown


class Tone(Enum):
    """What a piece of text means; never told by colour alone."""

    PLAIN = ""
    MUTED = "muted"
    GOOD = "good"
    BAD = "bad"
    WARNING = "warning"
    STRONG = "strong"


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence with its sign and tone."""

    sign: str
    text: str
    tone: Tone


def unknown(thing: Unknown) -> str:
    """A question that is open, and what would settle it."""
    return line(f"{thing.question} (missing: {thing.missing})")


def line(text: str) -> str:
    """A stranger's text on one line."""
    return shown(" ".join(text.split("\n")))


def choice(taken: Choice | None, *, seen: bool) -> str:
    """What NCCL takes: seen, or predicted."""
    if taken is None:
        return "cannot be predicted"
    if taken.interface is None:
        return "takes no interface" if seen else "will find no interface"
    place = f"{taken.interface} {taken.address or ''}".strip()
    return line(f"took {place}" if seen else f"will take {place}")


def reason(which: Node, now: Snapshot) -> str:
    """Why NCCL takes what it takes on a node; said once where it is the same on the first node."""
    own, first = (_reason(now.facts_of(node), now.probe_of(node)) for node in (which, now.nodes[0]))
    if own and own == first and which != now.nodes[0]:
        return f"for the same reason as on {line(now.nodes[0].name)}"
    return f"because {own}" if own else ""


def _reason(facts: Facts | None, probe: Probe | None) -> str:
    # By NCCL's rules where the prediction holds, else in NCCL's own words.
    taken = probe.seen if probe is not None and probe.agrees is not True else facts.choice if facts else None
    return line(taken.reason) if taken is not None else ""


def worth_showing(interfaces: Sequence[Interface], taken: str | None) -> tuple[Interface, ...]:
    """The interfaces that somebody may mean: loopback, and what is down without an address, only if NCCL takes it."""
    return tuple(
        link
        for link in interfaces
        if link.name == taken or (link.kind is not LinkKind.LOOPBACK and (link.addresses or link.up is not False))
    )


def setting(one: Setting) -> str:
    """A setting, where it comes from, and whether it counts."""
    origin = one.origin + (f", line {one.line}" if one.line else "")
    hidden = "" if one.wins else "; has no effect, an earlier one wins"
    return line(f"{one.name}={one.value}  (from {origin}{hidden})")


def link(interface: Interface) -> tuple[str, str, str, str, str]:
    """One interface: name, kind, addresses, MTU, speed."""
    addresses = ", ".join(
        f"{address.address}/{address.prefix}" for address in interface.addresses if address.family == 4
    )
    others = ", ".join(f"{address.address}/{address.prefix}" for address in interface.addresses)
    state = "" if interface.up is not False else " (down)"
    return (
        line(interface.name),
        interface.kind.value + state,
        addresses or others or "no address",
        f"MTU {interface.mtu}" if interface.mtu is not None else "",
        bits(interface.speed),
    )


def bits(megabits: int | None) -> str:
    """A link's speed as people say it."""
    if megabits is None:
        return ""
    return f"{megabits / 1000:g} Gbit/s" if megabits >= 1000 else f"{megabits} Mbit/s"


def gigabytes(rate: float) -> str:
    """A bandwidth in GB/s of 1e9 bytes with its unit."""
    return f"{rate:.2f} GB/s" if rate >= 0.1 else f"{rate * 1000:.1f} MB/s"


def rate(speed: Speed) -> str:
    """One direction's bandwidth with its unit."""
    return gigabytes(speed.algbw)


def bus_rate(speed: Speed) -> str:
    """The bandwidth that a link is judged by."""
    return gigabytes(speed.busbw)


def duration(seconds: float) -> str:
    """Three digits and a unit."""
    for factor, unit in ((1.0, "s"), (1e-3, "ms")):
        # What would be rounded up to the next unit is that unit's.
        if seconds >= 0.9995 * factor:
            return f"{_three(seconds / factor)} {unit}"
    return f"{_three(seconds / 1e-6)} µs"


def _three(value: float) -> str:
    return f"{value:.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def rates(test: SpeedTest) -> str:
    """What a link is judged by in one line, or why there is nothing: the largest size one way and both ways."""
    measured = tuple(dict.fromkeys(speed.pattern for speed in test.speeds))
    shown_ones = [one for one in measured if one in (Pattern.ONE_WAY, Pattern.BOTH_WAYS)] or measured
    if measured:
        return ", ".join(f"{_rate_in(test, one)} {one.value}" for one in shown_ones)
    return why_not(test)


def why_not(test: SpeedTest) -> str:
    """Why there is no figure, in one line."""
    return line(test.failure.split("\n")[0]) or "nothing measured"


def _rate_in(test: SpeedTest, direction: Pattern) -> str:
    best = test.best(direction)
    return rate(best) if best and best.seconds and best.median > 0 else "–"


def failure(failed: Failed) -> str:
    """What went wrong in the background, in the words of its error."""
    words = {
        Activity.SCAN: "This node could not be looked at",
        Activity.PROBE: "The probe did not work",
        Activity.DIAGNOSE: "This could not be read",
        Activity.INDEX: "This could not be read to the end",
        Activity.FIX: "The fix stopped",
        Activity.SPEED: "The speed test did not run",
        Activity.COPY: "The text could not be saved",
        Activity.PAIR: "The nodes were not compared to the end",
        Activity.HISTORY: "What was kept could not be read",
        Activity.WHAT_IF: "It could not be worked out",
        Activity.RULE: "The rule was not saved",
        Activity.TRIAL: "The pattern could not be tried",
        Activity.RANKS: "The ranks could not be told apart",
        Activity.GUIDES: "This setup cannot begin",
        Activity.SETUP: "The setup stopped",
    }
    return f"{words[failed.activity]}: " + "\n  ".join(shown(part.strip()) for part in failed.problem.split("\n"))


def copied(done: Copied) -> str:
    """Where a copy is now."""
    path = line(done.path)
    if not fits(done.text):
        return f"Too long for the terminal's clipboard. It is in {path}; C shows it as plain text"
    return f"Copied. Dropped by the terminal? It is in {path}; C shows it as plain text"


def side(address: str, size: str, rank: str, interface: str | None) -> Side | str:
    """This machine's half of a speed test from what was typed, or what is wrong with it."""
    if rank not in ("0", "1"):
        return "the rank is 0 on the node that HOST names, and 1 on the other"
    try:
        return Side(parse_place(address), parse_size(size), int(rank), interface=interface)
    except ValueError as error:
        return line(str(error))


def other_side(here: Side, size: str) -> tuple[str, ...]:
    """What to type on the other node."""
    command = f"ncclcheck speedtest {show(here.place)} {line(size)} {1 - here.rank}"
    return ("On the other node, at about the same time:", f"  {command}", "", "Enter starts this side.")


def own_end(now: Snapshot) -> tuple[str, str | None]:
    """Where this machine would wait for the other side, and the interface that NCCL takes here."""
    facts = now.facts_of(now.nodes[0])
    taken = now.probes[0].seen if now.probes else facts.choice if facts else None
    if taken is None or taken.address is None:
        return "", None
    return show((taken.address, PORT)), taken.interface


def present_version(now: Snapshot) -> str:
    """The NCCL version that the nodes were looked at for."""
    return next((facts.choice.nccl for facts in now.facts if facts.choice), NEWEST)


def typed_change(text: str, version: str) -> Change | str:
    """A change that somebody typed, or what is wrong with it."""
    from ncclcheck.node.whatif import change  # Nothing is typed at the first paint.

    found = change(text)
    if found is None:
        return "NAME=VALUE, NAME= for an empty value, NAME- for not set"
    return found if re.fullmatch(r"\d+\.\d+(\.\d+)?", version) else f"{line(version)} is no version such as 2.29.7"


def keys(bound: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Keys and what they do, those that do the same in one row."""
    rows: dict[str, list[str]] = {}
    for key, purpose in bound:
        if purpose:
            rows.setdefault(purpose, []).append(key)
    return tuple((" ".join(names), purpose) for purpose, names in rows.items())
