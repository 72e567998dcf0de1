"""Change settings on a node: shown first, then applied, and undone as easily."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from ncclcheck.doctor.remote import ask
from ncclcheck.errors import ApplyError
from ncclcheck.fixes import apply as files
from ncclcheck.fixes import plan, record
from ncclcheck.fixes.plan import Change
from ncclcheck.model import Applied, Edit, Fix, Node
from ncclcheck.node import libnccl
from ncclcheck.node.environment import SITE_FILE, Sources, conf_files, conf_paths, here, settings, user_file
from ncclcheck.node.probing import environment_with
from ncclcheck.node.version import NEWEST

T = TypeVar("T")

_log = logging.getLogger(__name__)

_LIMIT = 60.0
_HERE = Node(name="")


@dataclass(frozen=True, slots=True)
class Preview:
    """What would change, and what to know before."""

    edits: tuple[Edit, ...]
    cautions: tuple[str, ...]


def preview(fix: Fix, node: Node, *, path: str | None = None) -> tuple[Edit, ...]:
    """The edits that a fix means on this node; ``path`` is the nccl.conf to change, else ``default_path``."""
    if node.prefix:
        return _ask(node, ["fix", "--json", "--from", "-", *_file(path)], tuple[Edit, ...], msgspec.json.encode(fix))
    edits = revise(plan.change_of(fix), path, node).edits if fix.env else ()
    beside = (plan.file_edit(file, files.read(file.path)) for file in plan.files_of(fix))
    return edits + tuple(edit for edit in beside if edit.before != edit.after)


def revise(change: Change, path: str | None = None, node: Node = _HERE) -> Preview:
    """The edit that a change means for one nccl.conf of this machine; no edit where all is so already."""
    env = environment_with(node.env)
    sources, nccl = here(env), version_here(env)
    chosen = path or default_path(sources, nccl)
    edit = plan.edit(chosen, files.read(chosen), change, nccl)
    found, _ = conf_files(sources, nccl)
    names = [*(name for name, _ in change.sets), *change.unsets]
    read = conf_paths(sources, nccl)
    return Preview(
        edits=(edit,) if edit.before != edit.after else (),
        cautions=plan.remarks(change, nccl) + plan.cautions(names, chosen, settings(env, found, nccl), read),
    )


def apply(edits: tuple[Edit, ...], node: Node) -> tuple[Applied, ...]:
    """Make the edits, all or none; on this machine ``ncclcheck fix --undo`` can take them back later."""
    if node.prefix:
        given = msgspec.json.encode(edits)
        return _ask(node, ["fix", "--json", "--apply", "--from", "-"], tuple[Applied, ...], given)
    applied = files.apply(edits)
    _keep_record(record.push, applied)
    return applied


def undo(applied: tuple[Applied, ...], node: Node) -> None:
    """Put the files back as they were, mode and owner included."""
    if node.prefix:
        _ask(node, ["fix", "--json", "--undo", "--from", "-"], tuple[Applied, ...], msgspec.json.encode(applied))
        return
    files.undo(applied)
    _keep_record(record.forget, applied)


def _keep_record(change: Callable[[str, tuple[Applied, ...]], None], applied: tuple[Applied, ...]) -> None:
    """A record that cannot be kept is no reason to take a good change back; the backup lies beside the file."""
    try:
        change(record.path_in(os.environ), applied)
    except ApplyError as error:
        _log.warning("ncclcheck fix --undo will not know of this: %s", error)


def undo_last() -> tuple[Applied, ...]:
    """Take back the newest change made on this machine; ApplyError where none is on record."""
    batches = record.load(record.path_in(os.environ))
    if not batches:
        raise nothing_to_undo()
    undo(batches[-1], _HERE)
    return batches[-1]


def nothing_to_undo() -> ApplyError:
    """That no change is on this machine's record."""
    return ApplyError("nothing was applied here that could be undone", place=record.path_in(os.environ))


def default_path(sources: Sources, nccl: str) -> str:
    """/etc/nccl.conf for root, who changes it for all; else one's own file, which NCCL reads first."""
    mine = user_file(sources, nccl)
    return mine if mine and os.geteuid() != 0 else SITE_FILE


def version_here(env: Mapping[str, str]) -> str:
    """The NCCL version whose reading of the file counts."""
    _, library = libnccl.choose(None, env)
    return (library.version if library else None) or NEWEST


def _ask(node: Node, arguments: list[str], type_: type[T], given: bytes) -> T:
    return ask(node, arguments, type_, _LIMIT, error=ApplyError, given=given)


def _file(path: str | None) -> list[str]:
    return ["--file", path] if path else []
