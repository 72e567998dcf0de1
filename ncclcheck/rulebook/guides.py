"""Guides from files, the ones that apply here, and the one row of steps that three of them make.

The row: what the place asks for, what is the same everywhere, how the person's own program is started.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from ncclcheck.errors import RuleError
from ncclcheck.rulebook.guide_fill import without_placeholders
from ncclcheck.rulebook.guide_schema import STRUCTURES, Guide, GuideKind, GuideTexts, Step, StepTexts
from ncclcheck.rulebook.library import builtin_folder, user_folder
from ncclcheck.rulebook.load import decoded, label

if TYPE_CHECKING:
    from ncclcheck.model import Hint

S = TypeVar("S", bound=msgspec.Struct)

ROOM = "guides"
"""The folder among the rules that holds them."""
ANYWHERE = "linux"
"""The place that fits where no other does."""
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:_[A-Z]{2})?")


@dataclass(frozen=True, slots=True)
class Guides:
    """All guides, by what they are for."""

    places: tuple[Guide, ...]
    launchers: tuple[Guide, ...]
    common: Guide

    def place(self, name: str) -> Guide:
        """The guide of a provider or a platform; raises RuleError with the names there are."""
        return _named(name, self.places, "--provider")

    def launcher(self, name: str) -> Guide:
        """The guide of a launcher; raises RuleError with the names there are."""
        return _named(name, self.launchers, "--launcher")


@dataclass(frozen=True, slots=True)
class Planned:
    """A step in its row, with the guide that it is from."""

    guide: str
    step: Step

    @property
    def id(self) -> str:
        """A name that no other step in the row has: ``vast/overlay``."""
        return f"{self.guide}/{self.step.id}"


def load_guides(folder: Path | None = None, lang: str = "") -> Guides:
    """The guides that come with the program and the user's own, or those of a folder that holds ``guides/``.

    ``lang`` (``de``, ``pt_BR``) lays texts of that language over the English ones, as far as there are some. Raises
    RuleError with file and key for the first that is broken, and for a language that nobody has begun.
    """
    folders = (builtin_folder(), user_folder()) if folder is None else (folder,)
    named: dict[str, Guide] = {}
    for path in guide_files(folders):
        guide = _sound(path, decoded(path, Guide, STRUCTURES))
        if guide.name in named:
            instead = "give it a name of its own"
            raise RuleError(
                f"there is a guide {guide.name} already", place=f"{label(path)}, key name", next_step=instead
            )
        named[guide.name] = guide
    for name, texts in _translations(folders, lang):
        if name in named:
            named[name] = in_language(named[name], texts)
    return _by_kind(tuple(named.values()), folders)


def guide_files(folders: Iterable[Path]) -> Iterator[Path]:
    """The files of the guides themselves in each folder, without translations."""
    for folder in folders:
        yield from sorted((folder / ROOM).glob("*.toml"))


def translation_files(folders: Iterable[Path]) -> Iterator[Path]:
    """The files of all translations in each folder."""
    for folder in folders:
        yield from sorted((folder / ROOM).glob("*/*.toml"))


def _sound(path: Path, guide: Guide) -> Guide:
    """A stranger's guide must make a row that can be gone through; the built-in ones are checked before they ship."""
    if path.parent.parent != builtin_folder():
        from ncclcheck.rulebook.guide_form import form_flaws

        for flaw in form_flaws(path, guide):
            raise RuleError(flaw.problem, place=f"{label(path)}, key {flaw.key}", next_step=flaw.instead)
    return guide


def _by_kind(guides: Sequence[Guide], folders: Sequence[Path]) -> Guides:
    kinds: dict[GuideKind, list[Guide]] = {"place": [], "common": [], "launcher": []}
    for guide in guides:
        kinds[guide.kind].append(guide)
    if len(kinds["common"]) != 1:
        problem = f"{len(kinds['common'])} guides are of the kind common, not one"
        raise RuleError(problem, place=str(folders[0] / ROOM), next_step="nodes.toml is the one")
    return Guides(tuple(kinds["place"]), tuple(kinds["launcher"]), kinds["common"][0])


def _named(name: str, guides: Sequence[Guide], option: str) -> Guide:
    names = [guide.name for guide in guides]
    if name in names:
        return guides[names.index(name)]
    raise RuleError(f"there is no guide {name}", place=option, next_step=_every(names))


