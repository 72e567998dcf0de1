"""Checks rules: their names, the words that they use, their advice, and that they speak on their samples alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from ncclcheck.errors import RuleError
from ncclcheck.model import Finding
from ncclcheck.rulebook.book import Book
from ncclcheck.rulebook.load import label
from ncclcheck.rulebook.patterns import Flaw
from ncclcheck.rulebook.schema import Also, Condition, FixSpec, JobSample, Match, RuleSpec, nearest
from ncclcheck.rulebook.template import leftovers, placeholders

_ID = re.compile(r"NC\d{3}")
_SWITCHED_OFF = re.compile(r"NCCL_(?:IB|P2P|SHM)_DISABLE=1")


def rule_flaws(path: Path, rule: RuleSpec, book: Book) -> Iterator[Flaw]:
    """What is wrong with a rule; its samples are tried only where its words are right, or they would fail for that."""
    yield from _name_flaws(path, rule, book)
    yield from _explains_flaws(rule, book)
    words = [*_match_flaws(rule, book), *_text_flaws(rule, book)]
    yield from words
    for number, fix in enumerate(rule.fix):
        yield from _advice_flaws(f"fix[{number}]", fix)
    if not words:
        yield from _sample_flaws(rule, book)


def _name_flaws(path: Path, rule: RuleSpec, book: Book) -> Iterator[Flaw]:
    if not _ID.fullmatch(rule.id):
        yield Flaw("id", f"{rule.id!r} is no id", "NC and three digits, your own from NC950 on")
    elif not path.name.startswith(f"{rule.id}-"):
        yield Flaw("id", f"{rule.id} is in a file that is not called so", f"name the file {rule.id}-{rule.name}.toml")
    for other, taken in book.rules.items():
        if other != path and taken.id == rule.id:
            yield Flaw("id", f"the id {rule.id} is taken by {label(other)}", "an id of its own, yours from NC950 on")
    if rule.cause not in book.words.causes:
        yield Flaw("cause", f"{rule.cause!r} is no cause", nearest(rule.cause, book.words.causes))


def _explains_flaws(rule: RuleSpec, book: Book) -> Iterator[Flaw]:
    known = {other.id: other.explains for other in book.rules.values()}
    for echo in rule.explains:
        if echo not in known:
            yield Flaw("explains", f"there is no rule {echo}", nearest(echo, known))
    if rule.id in _reached(rule.explains, known):
        yield Flaw(
            "explains", f"{rule.id} explains itself, or a rule that explains it", "only the root explains the other"
        )


def _reached(start: tuple[str, ...], known: Mapping[str, tuple[str, ...]]) -> set[str]:
    reached: set[str] = set()
    waiting = list(start)
    while waiting:
        rule = waiting.pop()
        if rule not in reached:
            reached.add(rule)
            waiting.extend(known.get(rule, ()))
    return reached


def _match_flaws(rule: RuleSpec, book: Book) -> Iterator[Flaw]:
    if not rule.match:
        yield Flaw("match", "nothing is looked for", "at least one [[match]]")
    for number, match in enumerate(rule.match):
        key = f"match[{number}]"
        yield from _where_flaws(key, match, book)
        for kind, group in (("with", match.with_), ("without", match.without)):
            for place, also in enumerate(group):
                yield from _also_flaws(f"{key}.{kind}[{place}]", match, also, book)
    every = {name for match in rule.match for name in _attributes(match, book)}
    yield from _unknown_names("by", set(rule.by) - every, every)


def _also_flaws(key: str, match: Match, also: Also, book: Book) -> Iterator[Flaw]:
    yield from _where_flaws(key, also, book)
    for word, names in (("same", also.same), ("differ", also.differ)):
        both = set(_own(match, book)) & set(_own(also, book))
        yield from _unknown_names(f"{key}.{word}", set(names) - both, both)


def _where_flaws(key: str, sought: Match | Also, book: Book) -> Iterator[Flaw]:
    known = _own(sought, book)
    yield from _unknown_names(f"{key}.where", set(sought.where) - known, known)
    if sought.subject == "event":
        for kind in _kinds(sought.where):
            if kind not in book.words.fields:
                yield Flaw(f"{key}.where.kind", f"no line shape is of kind {kind}", nearest(kind, book.words.fields))


def _unknown_names(key: str, names: set[str], known: set[str]) -> Iterator[Flaw]:
    for name in sorted(names):
        yield Flaw(key, f"there is no attribute {name}", nearest(name, known))


def _kinds(where: Mapping[str, Condition]) -> tuple[str, ...]:
    kinds = where.get("kind")
    if isinstance(kinds, str):
        return (kinds,)
    return tuple(kind for kind in kinds if isinstance(kind, str)) if isinstance(kinds, tuple) else ()


def _own(sought: Match | Also, book: Book) -> set[str]:
    return book.words.attributes(sought.subject, _kinds(sought.where))


def _attributes(match: Match, book: Book) -> set[str]:
    """The attributes of a hit: the subject's own, and those of what must be there beside it."""
    beside = {f"{also.name or also.subject}.{name}" for also in match.with_ for name in _own(also, book)}
    return _own(match, book) | beside


