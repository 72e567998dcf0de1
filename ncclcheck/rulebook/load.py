"""Rule files → the rulebook. A broken file is reported with file and key and left out; the others still count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import tomli

from ncclcheck.errors import RuleError
from ncclcheck.logs.attempts import ConnectLines
from ncclcheck.logs.events import Shape, Shapes
from ncclcheck.logs.launcher import Launcher
from ncclcheck.logs.versions import version_of
from ncclcheck.rulebook.library import builtin_folder, user_folder
from ncclcheck.rulebook.schema import STRUCTURES, EventFile, EventShape, RuleSpec, advice

if TYPE_CHECKING:
    from ncclcheck.logs.catalogue import Catalogue

T = TypeVar("T")


@dataclass(frozen=True)
class Rulebook:
    """All that is known: line shapes, and rules over what they find."""

    shapes: Shapes
    rules: tuple[RuleSpec, ...]
    events: tuple[EventShape, ...]
    broken: tuple[RuleError, ...] = ()
    launchers: tuple[Launcher, ...] = ()


BETWEEN = "NC8"
"""How the ids of built-in rules about two sides begin: no log alone meets them, and its answer should not wait."""


def load(folders: tuple[Path, ...] | None = None, *, but: str = "") -> Rulebook:
    """The built-in rules and the user's own, or those in the folders given.

    Built-in ones whose id begins with ``but`` are left out; their ids stay taken.
    """
    events: list[EventShape] = []
    shapes: list[Shape] = []
    rules: list[RuleSpec] = []
    broken: list[RuleError] = []
    taken: dict[str, str] = {}
    for path in rule_files(folders or (builtin_folder(), user_folder())):
        if but and path.name.startswith(but) and _comes_along(path):
            number, _, name = path.stem.partition("-")
            taken[number] = name
            continue
        try:
            if path.parent.name == "events":
                found = _sound(path, decoded(path, EventFile)).event
                events.extend(found)
                shapes.extend(shape_of(event, checked=_comes_along(path)) for event in found)
            else:
                rules.append(_sound(path, decoded(path, RuleSpec)))
        except RuleError as error:
            broken.append(error)
    return Rulebook(Shapes(shapes), _once(rules, broken, taken), tuple(events), tuple(broken), load_launchers())


def rule_files(folders: tuple[Path, ...]) -> Iterator[Path]:
    """The files of ``events`` and ``causes`` in each folder."""
    for folder in folders:
        for room in ("events", "causes"):
            yield from sorted((folder / room).glob("*.toml"))


def file_of(rule: RuleSpec, folders: Sequence[Path] = ()) -> Path:
    """The file that a rule was read from, in the usual folders or in those given."""
    places = rule_files((builtin_folder(), user_folder(), *folders))
    return next(path for path in places if path.parent.name == "causes" and toml(path).get("id") == rule.id)


def label(path: Path) -> str:
    """A rule file's name as errors give it: ``causes/NC101-wrong-interface.toml``."""
    return "/".join(path.parts[-2:])


def decoded(path: Path, kind: type[T], structures: tuple[type[msgspec.Struct], ...] = STRUCTURES) -> T:
    """The file as the structure it must be; raises RuleError with file and key.

    ``structures`` are all that may stand in such a file; a misspelt key is compared with theirs.
    """
    try:
        return msgspec.convert(toml(path), kind)
    except msgspec.ValidationError as error:
        problem, _, key = str(error).partition(" - at ")
        where = f"{label(path)}, key {key.strip('`').removeprefix('$.')}" if key else label(path)
        raise RuleError(problem, place=where, next_step=advice(problem, structures)) from error


def toml(path: Path) -> dict[str, Any]:
    """The file's tables; raises RuleError for what is no TOML."""
    try:
        tree: dict[str, Any] = tomli.loads(path.read_text(encoding="utf-8"))
        return tree
    except (OSError, UnicodeDecodeError) as error:
        raise RuleError(str(error), place=label(path), next_step="save it as UTF-8, readable by you") from error
    except tomli.TOMLDecodeError as error:
        hint = "write patterns between ''' and ''', where a backslash is only a backslash"
        raise RuleError(f"is not TOML: {error}", place=label(path), next_step=hint) from error


def _comes_along(path: Path) -> bool:
    return path.parent.parent == builtin_folder()


def _sound(path: Path, file: T) -> T:
    """A stranger's patterns must not bring an analysis down; the built-in ones are checked before they are shipped."""
    if not _comes_along(path):
        from ncclcheck.rulebook.patterns import file_flaws

        for flaw in file_flaws(file):
            raise RuleError(flaw.problem, place=f"{label(path)}, key {flaw.key}", next_step=flaw.instead)
    return file


def shape_of(event: EventShape, *, checked: bool = False) -> Shape:
    """The shape that logs are searched with; ``checked`` where its pattern is known to be quick."""
    return Shape(event.kind, event.literal, event.pattern, tuple(event.fields.items()), event.repeated, checked)


def _once(rules: list[RuleSpec], broken: list[RuleError], taken: dict[str, str]) -> tuple[RuleSpec, ...]:
    """The first rule of each id; ``taken`` are names by the ids that are nobody's to use."""
    kept: list[RuleSpec] = []
    for rule in rules:
        if rule.id in taken:
            broken.append(RuleError(f"the id {rule.id} is taken by {taken[rule.id]}", place=rule.name))
        else:
            taken[rule.id] = rule.name
            kept.append(rule)
    return tuple(kept)


def load_connects() -> tuple[ConnectLines, ...]:
    """The line numbers of NCCL's three connects by version, from ``rules/connects.toml``."""
    tree = tomli.loads((builtin_folder() / "connects.toml").read_text(encoding="utf-8"))
    return tuple(
        ConnectLines(
            first=version_of(row["first"]) or (),
            last=version_of(row["last"]) or (),
            callback=row["callback"],
            root=row["root"],
            ring=row["ring"],
        )
        for row in tree["connect"]
    )


def load_launchers() -> tuple[Launcher, ...]:
    """How each launcher shows itself and passes settings on, from ``rules/launchers.toml``."""
    return msgspec.convert(toml(builtin_folder() / "launchers.toml")["launcher"], tuple[Launcher, ...])


def load_messages() -> Catalogue:
    """NCCL's own messages, from ``rules/messages.jsonl``; read only when a line needs them."""
    from ncclcheck.logs.catalogue import Catalogue, Message

    lines = (builtin_folder() / "messages.jsonl").read_bytes().splitlines()
    return Catalogue([msgspec.json.decode(line, type=Message) for line in lines])