def _every(names: Iterable[str]) -> str:
    known = sorted(names)
    return f"one of: {', '.join(known)}" if known else "there are none"


def _translations(folders: Sequence[Path], lang: str) -> Iterator[tuple[str, GuideTexts]]:
    if lang in ("", "en"):
        return
    known = {path.parent.name for path in translation_files(folders)}
    if not _LANGUAGE.fullmatch(lang) or lang not in known:
        advice = f"one of: {', '.join(sorted({'en', *known}))}"
        raise RuleError(f"no guide is in the language {lang}", place="--lang", next_step=advice)
    for path in translation_files(folders):
        if path.parent.name == lang:
            yield path.stem, decoded(path, GuideTexts, STRUCTURES)


def in_language(guide: Guide, texts: GuideTexts) -> Guide:
    """The guide with these texts where there are some; what it does stays as it is."""
    by_id = {step.id: step for step in texts.step}
    steps = tuple(_step_in_language(step, by_id[step.id]) if step.id in by_id else step for step in guide.step)
    return _with(guide, {"title": texts.title, "text": texts.text, "terms": texts.terms, "step": steps})


def _step_in_language(step: Step, texts: StepTexts) -> Step:
    words = {name: getattr(texts, name) for name in ("title", "text", "proves", "skip", "undo")}
    ask = {
        name: _with(question, {"question": texts.ask[name].question}) if name in texts.ask else question
        for name, question in step.ask.items()
    }
    translated = len(texts.check)
    check = tuple(
        _with(check, {"fails": texts.check[place].fails}) if place < translated else check
        for place, check in enumerate(step.check)
    )
    return _with(step, {**words, "ask": ask, "check": check})


def _with(value: S, texts: Mapping[str, Any]) -> S:
    """The structure with those of the texts that say something."""
    return msgspec.structs.replace(value, **{name: text for name, text in texts.items() if text})


def guess(guides: Guides, hints: tuple[Hint, ...]) -> tuple[tuple[Guide, tuple[str, ...]], ...]:
    """The place guides whose signs are here, each with the evidence: providers, then runtimes, then ``linux``."""
    found: dict[str, list[str]] = {}
    for hint in sorted(hints, key=lambda hint: hint.role != "provider"):
        for guide in guides.places:
            if hint.name in guide.places:
                found.setdefault(guide.name, []).extend(hint.evidence)
    found.pop(ANYWHERE, None)
    return (*((guides.place(name), tuple(lines)) for name, lines in found.items()), (guides.place(ANYWHERE), ()))


def plan(place: Guide, common: Guide, launcher: Guide) -> tuple[Planned, ...]:
    """The steps of all three in one row: in this order, but none before those that it needs.

    A step that names none follows the one above it in its file. Raises RuleError where needs go in a circle.
    """
    waiting = [
        (Planned(guide.name, step), needed(guide, step, common))
        for guide in (place, common, launcher)
        for step in guide.step
    ]
    row: dict[str, Planned] = {}
    while waiting:
        ready = next((planned for planned, needs in waiting if needs <= row.keys()), None)
        if ready is None:
            problem = f"a step needs one that never comes: {waiting[0][0].id}"
            raise RuleError(problem, place=ROOM, next_step="ncclcheck rules check tells which")
        row[ready.id] = ready
        waiting = [(planned, needs) for planned, needs in waiting if planned is not ready]
    return tuple(row.values())


def needed(guide: Guide, step: Step, common: Guide) -> frozenset[str]:
    """The steps that come before a step, as ``guide/step``: its own guide's by that name, else the common one's."""
    own = [other.id for other in guide.step]
    if step.needs:
        return frozenset(f"{guide.name if need in own else common.name}/{need}" for need in step.needs)
    place = own.index(step.id)
    return frozenset({f"{guide.name}/{own[place - 1]}"} if place else ())


def first_uses(texts: Iterable[str], terms: Mapping[str, str]) -> Iterator[tuple[tuple[str, str], ...]]:
    """For each text, the terms that first stand there, with what they mean."""
    waiting = {term: re.compile(rf"(?<!\w){re.escape(term)}s?(?!\w)", re.IGNORECASE) for term in terms}
    for text in texts:
        plain = " ".join(without_placeholders(text).split())
        here = tuple((term, terms[term]) for term, pattern in waiting.items() if pattern.search(plain))
        for term, _ in here:
            del waiting[term]
        yield here
