"""A setup in Markdown, to be kept or handed on: what was done and changed, what was measured, how to start. Pure.

Names and texts of other nodes are strangers': they are shown as text, never as markup.
"""

from __future__ import annotations

from collections.abc import Iterator

from ncclcheck.doctor.finding_text import fix_rows, plain
from ncclcheck.doctor.setup.state import NodeCommand, Remedy, Setup, Stage, State
from ncclcheck.doctor.setup.values import setting
from ncclcheck.markdown import fence, text_of
from ncclcheck.model import Applied, Baseline, Pattern, SpeedTest
from ncclcheck.speedtest.worker.words import size_words

_MARKS = {State.DONE: "done", State.FAILED: "FAILED", State.SKIPPED: "left out"}


def summary(setup: Setup) -> str:
    """The whole page."""
    blocks = [f"# {_headline(setup)}", _nodes(setup), *_speed(setup), *_ddp(setup), *_commands(setup)]
    blocks += [*_steps(setup), *_changes(setup), *_hits(setup)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _headline(setup: Setup) -> str:
    if setup.done:
        return f"{setup.choices.nodes} nodes, ready to train"
    failed = setup.failed
    return f"Not ready yet: {text_of(failed[0].title)}" if failed else "Not ready yet"


def _nodes(setup: Setup) -> str:
    rows = [f"- Place: {text_of(setup.place.title)}{_why(setup)}", f"- Launcher: {text_of(setup.launcher.title)}"]
    for rank, one in enumerate(setup.evidence.use):
        rows.append(f"- Node {rank}: {text_of(one.host)} uses {text_of(one.interface)} ({text_of(one.address)})")
    if setup.evidence.port:
        found = setup.evidence.port
        rows.append(f"- Ranks meet at {text_of(found.address)}, port {found.port}")
    if setup.evidence.shook and setup.evidence.shook.passed:
        rows.append(f"- NCCL {text_of(setup.evidence.shook.nccl)}'s own handshake passes with the settings as they are")
    return "\n".join(rows)


def _why(setup: Setup) -> str:
    return f" ({'; '.join(map(text_of, setup.choices.why))})" if setup.choices.why else ""


def _speed(setup: Setup) -> Iterator[str]:
    test = setup.evidence.test
    if test is None or not test.passed:
        return
    yield "## Measured"
    yield f"With {text_of(test.backend)} over {text_of(test.interface or 'the interface that it chose')}:"
    yield "\n".join(_table(test))
    if test.latency:
        yield f"Latency: {test.latency * 1e6:.0f} µs for 8 bytes."
    if test.baseline and test.baseline.rate:
        yield _plain(test.baseline, test.baseline.rate)


def _table(test: SpeedTest) -> Iterator[str]:
    yield "| pattern | message | GB/s | Gbit/s |"
    yield "|---|---|---|---|"
    for pattern in Pattern:
        if best := test.best(pattern):
            yield f"| {pattern.value} | {size_words(best.size)} | {best.busbw:.3g} | {8 * best.busbw:.3g} |"


def _plain(baseline: Baseline, rate: float) -> str:
    return f"Plain TCP over the same interfaces: {rate:.3g} GB/s ({8 * rate:.3g} Gbit/s), by {text_of(baseline.tool)}."


def _ddp(setup: Setup) -> Iterator[str]:
    proof = setup.evidence.ddp.ddp if setup.evidence.ddp else None
    if proof and proof.same:
        yield (
            f"A small model was trained over DDP: {proof.steps} steps on {proof.ranks} ranks, "
            f"{proof.step_seconds * 1e3:.1f} ms a step; all ranks had the same weights at the end."
        )


def _commands(setup: Setup) -> Iterator[str]:
    if not setup.commands:
        return
    yield "## Start your own training"
    for host in dict.fromkeys(one.host for one in setup.commands):
        lines = [one for one in setup.commands if one.host == host]
        yield f"On {text_of(host)} (node {lines[0].rank}):"
        yield fence(_lines(lines), "sh")
        if needed := setting(setup, host):
            yield f"This node needs in the environment of every worker: {text_of(needed)}"


def _lines(lines: list[NodeCommand]) -> Iterator[str]:
    for one in lines:
        yield f"# {one.title}"
        yield from one.command.splitlines()


def _steps(setup: Setup) -> Iterator[str]:
    yield "## What was done"
    yield "\n".join(_step(one) for one in setup.stages)


def _step(stage: Stage) -> str:
    mark = _MARKS.get(stage.state, "not done")
    told = stage.reason if stage.state is State.SKIPPED else "; ".join(stage.said)
    return f"- {text_of(stage.title)}: {mark}{f' ({text_of(told)})' if told else ''}"


def _changes(setup: Setup) -> Iterator[str]:
    if setup.applied:
        yield "## What was written on this node"
        yield "\n".join(map(_change, setup.applied))
        yield "`ncclcheck setup --undo` puts it back as it was."


def _change(applied: Applied) -> str:
    before = f"the old one is kept as {text_of(applied.backup)}" if applied.backup else "it is new"
    return f"- {text_of(applied.path)}, {applied.time}; {before}"


def _hits(setup: Setup) -> Iterator[str]:
    """Everything that went wrong on the way, with what mends it."""
    if setup.hits:
        yield "## What was found wrong on the way"
        for remedy in setup.hits:
            yield from _hit(remedy)


def _hit(remedy: Remedy) -> Iterator[str]:
    rule = f" ({remedy.rule})" if remedy.rule else ""
    yield f"**{text_of(remedy.title or remedy.problem)}**{rule}"
    if remedy.fixes:
        yield fence(line for fix in remedy.fixes for line in plain(fix_rows(fix)).splitlines())