def _text_flaws(rule: RuleSpec, book: Book) -> Iterator[Flaw]:
    known = {name for match in rule.match for name in _attributes(match, book)}
    for key, text in _texts(rule):
        yield from _unknown_names(key, set(placeholders(text)) - known, known)
        if stray := leftovers(text, commands=".commands" in key):
            yield Flaw(key, f"{stray} is no placeholder", "{name}, or {name|other|these words}, without blanks")
    for number, fix in enumerate(rule.fix):
        yield from _unknown_names(f"fix[{number}].when", set(fix.when) - known, known)


def _texts(rule: RuleSpec) -> Iterator[tuple[str, str]]:
    yield from (("title", rule.title), ("explanation", rule.explanation), ("not_proof_of", rule.not_proof_of))
    for number, fix in enumerate(rule.fix):
        key = f"fix[{number}]"
        yield f"{key}.title", fix.title
        yield from ((f"{key}.env", text) for pair in fix.env.items() for text in pair)
        yield from ((f"{key}.commands", text) for text in fix.commands)
        yield f"{key}.hosts", fix.hosts


def _advice_flaws(key: str, fix: FixSpec) -> Iterator[Flaw]:
    said = [*fix.commands, *(f"{name}={value}" for name, value in fix.env.items())]
    for text in said:
        if (found := _SWITCHED_OFF.search(text)) and "test" not in fix.title.lower():
            yield Flaw(key, f"{found[0]} hides the fault and costs speed", 'the real cure, or a title with "as a test"')


def _sample_flaws(rule: RuleSpec, book: Book) -> Iterator[Flaw]:
    if not any(sample.match for sample in rule.sample):
        yield Flaw("sample", "no sample shows the rule speaking", "a [[sample]] with the log of such a case")
    if all(sample.match for sample in rule.sample):
        yield Flaw("sample", "no sample shows where the rule must stay silent", "a [[sample]] with match = false")
    for number, sample in enumerate(rule.sample):
        key = f"sample[{number}]"
        try:
            found = book.run(rule, sample)
        except RuleError as error:
            yield Flaw(key, error.problem, error.next_step)
            continue
        if found and not sample.match:
            yield Flaw(key, f"the rule speaks on its near miss: {found[0].title}", "narrower conditions in [[match]]")
        if sample.match and not found:
            yield Flaw(key, "the rule stays silent on its sample", "try it with: ncclcheck rules try LOG")
        if sample.match and found:
            yield from _said_flaws(key, sample, found)


def _said_flaws(key: str, sample: JobSample, found: tuple[Finding, ...]) -> Iterator[Flaw]:
    text = " ".join(_said(finding) for finding in found)
    for wanted in sample.contain:
        if wanted not in text:
            yield Flaw(f"{key}.contain", f"{wanted!r} is not said", "what title, explanation or fix do say")
    for name, value in sample.values.items():
        got = dict(found[0].subject).get(name)
        if got != value:
            yield Flaw(f"{key}.values", f"{name} is {got!r}, not {value!r}", "what the finding's subject holds")


def _said(finding: Finding) -> str:
    fixes = (
        " ".join((fix.title, *fix.commands, *(f"{name}={value}" for name, value in fix.env))) for fix in finding.fixes
    )
    return " ".join((finding.title, finding.explanation, finding.not_proof_of, *fixes))
