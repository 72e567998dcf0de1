"""A rule as a page for people, in Markdown: what it says, looks for and advises, with its own samples. Pure."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from ncclcheck.errors import RuleError
from ncclcheck.logs.catalogue import Message
from ncclcheck.rulebook.schema import Also, Bound, Condition, FixSpec, JobSample, Match, RuleSpec, nearest

_WIDTH = 110
_PLACEHOLDER = re.compile(r"\{([\w.]+)((?:\|[^{}|]*)*)\}")
_THINGS = {
    "event": "a line",
    "connect": "a connection that did not come about",
    "interface": "an interface that NCCL uses",
    "setting": "a setting",
    "rank": "a process",
    "job": "the job as a whole",
    "node": "a node",
    "conf": "a line of nccl.conf",
    "pair": "two nodes, compared",
    "path": "a connection that was tried between two nodes",
    "node-setting": "a setting, compared across nodes",
    "name": "a name that a node looked up",
}
_SCOPES = {"this-node": "on this node", "all-nodes": "on every node", "launcher": "where the job is started"}


def found(name: str, rules: Sequence[RuleSpec]) -> RuleSpec:
    """The rule of that id or name; raises RuleError with the nearest one."""
    for rule in rules:
        if name.lower() in (rule.id.lower(), rule.name):
            return rule
    names = [*(rule.id for rule in rules), *(rule.name for rule in rules)]
    raise RuleError(f"there is no rule {name}", next_step=nearest(_spelt(name), names))


def _spelt(name: str) -> str:
    return name.upper() if name[:2].lower() == "nc" else name.lower()


def page(rule: RuleSpec, causes: Mapping[str, str]) -> str:
    """The whole page; ``causes`` are the causes' descriptions."""
    return "\n".join(_lines(rule, causes)).rstrip() + "\n"


def _lines(rule: RuleSpec, causes: Mapping[str, str]) -> Iterator[str]:
    yield f"# {rule.id}: {_words(rule.name)}"
    yield ""
    yield f"Says: {_shown(rule.title)}."
    yield ""
    yield f"- Cause: `{rule.cause}`: {causes.get(rule.cause, 'not in the list of causes')}."
    yield f"- Severity: {rule.severity}. Confidence: {rule.confidence}{_other_confidence(rule)}."
    if rule.explains:
        yield f"- Explains, and so hides: {', '.join(rule.explains)}."
    if rule.echo:
        yield "- Usually the echo of something else: told only where nothing else was found."
    yield from _section("Why", _wrapped(_shown(rule.explanation)))
    yield from _section("What it does not prove", _wrapped(_shown(rule.not_proof_of)))
    if rule.missing:
        yield from _section("What would settle it", _wrapped(_shown(rule.missing)))
    yield from _section("What to do", (line for fix in rule.fix for line in _fix(fix)))
    yield from _section("What it looks for", _matches(rule))
    yield from _section("Speaks on", (line for sample in rule.sample if sample.match for line in _sample(sample)))
    yield from _section("Stays silent on", (line for one in rule.sample if not one.match for line in _sample(one)))
    yield from _section("More", (f"- <{link}>" for link in rule.links))


def _section(title: str, lines: Iterator[str]) -> Iterator[str]:
    body = list(lines)
    while body and not body[-1]:
        body.pop()
    if body:
        yield from ("", f"## {title}", "", *body)


def _other_confidence(rule: RuleSpec) -> str:
    others = dict.fromkeys(match.confidence for match in rule.match if match.confidence not in (None, rule.confidence))
    return "".join(f", in some cases {other}" for other in others)


def _fix(fix: FixSpec) -> Iterator[str]:
    yield f"- {_shown(fix.title)} ({_SCOPES[fix.scope]}; {fix.risk})."
    said = [f"export {_shown(name)}={_shown(value)}" for name, value in fix.env.items()]
    said += [_shown(command) for command in fix.commands]
    if said:
        yield from ("", "  ```sh", *(f"  {line}" for line in said), "  ```", "")


def _matches(rule: RuleSpec) -> Iterator[str]:
    if len(rule.match) > 1:
        yield "Any of these:"
        yield ""
    for match in rule.match:
        yield f"- {_sought(match)}{f', at least {match.count} times' if match.count > 1 else ''}"
        yield from (f"  - with {_beside(also)}" for also in match.with_)
        yield from (f"  - without {_beside(also)}" for also in match.without)


def _beside(also: Also) -> str:
    same = f", the same {' and '.join(also.same)}" if also.same else ""
    differ = f", another {' and '.join(also.differ)}" if also.differ else ""
    return f"{_sought(also)}{same}{differ}"


def _sought(sought: Match | Also) -> str:
    conditions = [f"`{name}` {_condition(condition)}" for name, condition in sought.where.items()]
    return _THINGS[sought.subject] + (f": {', '.join(conditions)}" if conditions else "")


def _condition(condition: Condition) -> str:
    if isinstance(condition, Bound):
        return " and ".join(_bounds(condition))
    if isinstance(condition, tuple):
        return f"is one of {', '.join(map(_value, condition))}"
    return f"is {_value(condition)}"


def _bounds(bound: Bound) -> Iterator[str]:
    if bound.present is not None:
        yield "is known" if bound.present else "is not known"
    if bound.min is not None:
        yield f"is at least {bound.min:g}"
    if bound.max is not None:
        yield f"is at most {bound.max:g}"
    if bound.pattern is not None:
        yield f"matches `{bound.pattern}`"
    if bound.is_not is not None:
        yield f"is not {' or '.join(map(_value, bound.is_not))}"


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value}"


def _sample(sample: JobSample) -> Iterator[str]:
    if sample.nodes:
        texts = (f"{host}: {', '.join(known)}" for host, known in sample.nodes.items())
        yield from ("```text", *texts, *sample.cells, "```", "")
        return
    logs = sample.logs or {"": sample.log}
    for name, text in logs.items():
        yield from (f"{name}:", "") if name else ()
        yield from ("```text", *text.strip("\n").splitlines(), "```", "")


def _shown(text: str) -> str:
    """Placeholders as they read in a sentence: the words to fall back on, else the attribute's name."""
    return _PLACEHOLDER.sub(lambda match: f"‹{_name(match[1], match[2])}›", " ".join(text.split()))


def _name(first: str, others: str) -> str:
    return _words((others.rpartition("|")[2] or first).rpartition(".")[2])


def _words(name: str) -> str:
    return name.replace("_", " ").replace("-", " ")


def _wrapped(text: str) -> Iterator[str]:
    yield from textwrap.wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)


def message_text(message: Message) -> str:
    """A message of NCCL's in plain words, as far as they are known."""
    versions = f"NCCL {message.first} to {message.last}"
    rows = [
        f"{message.format}",
        f"  {message.level}, {message.category}; {versions}; for the rank that prints it: {message.severity}",
        *(f"  meaning: {text}" for text in (message.meaning,) if text),
        *(f"  usually: {text}" for text in (message.cause,) if text),
    ]
    return "\n".join(rows)
