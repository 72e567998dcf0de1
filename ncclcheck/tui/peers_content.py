"""What the place of the peers shows, as Content made of pieces: names and texts come from other machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from ncclcheck.model import Facts, Finding, Interface, Judgement, Severity, SpeedTest
from ncclcheck.tui import advice, content, matrix, peers, wording
from ncclcheck.tui.content import lines, padded, piece
from ncclcheck.tui.matrix import Table
from ncclcheck.tui.outcomes import Activity
from ncclcheck.tui.pairing import Pairing, Way
from ncclcheck.tui.speeds import rating_words
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.wording import Tone, line

if TYPE_CHECKING:
    from ncclcheck.doctor.conclude import Conclusion

_MOST_LINKS = 4
_MOST_STRANGERS = 3
_ONE = """\
Does a job over this node and another one hang? Three ways to find out why:

  Invite   this node waits, and shows one line to run on the other node
  Join     the other node shows such a line: paste it here
  Paste    no connection at all: run  ncclcheck card  on the other node,
           and paste what it prints anywhere in this program

Invite and Join try every interface against every address in both directions,
and run NCCL's own handshake. Nothing is changed without a yes on each node."""
_OURS = """\
Press Enter to find out what is wrong between these nodes: every interface is
tried against every address in both directions, then NCCL's own handshake.
Nothing is changed.

To compare them with a node elsewhere, with no connection: run  ncclcheck card
there, and paste what it prints anywhere in this program."""

_CARD = "Cards do without a connection: c copies this node's card. Paste it into ncclcheck on the other node."


def answer(now: Snapshot) -> Content:
    """What stands on top: what to do first, what is asked, why, and what is wrong."""
    pairing = now.pairing
    if pairing is None:
        return piece(_OURS if len(now.nodes) > 1 else _ONE)
    blocks = (_meeting(now, pairing), _asked(now, pairing), _answer(now, pairing))
    return Content("\n\n").join(block for block in map(lines, map(list, blocks)) if block.plain)


# Before they meet ----------------------------------------------------------------------------------------------------


def _meeting(now: Snapshot, pairing: Pairing) -> Iterator[Content]:
    if pairing.known is not None:
        return
    if pairing.way is Way.INVITE and not pairing.guests and now.running_in(Activity.PAIR):
        yield from _invitation(pairing)
    if pairing.way is Way.JOIN and pairing.no_way is None:
        yield from (piece(f"{one.address}: {line(one.problem)}", Tone.MUTED) for one in pairing.knocked)
    if pairing.no_way is not None:
        yield from _no_way(pairing)
    strangers = pairing.turned[-_MOST_STRANGERS:]
    yield from (
        piece(f"! {line(f'{one.address} {one.problem}')}; it was turned away", Tone.WARNING) for one in strangers
    )
    if len(pairing.turned) > len(strangers):
        yield piece(f"! and {len(pairing.turned) - len(strangers)} more before", Tone.WARNING)


def _invitation(pairing: Pairing) -> Iterator[Content]:
    if pairing.invitation is None:
        yield piece("opening a port…", Tone.MUTED)
        return
    yield piece("On the other node, run this line; c copies it:")
    yield Content()
    yield piece(pairing.invitation.command, Tone.STRONG)
    yield Content()
    yield piece("Good for one pairing. What passes between them is authenticated, not secret.", Tone.MUTED)
    for address, why in pairing.deaf:
        yield piece(f"(not waiting at {line(f'{address}: {why}')})", Tone.MUTED)


def _no_way(pairing: Pairing) -> Iterator[Content]:
    if pairing.no_way is None:
        return
    yield from (piece(f"✗ {line(f'{one.address}: {one.problem}')}", Tone.BAD) for one in pairing.no_way.tried)
    yield piece(f"tried from {line(', '.join(pairing.no_way.sources)) or 'no address but loopback'}", Tone.MUTED)
    yield Content()
    yield piece(_CARD, Tone.STRONG)


# What was found out --------------------------------------------------------------------------------------------------


def _asked(now: Snapshot, pairing: Pairing) -> Iterator[Content]:
    asked = peers.question(now)
    if asked is not None:
        paths = ", ".join(edit.path for edit in asked.edits)
        yield piece(f"? Change {line(paths)} on {line(asked.host)}? f shows it, and asks.", Tone.STRONG)
    for made in pairing.made:
        sign, tone, words = ("✓", Tone.GOOD, "") if made.applied else ("✗", Tone.BAD, "not changed: ")
        yield piece(f"{sign} {line(f'{made.host}: {words}{made.text}')}", tone)


def _answer(now: Snapshot, pairing: Pairing) -> Iterator[Content]:
    known = pairing.known
    if known is None:
        return
    if known.sides.match.use:
        yield piece(f"because {line(known.sides.match.because)}", Tone.MUTED)
    yield from _proof(now, pairing)
    if pairing.after is None or not pairing.after.passed:
        yield from _findings(known)


def _proof(now: Snapshot, pairing: Pairing) -> Iterator[Content]:
    """NCCL's handshake and the speed test, before and after; why it failed before is said in short once it passes."""
    over = pairing.latest is not None and pairing.latest.passed
    shaken = (
        ("As things are set" if pairing.after is None else "Before", pairing.before),
        ("As proposed", pairing.proposed),
        ("Now", pairing.after),
    )
    for word, result in shaken:
        if result is not None:
            how = peers.handshake(result)
            text = how.text.partition(";")[0] if over and not result.passed else how.text
            yield piece(f"{how.sign} {word}: NCCL's handshake {text}", how.tone)
    before = now.earlier.speed if now.earlier else None
    tests = (("Before", before, None), ("Now", pairing.test or now.speed, now.judgement))
    yield from (_speed(word, test, means) for word, test, means in tests if test is not None and pairing.latest)


