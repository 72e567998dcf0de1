"""Runs the rules: job → findings, roots first, echoes folded under what explains them. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ncclcheck.model import Confidence, FileContent, Finding, Fix, Job, Risk, Scope, Severity, Where
from ncclcheck.printable import shell_word
from ncclcheck.rulebook.predicates import joins, meets
from ncclcheck.rulebook.schema import Also, FixSpec, Match, RuleSpec
from ncclcheck.rulebook.subject import Subject, Value
from ncclcheck.rulebook.subjects import subjects
from ncclcheck.rulebook.template import Missing, fill

_MOST_EVIDENCE = 12
_CONF = "/etc/nccl.conf"

Subjects = Mapping[str, tuple[Subject, ...]]


@dataclass(frozen=True, slots=True)
class _Hit:
    """A rule met: by which subjects, and how surely."""

    values: dict[str, Value]
    evidence: tuple[Where, ...]
    ranks: tuple[int, ...]
    confidence: Confidence


def findings(job: Job, rules: Sequence[RuleSpec]) -> tuple[Finding, ...]:
    """What the rules find in the job: errors before warnings before notes, the most certain first."""
    known = subjects(job)
    found = [finding for rule in rules for finding in _apply(rule, known)]
    return tuple(sorted(_fold(found, rules), key=lambda f: (-f.severity, -f.confidence, f.rule)))


def _apply(rule: RuleSpec, known: Subjects) -> Iterator[Finding]:
    groups: dict[tuple[Value | None, ...], list[_Hit]] = {}
    for match in rule.match:
        hits = list(_hits(rule, match, known))
        for hit in hits if len(hits) >= match.count else ():
            groups.setdefault(tuple(hit.values.get(name) for name in rule.by), []).append(hit)
    for hits in groups.values():
        yield _finding(rule, hits)


def _hits(rule: RuleSpec, match: Match, known: Subjects) -> Iterator[_Hit]:
    confidence = Confidence[(match.confidence or rule.confidence).upper()]
    with_ = [_Partners(also, _among(known, also)) for also in match.with_]
    if not all(partners.known for partners in with_):
        return
    without = [_Partners(also, _among(known, also)) for also in match.without]
    for subject in _among(known, match):
        if not meets(subject, match.where):
            continue
        if any(partners.first(subject) for partners in without):
            continue
        values, evidence = dict(subject.values), list(subject.evidence)
        for partners in with_:
            partner = partners.first(subject)
            if partner is None:
                break
            evidence.extend(partner.evidence)
            values.update({f"{partners.name}.{name}": value for name, value in partner.values.items()})
        else:
            yield _Hit(values, tuple(evidence), subject.ranks, confidence)


class _Partners:
    """The subjects that a rule may ask for beside another one, by what must be the same: not all are tried for each."""

    def __init__(self, also: Also, others: tuple[Subject, ...]) -> None:
        self.name = also.name or also.subject
        self._also = also
        self._groups: dict[tuple[Value | None, ...], list[Subject]] = {}
        alike: Counter[tuple[Value | None, ...]] = Counter()
        for other in others:
            key = _values(other, (*also.same, *also.differ))
            # Of those that can't be told apart, the second stands in where the first is the one that asks.
            if alike[key] < 2 and meets(other, also.where):
                alike[key] += 1
                self._groups.setdefault(_values(other, also.same), []).append(other)
        self.known = bool(self._groups)
        """Whether there is any: a rule that asks in vain need not look at its first subjects."""

    def first(self, subject: Subject) -> Subject | None:
        """The first that the rule takes beside this one."""
        others = self._groups.get(_values(subject, self._also.same), ())
        return next((other for other in others if joins(self._also, subject, other)), None)


def _values(subject: Subject, names: tuple[str, ...]) -> tuple[Value | None, ...]:
    return tuple(subject.values.get(name) for name in names)


def _among(known: Subjects, sought: Match | Also) -> tuple[Subject, ...]:
    """The subjects worth looking at: there may be many thousand events, and few of a kind."""
    kinds = sought.where.get("kind")
    if sought.subject != "event" or not isinstance(kinds, (str, tuple)):
        return known[sought.subject]
    wanted = {kinds} if isinstance(kinds, str) else set(kinds)
    return tuple(subject for subject in known["event"] if subject.values["kind"] in wanted)


def _finding(rule: RuleSpec, hits: list[_Hit]) -> Finding:
    best = max(hits, key=lambda hit: (hit.confidence, len(hit.values)))
    values = best.values
    return Finding(
        rule=rule.id,
        cause=rule.cause,
        severity=Severity[rule.severity.upper()],
        confidence=best.confidence,
        title=_text(rule.title, values),
        explanation=_text(rule.explanation, values),
        not_proof_of=_text(rule.not_proof_of, values),
        subject=_subject(values),
        ranks=tuple(sorted({rank for hit in hits for rank in hit.ranks})),
        evidence=_evidence(best, hits),
        fixes=tuple(fix for spec in rule.fix for fix in _fix(spec, values)),
    )


def _text(text: str, values: Mapping[str, Value]) -> str:
    """A title must always come out: what is not known is said to be unknown."""
    try:
        return fill(text, values).strip()
    except Missing as missing:
        return _text(text.replace(f"{{{missing.args[0]}}}", "(unknown)"), values)


def _subject(values: Mapping[str, Value]) -> tuple[tuple[str, str], ...]:
    names = {
        "interface": ("owner_interface", "interface", "own_interface"),
        "address": ("address", "event.address", "own_address"),
        "peer": ("owner", "event.peer"),
        "port": ("port", "event.port"),
        "host": ("host",),
    }
    filled = (
        (label, next((str(values[name]) for name in choices if name in values), "")) for label, choices in names.items()
    )
    return tuple((label, text) for label, text in filled if text)


def _evidence(best: _Hit, hits: list[_Hit]) -> tuple[Where, ...]:
    places = dict.fromkeys((*best.evidence, *(where for hit in hits for where in hit.evidence)))
    return tuple(sorted(list(places)[:_MOST_EVIDENCE]))


def _fix(spec: FixSpec, values: Mapping[str, Value]) -> Iterator[Fix]:
    """The fix with names filled in; none where one is not known, so that no command is ever half a command."""
    if spec.when and not meets(Subject("fix", dict(values), ()), spec.when):
        return
    shell = {name: shell_word(str(value)) for name, value in values.items()}
    try:
        env = tuple((fill(name, values), fill(value, values)) for name, value in spec.env.items())
        yield Fix(
            title=fill(spec.title, values),
            scope=Scope(spec.scope),
            risk=Risk(spec.risk),
            env=env,
            commands=tuple(fill(command, shell) for command in spec.commands),
            files=(FileContent(_CONF, "".join(f"{name}={value}\n" for name, value in env)),) if spec.conf else (),
            hosts=tuple(filter(None, re.split(r", | and ", fill(spec.hosts, values)))),
        )
    except Missing:
        return


def _fold(found: list[Finding], rules: Sequence[RuleSpec]) -> Iterator[Finding]:
    explains = {rule.id: rule.explains for rule in rules}
    present = {finding.rule for finding in found}
    folded = {echo for rule in present for echo in explains.get(rule, ()) if echo in present and echo != rule}
    echo = {rule.id for rule in rules if rule.echo}
    if any(finding.severity is Severity.ERROR and finding.rule not in echo for finding in found):
        folded |= echo & present
    for finding in found:
        if finding.rule not in folded:
            echoes = tuple(echo for echo in explains.get(finding.rule, ()) if echo in folded)
            yield replace(finding, explains=echoes)
