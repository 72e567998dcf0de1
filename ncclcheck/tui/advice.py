"""The sentences about findings and fixes: plain text from values. Pure; no colours, no widgets."""

from __future__ import annotations

import difflib
from itertools import islice

from ncclcheck.model import Edit, Finding, Fix, Node, Risk, Scope, Where
from ncclcheck.tui.document import Document, shown
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.wording import Said, Tone, line

EXCERPT = 240
"""Characters of an evidence line that a finding quotes; the log view shows the rest."""


def place(where: Where) -> str:
    """A place as compilers write it."""
    return line(f"{where.source}:{where.line}")


def excerpt(where: Where, text: Document) -> str:
    """An evidence line, cut to a length that can be read."""
    whole = text.text_at(where)
    return whole if len(whole) <= EXCERPT else f"{whole[:EXCERPT]}… (+{len(whole) - EXCERPT:,} characters)"


def who(fix: Fix) -> str:
    """Where a fix has to be made."""
    hosts = ", ".join(fix.hosts)
    if fix.scope is Scope.LAUNCHER:
        return "in the command that starts the job"
    if fix.scope is Scope.ALL_NODES:
        return line(f"on every node ({hosts})" if hosts else "on every node")
    return line(f"on {hosts}" if hosts else "on this node")


def settings(fix: Fix) -> tuple[str, ...]:
    """What a fix says to type or write, line by line."""
    env = tuple(f"{name}={value}" for name, value in fix.env)
    files = tuple(f"{file.path}: {text}" for file in fix.files for text in file.content.splitlines())
    return tuple(line(text) for text in (*(files or env), *fix.commands))


def appliable(fix: Fix) -> bool:
    """Whether ncclcheck can make this change itself."""
    return not unapplied(fix)


def unapplied(fix: Fix) -> str:
    """Why ncclcheck does not make this change itself; empty where it can."""
    if fix.scope is Scope.LAUNCHER:
        return "This goes into your own start command, so ncclcheck cannot make the change for you."
    if fix.risk is Risk.DISRUPTIVE:
        return "This disturbs running jobs, so it is left to you."
    if fix.risk is Risk.MANUAL or not (fix.files or fix.env):
        return "This is a step for a person; ncclcheck cannot make the change for you."
    return ""


def report(finding: Finding, text: Document) -> str:
    """A finding as plain text, to be copied."""
    parts = [f"{finding.title} [{finding.rule} {finding.cause}]", "", finding.explanation, "", "How we know:"]
    parts += [f"  {place(where)}: {excerpt(where, text)}" for where in finding.evidence]
    for fix in finding.fixes:
        parts += ["", f"What to do, {who(fix)}: {fix.title}", *(f"  {setting}" for setting in settings(fix))]
    if finding.not_proof_of:
        parts += ["", f"What this does not prove: {finding.not_proof_of}"]
    return "\n".join(shown(part) for part in "\n".join(parts).split("\n")) + "\n"


def diff(edit: Edit) -> tuple[str, ...]:
    """What changes in a file, as a unified diff without its two header lines."""
    before, after = (_decoded(edit.before), _decoded(edit.after))
    lines = difflib.unified_diff(before, after, lineterm="", n=2)
    return tuple(shown(text) for text in islice(lines, 2, None) if not text.startswith("@@"))


def _decoded(content: bytes | None) -> list[str]:
    return (content or b"").decode("utf-8", "replace").splitlines()


def heading(edit: Edit) -> str:
    """A file, and what happens to it."""
    if edit.before is None:
        return line(f"{edit.path} (new file)")
    return line(f"{edit.path} (will be removed)" if edit.after is None else edit.path)


def cautions(now: Snapshot, fix: Fix) -> tuple[str, ...]:
    """What somebody should know before saying yes."""
    names = {host for node in now.nodes for host in (node.name, *_host(now, node))}
    hosts = {rank.host for rank in now.diagnosis.job.ranks if rank.host} if now.diagnosis else set()
    strangers = sorted(hosts - names)
    found = []
    if strangers and not hosts & names:
        here = ", ".join(node.name for node in now.nodes)
        found.append(line(f"The log is from {', '.join(strangers)}, but this would be written on {here}."))
    if fix.scope is Scope.ALL_NODES and len(now.nodes) == 1:
        found.append("The other nodes need the same change: run ncclcheck there too, or copy the fix with c.")
    return tuple(found)


def _host(now: Snapshot, node: Node) -> tuple[str, ...]:
    facts = now.facts_of(node)
    return (facts.host,) if facts else ()


def fix_hint(now: Snapshot, *, appliable: bool, under_way: bool) -> Said:
    """What to do next in the fix dialog."""
    if under_way and now.busy:
        return Said("…", "Working. Esc goes back and the work goes on; x stops after the present step.", Tone.MUTED)
    if under_way and len(now.nodes) == 1 and now.changes:
        return Said(
            "→", "Written. Prove it: Esc, then s runs the speed test with the other node. u undoes.", Tone.STRONG
        )
    if under_way:
        return Said("→", "Esc goes back; u takes the change back.", Tone.MUTED)
    if appliable:
        return Said(
            "?", "Nothing is written yet. a writes this and proves it, Esc leaves everything as it is.", Tone.STRONG
        )
    return Said("→", "Nothing is written. c copies the fix, Esc goes back.", Tone.MUTED)