def _speed(word: str, test: SpeedTest, means: Judgement | None) -> Content:
    sign, tone = ("✓", Tone.GOOD) if test.passed else ("✗", Tone.BAD)
    verb = "reports" if test.speeds else "fails:"
    rating = f"; {rating_words(means)}" if means and test.passed else ""
    return piece(f"{sign} {word}: the speed test {verb} {wording.rates(test)}{rating}", tone)


def _findings(known: Conclusion) -> Iterator[Content]:
    for found in known.diagnosis.findings:
        sign, tone = content.SIGNS[found.severity]
        yield piece(f"{sign} {line(found.title)}", tone)
        if found.severity is not Severity.INFO:
            yield from _remedy(found)
    yield from (piece(f"? {wording.unknown(thing)}", Tone.WARNING) for thing in known.diagnosis.unknown)


def _remedy(found: Finding) -> Iterator[Content]:
    for fix in found.fixes[:1]:
        settings = [f"{name}={value}" for name, value in fix.env] or list(fix.commands[:1])
        yield piece(f"  → {line(fix.title)}" + (f": {line('; '.join(settings))}" if settings else ""))


# The nodes and the matrix --------------------------------------------------------------------------------------------


def node(facts: Facts, *, before: bool = False) -> Content:
    """A node in short: its name, what NCCL takes there, or took ``before`` a fix, and its interfaces."""
    taken = facts.choice
    takes = f"NCCL {wording.choice(taken, seen=before)}" + (" before" if before else "")
    tone = Tone.BAD if taken is None or taken.interface is None else Tone.PLAIN
    name = taken.interface if taken else None
    links = wording.worth_showing(facts.interfaces, name)
    rows = [(line(link.name), *_place(link)) for link in links[:_MOST_LINKS]]
    marks = ["→" if link.name == name else " " for link in links]
    parts = [piece(facts.host, Tone.STRONG), piece(takes, tone)]
    parts += [piece(f"{mark} {row}", Tone.MUTED) for mark, row in zip(marks, content.table(rows), strict=False)]
    more = len(links) - len(rows)
    return lines([*parts, *([piece(f"  and {more} more", Tone.MUTED)] if more else [])])


def _place(link: Interface) -> tuple[str, str]:
    own = [address for address in link.addresses if address.family == 4] or list(link.addresses)
    return line(f"{own[0].address}/{own[0].prefix}") if own else "no address", wording.bits(link.speed)


def beside(now: Snapshot) -> tuple[Content, Content, Content]:
    """The first two nodes, and the others in a line each; nothing for those who are not there."""
    known = peers.nodes(now)
    first = [node(facts, before=facts.host in peers.mended(now)) for facts in known[:2]]
    one, other = [*first, Content(), Content()][:2]
    return one, other, _others(known[2:])


def _others(nodes: Sequence[Facts]) -> Content:
    return lines(piece(f"{facts.host}: NCCL {wording.choice(facts.choice, seen=False)}") for facts in nodes)


def reach(now: Snapshot, most: int) -> Content:
    """Who reaches whom; ``most`` is how many interfaces of a node there is room for."""
    pairing = now.pairing
    if pairing is None or pairing.way is Way.CARDS:
        return Content()
    going_on = pairing.known is None and bool(pairing.guests) and now.running_in(Activity.PAIR)
    made = matrix.tables(peers.nodes(now), pairing.cells, most, going_on=going_on)
    return Content("\n\n").join(map(_table, made))


def details(now: Snapshot) -> Content:
    """What stands behind the words of the tables, once all is known."""
    pairing = now.pairing
    if pairing is None or pairing.known is None:
        return Content()
    return lines(piece(text, Tone.MUTED) for text in matrix.details(pairing.cells))


def _table(table: Table) -> Content:
    words = [[(cell, Tone.STRONG) for cell in table.heading], *table.rows]
    widths = [max(cell_len(row[column][0]) for row in words) for column in range(len(table.heading))]
    parts = [_row(row, widths) for row in words]
    if table.left_out:
        parts.append(piece(f"    and from {table.left_out} more interfaces: ncclcheck pair --json", Tone.MUTED))
    return lines(parts)


def _row(row: Iterable[matrix.Word], widths: Sequence[int]) -> Content:
    return Content("  ").join(piece(padded(text, width), tone) for (text, tone), width in zip(row, widths, strict=True))


def text(now: Snapshot) -> str:
    """What is copied here: the line or the card for the other node, or everything that was found out."""
    pairing = now.pairing
    if pairing is None:
        return ""
    if pairing.no_way is not None:
        return pairing.no_way.card + "\n"
    if pairing.known is None and pairing.invitation is not None:
        return pairing.invitation.command
    verdict = peers.verdict(now)
    parts = [f"{verdict.sign} {verdict.text}", answer(now).plain]
    parts += [part.plain for part in (*beside(now), reach(now, 64), details(now))]
    found = pairing.known.diagnosis.findings if pairing.known else ()
    serious = (finding for finding in found if finding.severity is not Severity.INFO)
    parts += [advice.report(finding, now.document, now.launcher) for finding in serious]
    return "\n\n".join(part.rstrip() for part in parts if part) + "\n"
