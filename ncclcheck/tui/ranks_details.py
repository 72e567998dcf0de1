"""One rank, or one group of them, in full, and the whole place as text. Pure; no colours, no widgets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ncclcheck.doctor.ranks import Group, Plight, Standing
from ncclcheck.model import Attempt, Endpoint, Rank, Severity, Stage, Where
from ncclcheck.tui import wording
from ncclcheck.tui.ranks import HEADINGS, OTHERS, cells, counts, often, result, several_targets, towards, who
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.wording import Said, Tone, line

_LINKS = {
    "root": "to the root",
    "callback": "from the root back to it",
    "ring": "to the next rank in the ring",
    "bootstrap": "in the bootstrap",
    "data": "for the data",
    "store": "to PyTorch's store",
    "gloo": "of gloo",
    "unknown": "",
}
_EXCERPT = 240
"""Characters of the last line; the log shows the rest."""
_LABEL = 11
"""Cells of a label with its gap."""
_MOST = 20
"""Groups that a text tells in full."""
_MEANING = {
    Stage.SILENT: "NCCL has not said a word that counts",
    Stage.INTERFACE: "it chose its interface; no connection is proved",
    Stage.BOOTSTRAP: "it is finding the others over TCP, through the root",
    Stage.RING: "all ranks of its communicator found each other",
    Stage.TOPOLOGY: "it knows the GPUs and networks of all",
    Stage.CHANNELS: "it makes its data connections",
    Stage.CONNECTED: "its data connections are made",
    Stage.COMPLETE: "the communicator can be used",
    Stage.COLLECTIVE: "a collective went through",
    Stage.DESTROYED: "the communicator was closed again",
}
# One rank, or one group, in full -------------------------------------------------------------------------------------


def details(group: Group, now: Snapshot) -> tuple[Said, ...]:
    """What is known of the row under the cursor."""
    first, several = group.first, len(group.members) > 1
    head = who(group.numbers, group.hosts, len(group.members))
    process = f", process {first.rank.process.pid}" if not several and first.rank and first.rank.process.pid else ""
    parts = [Said("", f"{head[:1].upper()}{head[1:]}{process}", Tone.STRONG), *_story(group)]
    parts.append(_labelled("stage", f"{first.stage.name.lower()}: {_MEANING[first.stage]}"))
    if several:
        parts.append(Said("", f"Enter opens these {len(group.members):,}.", Tone.MUTED))
    elif first.rank is not None:
        parts += _rank(first.rank)
        parts += [_labelled("" if at else "calls", call(attempt)) for at, attempt in enumerate(first.attempts)]
        parts += _last(first.rank, now.document.text_at)
    return (*parts, *_findings(group, now))


def _labelled(label: str, value: str, tone: Tone = Tone.PLAIN) -> Said:
    return Said("", line(f"{label:<{_LABEL}}{value}"), tone)


def _story(group: Group) -> Iterator[Said]:
    first = group.first
    call_, wait = ("call", "wait") if len(group.members) > 1 else ("calls", "waits")
    since = _since(first) if len(group.members) == 1 else ""
    if first.plight is Plight.ABSENT:
        yield Said("?", "No line of it is in these logs: it did not start, or its log is missing here.", Tone.BAD)
    elif first.plight is Plight.CALLS and first.target:
        given = ", and gave up" if first.attempts[0].gave_up else ""
        whom = OTHERS if several_targets(group) else towards(first.target)
        yield Said("✗", f"{call_} {whom} in vain: {often(group)}{given}{since}", Tone.BAD)
    elif first.plight is Plight.FAILED:
        yield Said("✗", f"stopped with an error{since}; the lines before it say which", Tone.BAD)
    elif first.plight is Plight.WAITS:
        yield Said("…", f"{wait}{_for_whom(first)}{since}", Tone.PLAIN)


def _for_whom(one: Standing) -> str:
    if one.callers:
        return f" while {towards(one.callers)} cannot reach it"
    if one.target:
        return f", it seems, for {towards(one.target)}: NCCL goes on only when all have come so far"
    return ", and no line tells for whom"


def _since(one: Standing) -> str:
    if one.since is None:
        return ""
    lasted = f" for {wording.duration(one.lasted)}" if one.lasted else ""
    return f", since {one.clock}{lasted}" if one.clock else f", since line {one.since.line}"


def _rank(rank: Rank) -> Iterator[Said]:
    told = (rank.nccl, f"network {rank.network}" if rank.network else "", f"GPU {rank.device}" if rank.device else "")
    rows = (
        ("NCCL", ", ".join(filter(None, told))),
        ("bootstrap", _endpoint(rank.bootstrap) if rank.bootstrap else ""),
        ("data", ", ".join(map(_endpoint, rank.sockets))),
        ("settings", " ".join(f"{name}={value}" for name, value in rank.settings)),
    )
    yield from (_labelled(label, value) for label, value in rows if value)


def _endpoint(endpoint: Endpoint) -> str:
    return f"{endpoint.interface} {endpoint.address}"


def call(attempt: Attempt) -> str:
    """One connection that did not come about."""
    port = f" port {attempt.port}" if attempt.port else ""
    where = f"{attempt.address or 'an address that is not printed'}{port}"
    ended = ", gave up" if attempt.gave_up else ""
    many = f" {attempt.count}×" if attempt.count else ""
    link = f" ({_LINKS[attempt.link]})" if _LINKS.get(attempt.link) else ""
    return line(f"{where}: {result(attempt)}{many}{ended}{link}")


def _last(rank: Rank, text_at: Callable[[Where], str]) -> Iterator[Said]:
    yield _labelled("last line", f"{rank.last.source}:{rank.last.line}", Tone.MUTED)
    if text := text_at(rank.last)[:_EXCERPT].strip():
        yield _labelled("", text, Tone.MUTED)


def _findings(group: Group, now: Snapshot) -> Iterator[Said]:
    ranks = set(group.numbers)
    for finding in now.diagnosis.findings if now.diagnosis else ():
        if finding.severity is not Severity.INFO and not ranks.isdisjoint(finding.ranks):
            yield _labelled("finding", f"{finding.rule}: {finding.title}")


# The place as text ---------------------------------------------------------------------------------------------------


def text(now: Snapshot) -> str:
    """What is copied here, and what stands in a plain terminal: the line that counts, every group, those who are stuck
    in full.
    """
    told = counts(now)
    groups = now.roll.groups if now.roll else ()
    parts = [f"{told.sign} {told.text}"]
    if groups:
        rows = [("", *HEADINGS), *((row.sign, *row.texts) for row in map(cells, groups))]
        parts += ["", *_table(rows)]
    for group in groups[:_MOST]:
        if group.first.plight is not Plight.UP:
            parts += ["", *(f"{one.sign} {one.text}".strip() for one in details(group, now))]
    return "\n".join(parts) + "\n"


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        padded = (text + " " * (width - cell_len(text)) for text, width in zip(row, widths, strict=True))
        yield "  ".join(padded).rstrip()
