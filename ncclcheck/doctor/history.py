"""The use case "what was changed here, and what would taking it back write?": every change that fixes made.

The record of this machine is read; what a fix changed on another node during this session is asked for there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from ncclcheck.doctor.remote import ask
from ncclcheck.errors import ApplyError
from ncclcheck.fixes import record
from ncclcheck.fixes.apply import digest, read
from ncclcheck.model import Applied, Edit, Node

HERE = Node(name="this machine")
_LIMIT = 60.0
_LOST = "What stood there before is lost: its backup is gone."
_LATER = "A later change of ours is on top of it: take that one back first."
_OTHERS = "Somebody has changed the file since; taking it back would lose that."

Batch = tuple[Applied, ...]


@dataclass(frozen=True, slots=True)
class Review:
    """One batch of changes, looked at again."""

    edits: tuple[Edit, ...]
    """What was written, as far as anybody still has it."""
    back: tuple[Edit, ...]
    """What taking it back would write."""
    refusal: str = ""
    """Why it cannot be taken back; empty where it can."""


@dataclass(frozen=True, slots=True)
class Made:
    """A change that a fix made, and that nobody took back yet."""

    node: Node
    applied: Batch
    review: Review

    @property
    def time(self) -> str:
        """When, ISO 8601, UTC."""
        return self.applied[0].time if self.applied else ""


def changes(session: Sequence[tuple[Node, Batch]] = ()) -> tuple[Made, ...]:
    """All changes, the newest first: those on this machine's record, and those that this session made elsewhere.

    Raises ApplyError where the record is damaged.
    """
    kept = record.load(record.path_in(os.environ))
    own = {applied: node for node, applied in session if not node.prefix}
    batches = [*kept, *(applied for applied in own if applied not in kept)]
    told = zip(batches, reviews(batches), strict=True)
    here = (Made(own.get(batch, HERE), batch, review) for batch, review in told if batch)
    there = (Made(node, applied, _far(node, applied)) for node, applied in session if node.prefix and applied)
    # Sorting is stable: of one second, what was made last stays last.
    return tuple(reversed(sorted((*here, *there), key=lambda made: made.time)))


def reviews(batches: Sequence[Batch]) -> tuple[Review, ...]:
    """Each batch on this machine, given all of them from the oldest to the newest."""
    found: list[Review] = []
    below: dict[str, bytes | None] = {}
    for batch in reversed(batches):
        found.append(_review(batch, below))
    return tuple(reversed(found))


def _review(batch: Batch, below: dict[str, bytes | None]) -> Review:
    """``below`` is what each file held before the changes that came after this batch."""
    edits: list[Edit] = []
    refusals: list[str] = []
    later = frozenset(below)
    for change in reversed(batch):
        try:
            edits.append(_edit(change, below))
            refusals += _refusal(change, edits[-1], later)
            below[change.path] = edits[-1].before
        except ApplyError as error:
            refusals.append(str(error))
    edits.reverse()
    back = tuple(Edit(edit.path, edit.after, edit.before) for edit in reversed(edits))
    return Review(tuple(edits), back, refusals[0] if refusals else "")


def _edit(change: Applied, below: Mapping[str, bytes | None]) -> Edit:
    after = below[change.path] if change.path in below else read(change.path)
    return Edit(change.path, read(change.backup) if change.backup else None, after)


def _refusal(change: Applied, edit: Edit, later: frozenset[str]) -> Iterator[str]:
    if change.path in later:
        yield _LATER
    elif digest(edit.after) != change.digest:
        yield _OTHERS
    if change.backup and edit.before is None:
        yield _LOST


def _far(node: Node, applied: Batch) -> Review:
    arguments = ["fix", "--json", "--undo", "--show", "--from", "-"]
    try:
        return ask(node, arguments, Review, _LIMIT, error=ApplyError, given=msgspec.json.encode(applied))
    except ApplyError as error:
        return Review((), (), str(error))
