"""The sentences about findings and fixes: plain text from values. Pure; no colours, no widgets."""

from __future__ import annotations

import difflib
from itertools import islice

from ncclcheck.model import Edit, Finding, Fix, Node, Risk, Scope
from ncclcheck.printable import shell_word
from ncclcheck.tui.offers import worded
from ncclcheck.tui.outcomes import Activity
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.steps import Progress, undone
from ncclcheck.tui.text.document import Document, shown
from ncclcheck.tui.wording import Said, Tone, line

_EXCERPT = 240
"""Cells of a line that is quoted where there is room."""


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


def next_launcher(finding: Finding | None, launcher: str) -> str:
    """In whose words the finding's fixes are told after this launcher's."""
    from ncclcheck.doctor import finding_text  # There is none at the first paint.

    fix = worded(finding)
    return finding_text.next_launcher(fix, launcher) if fix else launcher


def report(finding: Finding, text: Document, launcher: str = "") -> str:
    """A finding as plain text, to be copied: what the command line says of it."""
    from ncclcheck.doctor.finding_text import Room, finding_rows, plain

    return plain(finding_rows(finding, text.text_at, Room(quote=_EXCERPT, launcher=launcher))) + "\n"


def copied_fix(now: Snapshot, fix: Fix) -> str:
    """A fix as plain text, with what to do on nodes that are not ours."""
    from ncclcheck.doctor.finding_text import Room, fix_rows, plain

    rows = plain(fix_rows(fix, Room(launcher=now.launcher)))
    return "\n".join((rows, *elsewhere(now, fix))) + "\n"


def elsewhere(now: Snapshot, fix: Fix) -> tuple[str, ...]:
    """What to run on the nodes that need the same change and are not ours; nothing where there are none."""
    if fix.scope is not Scope.ALL_NODES or len(now.nodes) > 1 or not fix.env:
        return ()
    words = " ".join(f"--set {shell_word(f'{name}={value}')}" for name, value in fix.env)
    others = ", ".join(line(host) for host in fix.hosts if host not in _own_names(now))
    return (
        f"On {others or 'every other node'}, the same change:",
        line(f"  ncclcheck fix {words} --apply"),
    )


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
    names = _own_names(now)
    hosts = {rank.host for rank in now.diagnosis.job.ranks if rank.host} if now.diagnosis else set()
    strangers = sorted(hosts - names)
    found = []
    if strangers and not hosts & names:
        here = ", ".join(node.name for node in now.nodes)
        found.append(line(f"The log is from {', '.join(strangers)}, but this would be written on {here}."))
    if elsewhere(now, fix):
        found.append("The job needs it on all nodes; what to run on the others stands below.")
    return tuple(found)


def _own_names(now: Snapshot) -> set[str]:
    return {host for node in now.nodes for host in (node.name, *_host(now, node))}


def _host(now: Snapshot, node: Node) -> tuple[str, ...]:
    facts = now.facts_of(node)
    return (facts.host,) if facts else ()


def outcome(now: Snapshot) -> Said | None:
    """What a fix that was ended before its end did, and what it did not; None where it came to its end or goes on."""
    steps = now.steps_of(Activity.FIX)
    left = [step for step in undone(steps) if step.progress is not Progress.FAILED]
    if now.busy or not left:
        return None
    done = sum(step.progress is Progress.DONE for step in steps)
    return Said("–", f"Not to its end: {done} of {len(steps)} steps. {_written(now)}.", Tone.WARNING)


def _written(now: Snapshot) -> str:
    changed = [change.node for change in now.changes]
    others = [planned.node for planned in now.plan or () if planned.edits and planned.node not in changed]
    if not changed:
        return "Nothing of it is on the nodes now"
    written, not_written = (", ".join(line(node.name) for node in nodes) for nodes in (changed, others))
    return f"The change is written on {written}" + (f", not on {not_written}" if others else "")


def fix_hint(now: Snapshot, *, appliable: bool, under_way: bool) -> Said:
    """What to do next in the fix dialog."""
    if under_way and now.busy:
        return Said("…", "Working. x ends it after the present step; Esc goes back, and the work goes on.", Tone.MUTED)
    if under_way and len(now.nodes) == 1 and now.changes:
        return Said(
            "→", "Written. Prove it: Esc, then s runs the speed test with the other node. u undoes.", Tone.STRONG
        )
    if under_way and now.changes:
        return Said("→", "Enter goes back; u takes the change back.", Tone.MUTED)
    if under_way:
        return Said("→", "Enter goes back; nothing of it is left on the nodes.", Tone.MUTED)
    if appliable:
        return Said(
            "?", "Nothing is written yet. a writes this and proves it, Esc leaves everything as it is.", Tone.STRONG
        )
    return Said("→", "Nothing is written. c copies the fix, Esc goes back.", Tone.MUTED)
