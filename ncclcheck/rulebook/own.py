"""A user's own rule from a line of a log: two files, checked as all rule files are before they are written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from ncclcheck.errors import RuleError
from ncclcheck.logs.events import Shape, Shapes
from ncclcheck.rulebook.check import check
from ncclcheck.rulebook.check_events import events_in
from ncclcheck.rulebook.draft import free_id, require_name
from ncclcheck.rulebook.propose import literal_of, message_of

_LONGEST_SAMPLE = 2000
"""Characters; NCCL cuts its lines at 1024."""
_SILENT = (
    "node-a:10:10 [0] NCCL INFO Using network Socket",
    "node-a:10:10 [0] NCCL INFO Bootstrap: Using eth1:10.0.0.11<0>",
)
"""Lines of every job: on one of them at least a rule must stay silent."""
_EVENT = """\
[[event]]
kind = {kind}
literal = {literal}
pattern = {pattern}
{beside}note = "Made from a line of a log."
[[event.sample]]
line = {message}
values = {{{values}}}
"""
_RULE = """\
id = "{id}"
name = "{name}"
# One of rules/causes.toml: what is wrong with the set-up.
cause = "rank-died"
severity = "warning"
# certain only where nothing else can have printed these lines
confidence = "possible"
title = {title}
explanation = "A line that the rule was made from: why it happens can be written here."
not_proof_of = "The line alone proves no cause."

[[match]]
subject = "event"
where = {{ kind = {kind} }}

[[sample]]
log = {line}
[[sample]]
match = false
log = {silent}
"""


@dataclass(frozen=True, slots=True)
class OwnRule:
    """What somebody said about a line."""

    name: str
    """Small letters and hyphens."""
    title: str
    """One line; what the finding says."""
    pattern: str
    line: str
    """As it is in the log."""


def save(rule: OwnRule, folder: Path) -> tuple[Path, Path]:
    """Write the line shape and the rule into the folder, neither in place of another file; the two paths.

    Raises RuleError for what the check of rules finds, and where nothing can be written.
    """
    require_name(rule.name)
    number = free_id(folder)
    files = {Path(room) / f"{number}-{rule.name}.toml": text for room, text in _files(rule, number).items()}
    with TemporaryDirectory(prefix="ncclcheck-") as trial:
        _write(files, Path(trial))
        for fault in check((Path(trial),)).faults:
            raise fault
    event, cause = _write(files, folder)
    return event, cause


def _write(files: Mapping[Path, str], folder: Path) -> tuple[Path, ...]:
    """All of the files or none."""
    with ExitStack() as undo:
        for name, text in files.items():
            path = folder / name
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("x", encoding="utf-8") as file:
                    undo.callback(path.unlink)
                    file.write(text)
            except OSError as error:
                problem = f"cannot be written: {error.strerror}"
                raise RuleError(problem, place=str(path), next_step="see who may write there") from error
        undo.pop_all()
    return tuple(folder / name for name in files)


def _files(rule: OwnRule, number: str) -> dict[str, str]:
    kind, line = f"own.{rule.name}", rule.line[:_LONGEST_SAMPLE]
    shape = Shape(kind, literal_of(rule.pattern, line), rule.pattern)
    silent = next((one for one in _SILENT if not events_in(Shapes((shape,)), one)), _SILENT[0])
    others = sorted({event.kind for event in events_in(_known(), line)})
    event = _EVENT.format(
        kind=_text(kind),
        literal=_text(shape.literal),
        pattern=_pattern(rule.pattern),
        beside=f"beside = [{', '.join(map(_text, others))}]\n" if others else "",
        message=_text(message_of(line)),
        values=", ".join(f"{name} = {_text(value)}" for name, value in _values(shape, line)),
    )
    words = {"title": _text(rule.title), "kind": _text(kind), "line": _text(line), "silent": _text(silent)}
    return {"events": event, "causes": _RULE.format(id=number, name=rule.name, **words)}


def _known() -> Shapes:
    from ncclcheck.rulebook.load import load

    return load().shapes


def _values(shape: Shape, line: str) -> Iterator[tuple[str, str]]:
    """What the pattern reads from the line."""
    found: Sequence[re.Match[str]] = shape.matches(message_of(line))  # type: ignore[assignment]
    for match in found[:1]:
        yield from ((name, value) for name, value in match.groupdict().items() if value is not None)


def _pattern(pattern: str) -> str:
    """Between ''' a backslash is only a backslash."""
    literally = "'''" not in pattern and not pattern.endswith("'") and pattern.isprintable()
    return f"'''{pattern}'''" if literally else _text(pattern)


def _text(text: str) -> str:
    """A basic string of TOML 1.0: what JSON escapes, it escapes alike, and DEL besides."""
    sound = text.encode("utf-8", "replace").decode("utf-8")
    return json.dumps(sound, ensure_ascii=False).replace("\x7f", "\\u007F")
