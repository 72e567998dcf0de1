"""Lines of nccl.conf, and variables, that do not do what their author meant (pure).

Each trouble comes with what NCCL makes of the line, and the line as it should be. What NCCL reads is said by
conf.py; what a value means, by values.py.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ncclcheck.model import ConfLine, Setting, Trouble
from ncclcheck.node import conf
from ncclcheck.node.catalogue import catalogue, nearest
from ncclcheck.node.environment import ENVIRONMENT, ConfFile
from ncclcheck.node.undecodable import shown
from ncclcheck.node.values import Fault, faults
from ncclcheck.node.version import since

_EXPORT = re.compile(r"\s*(?:export|set|setenv|declare -x)\s+(?=\w+\s*=)")
_NO_EQUALS = re.compile(r"\s*(NCCL_\w+)\s*[:\s]\s*(\S.*)")


@dataclass(frozen=True, slots=True)
class _Line:
    """A line taken apart: what was meant, and what stands in its way."""

    number: int
    text: str
    name: str
    """The setting that was meant."""
    value: str
    """Its value as it should be."""
    faults: tuple[Fault, ...]
    counts: bool = False
    """Whether NCCL reads the line as that setting, whatever its value."""

    @property
    def corrected(self) -> str:
        troubles = {fault.trouble for fault in self.faults}
        if troubles == {Trouble.OTHER_VERSION}:
            return self.text
        return "" if Trouble.NO_EFFECT in troubles or not self.value else f"{self.name}={self.value}"


def lint_files(files: Iterable[ConfFile], nccl: str) -> tuple[ConfLine, ...]:
    """The troubles of all files, in their order."""
    return tuple(trouble for file in files for trouble in lint(file.content, file.path, nccl))


def lint(content: bytes, path: str, nccl: str) -> tuple[ConfLine, ...]:
    """The troubles of one file, line by line."""
    lines = tuple(_taken_apart(content, nccl))
    return tuple(trouble for line in lines for trouble in _troubles(line, lines, path))


def lint_settings(settings: Sequence[Setting], nccl: str) -> tuple[ConfLine, ...]:
    """The troubles of the variables in the environment."""
    found: list[ConfLine] = []
    for setting in settings:
        if setting.origin == ENVIRONMENT:
            text = f"{setting.name}={setting.value}"
            line = _judged(_Line(0, text, setting.name, setting.value, ()), nccl)
            found += _troubles(line, (line,), ENVIRONMENT)
            found += _hiding(setting, settings)
    return tuple(found)


def _hiding(setting: Setting, settings: Iterable[Setting]) -> Iterator[ConfLine]:
    """An empty variable counts as well: it hides the value in a file, which nobody expects."""
    for other in settings:
        if not setting.value and other.name == setting.name and other.origin != ENVIRONMENT:
            meaning = f"the empty variable wins over {other.origin}, line {other.line} ({other.value}): unset it"
            yield ConfLine(ENVIRONMENT, 0, f"{setting.name}=", Trouble.EMPTY, meaning, "")


def repair(content: bytes, nccl: str) -> bytes:
    """The file with every troubled line as it should be, all others byte for byte the same."""
    lines = tuple(_taken_apart(content, nccl))
    corrections = {line.number: _correction(line, lines) for line in lines}
    raw = conf.raw_lines(content)
    return b"".join(_repaired(line, corrections.get(number)) for number, line in enumerate(raw, start=1))


def _correction(line: _Line, lines: Sequence[_Line]) -> str:
    """The line as it should be: empty where it should go, the same where nothing is wrong."""
    if _deciding(line, lines) is not line:
        return ""
    return line.corrected if line.faults else line.text


def _repaired(line: bytes, correction: str | None) -> bytes:
    if correction is None or os.fsencode(correction) == line.removesuffix(b"\n"):
        return line
    return os.fsencode(correction) + (b"\n" if line.endswith(b"\n") else b"") if correction else b""


def _taken_apart(content: bytes, nccl: str) -> Iterator[_Line]:
    for number, raw in enumerate(conf.raw_lines(content), start=1):
        text = os.fsdecode(raw.removesuffix(b"\n"))
        line = _line(number, text, nccl)
        if line is not None:
            yield line


def _line(number: int, text: str, nccl: str) -> _Line | None:
    """The line taken apart; ``None`` for a comment and whatever else does no harm."""
    body, found = _without_mark(text)
    if body.lstrip().startswith("#"):
        return None
    body, export = _without_export(body)
    name, equals, value = body.partition("=")
    if not equals:
        return _without_equals(number, text, body, nccl)
    if not re.fullmatch(r"NCCL_\w+", name.strip(), re.IGNORECASE):
        return None
    found += export
    if name.strip() == "NCCL_CONF_FILE":
        meaning = "it comes too late: NCCL has chosen its files when it reads this; set it in the environment"
        found.append(Fault(Trouble.NO_EFFECT, meaning, value))
    if name != name.strip():
        meaning = f"NCCL sets a variable “{name}”, blanks and all, which it never looks at"
        found.append(Fault(Trouble.BLANKS, meaning, value))
        value = value.strip(" \t")
    if value.endswith("\r") and since(nccl, 2, 30):
        value = value.rstrip("\r")
    return _judged(_Line(number, text, name.strip(), value, tuple(found)), nccl)


def _without_mark(text: str) -> tuple[str, list[Fault]]:
    if not text.startswith("\ufeff"):
        return text, []
    # Not only at the beginning: files that were glued together have one in the middle.
    meaning = "the line begins with an invisible byte order mark, which becomes part of the name"
    return text.lstrip("\ufeff"), [Fault(Trouble.BYTE_ORDER_MARK, meaning, "")]


def _without_export(body: str) -> tuple[str, list[Fault]]:
    found = _EXPORT.match(body)
    if found is None:
        return body, []
    word = found[0].strip()
    meaning = f"this is no shell script: NCCL sets a variable “{word} …”, which it never looks at"
    return body[found.end() :], [Fault(Trouble.EXPORT, meaning, "")]


def _without_equals(number: int, text: str, body: str, nccl: str) -> _Line | None:
    found = _NO_EQUALS.fullmatch(body)
    if found is None:
        return None
    fault = Fault(Trouble.NO_EQUALS, "a line without “=” is skipped", found[2])
    return _judged(_Line(number, text, found[1], found[2], (fault,)), nccl)


def _judged(draft: _Line, nccl: str) -> _Line:
    """The line with its name and value put right, and all that was wrong with them."""
    meant = nearest(draft.name)
    name = meant or draft.name
    of_value = tuple(faults(name, draft.value, nccl))
    if draft.faults:
        of_value = tuple(replace(fault, meaning=f"were it read: {fault.meaning}") for fault in of_value)
    return replace(
        draft,
        name=name,
        value=of_value[-1].better if of_value else draft.value,
        faults=(*draft.faults, *name_faults(draft.name, meant, nccl), *of_value),
        counts=not draft.faults and meant is None,
    )


def name_faults(name: str, meant: str | None, nccl: str) -> Iterator[Fault]:
    """What is wrong with a setting's name; ``meant`` is the one that its author will have meant."""
    if meant is not None:
        yield Fault(Trouble.UNKNOWN_NAME, f"NCCL knows no {name}; the nearest name is {meant}", "")
        return
    known = catalogue().get(name)
    if known is None or known.read_by(nccl):
        return
    when = f"since {known.last} it is gone" if known.gone(nccl) else f"it came with {known.first}"
    yield Fault(Trouble.OTHER_VERSION, f"NCCL {nccl} does not read {name}: {when}", "")


def _troubles(line: _Line, lines: Sequence[_Line], path: str) -> Iterator[ConfLine]:
    found = line.faults
    deciding = _deciding(line, lines)
    if line.counts and deciding is not line:
        meaning = f"line {deciding.number} sets {line.name} already, and the first line counts"
        found = (Fault(Trouble.SECOND_LINE, meaning, ""),)
    for fault in found:
        yield ConfLine(
            path=path,
            line=line.number,
            text=shown(line.text),
            trouble=fault.trouble,
            meaning=shown(fault.meaning),
            corrected=shown(_correction(line, lines)),
        )


def _deciding(line: _Line, lines: Sequence[_Line]) -> _Line:
    """The line that decides this setting once all are put right: the one NCCL reads today, else the first."""
    same = [other for other in lines if other.name == line.name]
    return next((other for other in same if other.counts), same[0])
