"""The settings of a file and what is wrong with them (pure).

Where the NCCL version is not known, a file is judged by the newest one and by the last that was stricter (2.29), and
each finding that only the older one has says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ncclcheck.model import ConfLine, FileKind, FileLint, Setting, Trouble, Unknown
from ncclcheck.node import conf, lint
from ncclcheck.node.files import dockerfile, shell, yamllines
from ncclcheck.node.files.assignment import NAME, Assignment, Span, Style, troubles
from ncclcheck.node.files.embedded import Embedded, in_script, in_yaml
from ncclcheck.node.files.kind import kind_of
from ncclcheck.node.launching import launch_troubles
from ncclcheck.node.version import NEWEST

Judge = Callable[[str], tuple[ConfLine, ...]]
"""Gives the troubles for an NCCL version."""

_STRICTER = "2.29.7"
_ENV_LINE = re.compile(rf"\s*(?:export\s+)?({NAME})=(.*)$")
_YAML = (FileKind.KUBERNETES, FileKind.COMPOSE, FileKind.YAML)


def check(name: str, content: bytes, nccl: str | None = None, kind: FileKind | None = None) -> FileLint:
    """What a file says to NCCL; ``kind`` is what it is where the user says so."""
    text = content.decode("utf-8", "surrogateescape")
    found, because = (kind, "as asked for") if kind else kind_of(name, text)
    if found is None:
        return FileLint(name, None, because, unknown=(_unknown_kind(name, because),))
    if found is FileKind.CONF:
        return _of_conf(name, content, nccl, because)
    lines = text.split("\n") if found in (FileKind.SHELL, FileKind.SLURM) else text.replace("\r\n", "\n").split("\n")
    parts = in_yaml(lines) if found in _YAML else in_script(lines)
    made = tuple(_settings(_blanked(lines, parts), found))
    wrong = _merged(lambda version: _all(made, parts, lines, name, version), nccl)
    launch = launch_troubles(name, lines) if found is FileKind.ENV_FILE else ()
    return FileLint(
        name,
        found,
        because,
        settings=len(made) + sum(_counted(part) for part in parts),
        troubles=tuple(sorted((*wrong, *launch), key=lambda one: one.line)),
        unknown=tuple(_undecided(one) for one in made if one.value is None and not one.faults),
    )


def settings(name: str, content: bytes, kind: FileKind, nccl: str = NEWEST) -> tuple[Setting, ...]:
    """The settings that the file makes, as far as they are written in it; of several with one name one wins."""
    if kind is FileKind.CONF:
        entries = conf.entries(content, nccl)
        found = [Setting(one.name, one.value, name, one.line) for one in entries if re.fullmatch(NAME, one.name)]
        return _with_winners(found)
    lines = content.decode("utf-8", "surrogateescape").replace("\r\n", "\n").split("\n")
    parts = in_yaml(lines) if kind in _YAML else in_script(lines)
    made = _settings(_blanked(lines, parts), kind)
    known = [Setting(one.name, one.value, name, one.name_at.line) for one in made if one.value is not None]
    # A script's last word counts, as a file's first.
    return tuple(reversed(_with_winners(known[::-1])))


def _with_winners(found: Sequence[Setting]) -> tuple[Setting, ...]:
    names = [one.name for one in found]
    return tuple(replace(one, wins=names.index(one.name) == at) for at, one in enumerate(found))


def _of_conf(name: str, content: bytes, nccl: str | None, because: str) -> FileLint:
    entries = conf.entries(content, nccl or NEWEST)
    count = sum(re.fullmatch(rf".*{NAME}\s*", entry.name) is not None for entry in entries)
    found = _merged(lambda version: lint.lint(content, name, version), nccl)
    return FileLint(name, FileKind.CONF, because, settings=count, troubles=found)


def _counted(part: Embedded) -> int:
    return sum(re.match(rf"\s*{NAME}\s*=", line) is not None for line in part.lines)


def _blanked(lines: Sequence[str], parts: Sequence[Embedded]) -> tuple[str, ...]:
    """The lines without those that are read as an nccl.conf."""
    taken = {number for part in parts for number in part.numbers}
    return tuple("" if number in taken else line for number, line in enumerate(lines, start=1))


def _settings(lines: Sequence[str], kind: FileKind) -> Iterator[Assignment]:
    if kind is FileKind.DOCKERFILE:
        yield from dockerfile.read(lines)
    elif kind in _YAML:
        yield from yamllines.read(lines, kind)
    elif kind is FileKind.ENV_FILE:
        yield from _of_env_file(lines)
    else:
        yield from _of_script(lines)


def _of_script(lines: Sequence[str]) -> Iterator[Assignment]:
    exports = shell.Exports()
    # Slurm's options are comments for the shell.
    bodies = (re.sub(r"^#SBATCH(?=\s)", "       ", line) for line in lines)
    found = [one for number, body in enumerate(bodies, start=1) for one in shell.read(body, number, exports)]
    yield from (shell.exported(one, exports) for one in found)


def _of_env_file(lines: Sequence[str]) -> Iterator[Assignment]:
    """``docker run --env-file``: everything behind “=” is the value, quotes and comment as well."""
    for number, line in enumerate(lines, start=1):
        found = _ENV_LINE.match(line)
        if found:
            spans = (Span(number, *found.span(1)), Span(number, *found.span(2)))
            yield Assignment(found[1], None if "$" in found[2] else found[2], *spans, Style.LITERAL)


def _all(
    settings: Sequence[Assignment], parts: Sequence[Embedded], lines: Sequence[str], path: str, nccl: str
) -> tuple[ConfLine, ...]:
    found = [trouble for one in settings for trouble in troubles(one, lines, path, nccl)]
    found += [trouble for part in parts for trouble in part.troubles(path, nccl)]
    return tuple(sorted(found, key=lambda trouble: trouble.line))


def _merged(judge: Judge, nccl: str | None) -> tuple[ConfLine, ...]:
    if nccl is not None:
        return judge(nccl)
    newest = judge(NEWEST)
    known = {(one.line, one.trouble) for one in newest}
    older = (one for one in judge(_STRICTER) if (one.line, one.trouble) not in known)
    dated = (replace(one, meaning=f"up to NCCL 2.29: {one.meaning}") for one in older if _is_no_date(one))
    return tuple(sorted((*newest, *dated), key=lambda one: one.line))


def _is_no_date(one: ConfLine) -> bool:
    """A setting that is newer than some version is no mistake where nobody named a version."""
    return one.trouble is not Trouble.OTHER_VERSION


def _undecided(one: Assignment) -> Unknown:
    return Unknown(
        question=f"what {one.name} is (line {one.value_at.line})",
        missing="the value is put in when the file is used",
    )


def _unknown_kind(name: str, because: str) -> Unknown:
    kinds = ", ".join(kind.name.lower().replace("_", "-") for kind in FileKind)
    return Unknown(question=f"what kind of file {name} is", missing=f"{because}; say it with --kind: {kinds}")
