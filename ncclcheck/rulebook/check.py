"""Checks rule files against their own samples and against each other, and says what to write instead.

Nothing here is needed to run the rules; ``ncclcheck rules check`` and the tests ask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ncclcheck.errors import RuleError
from ncclcheck.rulebook.book import Book
from ncclcheck.rulebook.check_events import event_flaws
from ncclcheck.rulebook.check_rules import rule_flaws
from ncclcheck.rulebook.library import builtin_folder, user_folder
from ncclcheck.rulebook.load import decoded, label, rule_files, shape_of
from ncclcheck.rulebook.patterns import Flaw, file_flaws
from ncclcheck.rulebook.schema import EventFile, RuleSpec
from ncclcheck.rulebook.vocabulary import vocabulary

T = TypeVar("T")

_BUILTIN = builtin_folder().resolve()


@dataclass(frozen=True, slots=True)
class Checked:
    """What was looked at, and what is wrong with it."""

    events: int
    rules: int
    faults: tuple[RuleError, ...]


def check(folders: tuple[Path, ...] = ()) -> Checked:
    """All files of the folders, by default of the built-in and the user's; each fault says file, key and what to write.

    Folders besides the built-in one may use its events, and their rules must not take its ids. Raises RuleError for a
    folder that is not there.
    """
    wanted = tuple(map(_found, folders)) or (_BUILTIN, user_folder())
    read = dict.fromkeys((_BUILTIN, *wanted))
    faults: list[RuleError] = [*_strays(wanted)]
    event_files = _read(tuple(read), "events", EventFile, faults)
    rules = _read(tuple(read), "causes", RuleSpec, faults)
    shapes = tuple(shape for file in event_files.values() for shape in file.event)
    book = Book(tuple(map(shape_of, shapes)), rules, vocabulary(shapes))
    mine = {path for path in rule_files(wanted)}
    for path, file in event_files.items():
        if path in mine:
            faults += [_fault(path, flaw) for flaw in event_flaws(file, book)]
    for path, rule in rules.items():
        if path in mine:
            faults += [_fault(path, flaw) for flaw in rule_flaws(path, rule, book)]
    return Checked(
        events=sum(len(file.event) for path, file in event_files.items() if path in mine),
        rules=sum(path in mine for path in rules),
        faults=tuple(faults),
    )


def _read(folders: tuple[Path, ...], room: str, kind: Callable[..., T], faults: list[RuleError]) -> dict[Path, T]:
    """The sound files of a room; those whose patterns can't be run are faults, and no samples are tried on them."""
    found: dict[Path, T] = {}
    for path in rule_files(folders):
        if path.parent.name != room:
            continue
        try:
            file = decoded(path, kind)  # type: ignore[arg-type]
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
        raise RuleError("is no folder", place=str(folder), next_step="name the folder that holds events/ and causes/")
    return folder.resolve()


def _strays(folders: tuple[Path, ...]) -> Iterator[RuleError]:
    """Rules that lie beside the two rooms, where nobody reads them; the built-in folder has its tables there."""
    for folder in folders:
        for path in sorted(folder.glob("*.toml")) if folder != _BUILTIN else ():
            room = "events" if "[[event]]" in path.read_text(encoding="utf-8", errors="replace") else "causes"
            yield RuleError("is not read where it is", place=path.name, next_step=f"move it to {folder.name}/{room}/")


def _fault(path: Path, flaw: Flaw) -> RuleError:
    return RuleError(flaw.problem, place=f"{label(path)}, key {flaw.key}", next_step=flaw.instead)
