"""Checks rules and guides against their own samples and against each other, and says what to write instead.

Nothing here is needed to run the rules; ``ncclcheck rules check`` and the tests ask.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ncclcheck.errors import RuleError
from ncclcheck.rulebook import guide_schema, schema
from ncclcheck.rulebook.book import Book
from ncclcheck.rulebook.check_events import event_flaws
from ncclcheck.rulebook.check_rules import rule_flaws
from ncclcheck.rulebook.guide_check import Shelf, guide_flaws, shelf, translation_flaws
from ncclcheck.rulebook.guide_schema import Guide, GuideTexts
from ncclcheck.rulebook.guides import guide_files, translation_files
from ncclcheck.rulebook.library import builtin_folder, user_folder
from ncclcheck.rulebook.load import decoded, label, rule_files, shape_of
from ncclcheck.rulebook.patterns import Flaw, file_flaws
from ncclcheck.rulebook.schema import EventFile, RuleSpec
from ncclcheck.rulebook.vocabulary import vocabulary

T = TypeVar("T")

_SIGNS = {"[[event]]": "events", "[[step]]": "guides"}
"""What tells the room of a file."""
_BUILTIN = builtin_folder().resolve()


@dataclass(frozen=True, slots=True)
class Checked:
    """What was looked at, and what is wrong with it."""

    events: int
    rules: int
    guides: int
    faults: tuple[RuleError, ...]
    undone: tuple[str, ...] = ()
    """What could not be looked at here, and what is missing for it."""


def check(folders: tuple[Path, ...] = ()) -> Checked:
    """All files of the folders, by default of the built-in and the user's; each fault says file, key and what to write.

    Folders besides the built-in one may use its events, and their rules must not take its ids. Raises RuleError for a
    folder that is not there.
    """
    wanted = tuple(map(_found, folders)) or (_BUILTIN, user_folder())
    read = tuple(dict.fromkeys((_BUILTIN, *wanted)))
    faults: list[RuleError] = [*_strays(wanted)]
    event_files = _read(_of_room(rule_files(read), "events"), EventFile, faults)
    rules = _read(_of_room(rule_files(read), "causes"), RuleSpec, faults)
    shapes = tuple(shape for file in event_files.values() for shape in file.event)
    book = Book(tuple(map(shape_of, shapes)), rules, vocabulary(shapes))
    mine = {path for path in rule_files(wanted)}
    for path, file in event_files.items():
        if path in mine:
            faults += [_fault(path, flaw) for flaw in event_flaws(file, book)]
    for path, rule in rules.items():
        if path in mine:
            faults += [_fault(path, flaw) for flaw in rule_flaws(path, rule, book)]
    known = _guides(read, wanted, frozenset(rule.id for rule in rules.values()), faults)
    guides = [path for path in known.guides if path.parents[1] in wanted]
    return Checked(
        events=sum(len(file.event) for path, file in event_files.items() if path in mine),
        rules=sum(path in mine for path in rules),
        guides=len(guides),
        faults=tuple(faults),
        undone=known.undone(guides),
    )


def _guides(read: tuple[Path, ...], wanted: tuple[Path, ...], rules: frozenset[str], faults: list[RuleError]) -> Shelf:
    """The guides, and the faults of those that are wanted and of their translations."""
    known = shelf(_read(guide_files(read), Guide, faults), rules)
    for path, guide in known.guides.items():
        if path.parents[1] in wanted:
            faults += [_fault(path, flaw) for flaw in guide_flaws(path, guide, known)]
    for path, texts in _read(translation_files(wanted), GuideTexts, faults).items():
        faults += [_fault(path, flaw) for flaw in translation_flaws(path, texts, known)]
    return known


def _of_room(paths: Iterable[Path], room: str) -> Iterator[Path]:
    return (path for path in paths if path.parent.name == room)


def _read(paths: Iterable[Path], kind: type[T], faults: list[RuleError]) -> dict[Path, T]:
    """The sound files of a kind; those whose patterns can't be run are faults, and no samples are tried on them."""
    structures = guide_schema.STRUCTURES if kind in (Guide, GuideTexts) else schema.STRUCTURES
    found: dict[Path, T] = {}
    for path in paths:
        try:
            file = decoded(path, kind, structures)
        except RuleError as error:
            faults.append(error)
            continue
        flaws = [_fault(path, flaw) for flaw in file_flaws(file)]
        faults += flaws
        if not flaws:
            found[path] = file
    return found


def _found(folder: Path) -> Path:
    if not folder.is_dir():
        raise RuleError(
            "is no folder", place=str(folder), next_step="name the folder that holds events/, causes/ or guides/"
        )
    return folder.resolve()


def _strays(folders: tuple[Path, ...]) -> Iterator[RuleError]:
    """Rules that lie beside the rooms, where nobody reads them; the built-in folder has its tables there."""
    for folder in folders:
        for path in sorted(folder.glob("*.toml")) if folder != _BUILTIN else ():
            text = path.read_text(encoding="utf-8", errors="replace")
            room = next((room for sign, room in _SIGNS.items() if sign in text), "causes")
            yield RuleError("is not read where it is", place=path.name, next_step=f"move it to {folder.name}/{room}/")


def _fault(path: Path, flaw: Flaw) -> RuleError:
    return RuleError(flaw.problem, place=f"{label(path)}, key {flaw.key}", next_step=flaw.instead)
