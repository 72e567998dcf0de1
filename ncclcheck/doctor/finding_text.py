"""A finding as lines of text, laid out as compilers do it; command line and assistant show the same ones. Pure.

What is wrong in a sentence, the lines that prove it with the telling part underlined, why, what it does not prove,
and what to do, for each node and launcher. Every line is inert: it may hold no control character.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum

from ncclcheck.doctor.quoting import quoted, telling
from ncclcheck.model import Confidence, Finding, Fix, Launch, Scope, Where
from ncclcheck.printable import one_line, shell_word

_SURE = {Confidence.CERTAIN: "certain", Confidence.LIKELY: "likely", Confidence.POSSIBLE: "possible"}
_LEAST = 30
"""Cells that a line always gets, however narrow the room is."""

Quote = Callable[[Where], str]
"""The line at a place, as it stands there; empty where it cannot be read again."""


class Part(Enum):
    """What a line is, for whoever gives it a colour."""

    TITLE = "title"
    PLACE = "place"
    QUOTE = "quote"
    MARK = "mark"
    TEXT = "text"
    TO_DO = "to do"
    TYPED = "typed"
    """To be written or typed as it is."""
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Row:
    """One line; the lead says what it is about."""

    part: Part
    text: str
    lead: str = ""

    def __str__(self) -> str:
        return (self.lead + self.text).rstrip()


_BLANK = Row(Part.TEXT, "")


@dataclass(frozen=True, slots=True)
class Room:
    """How much is shown."""

    width: int = 80
    """Cells of a line of prose."""
    quote: int = 80
    """Cells of a quoted line; it is cut round its telling part."""
    most: int = 6
    """Quoted lines."""
    launcher: str = ""
    """Whose words are wanted; see ``launchers``."""
    key: str = ""
    """The key that chooses another launcher, where there is one."""


NARROW = Room()
"""What there always is."""
DEFAULT = ""
"""Stands for the launcher that was seen, or for none."""
GENERAL = "any launcher"
"""Stands for no launcher in particular."""


def finding_rows(found: Finding, quote: Quote, room: Room = NARROW) -> Iterator[Row]:
    """The whole finding."""
    yield from _prose(f"{found.severity.name.lower()}[{found.rule}] ", found.title, room, Part.TITLE)
    yield from _evidence(found, quote, room)
    yield _BLANK
    yield from _prose(f"why ({_SURE[found.confidence]}): ", found.explanation, room)
    yield from _prose("not proved: ", found.not_proof_of, room)
    hint = next((fix for fix in found.fixes if fix.launches), None)
    for number, fix in enumerate(found.fixes):
        yield _BLANK
        own = room if fix is hint else replace(room, key="")
        yield from fix_rows(fix, own, "what to do" if number == 0 else "or")
    yield _BLANK
    if found.explains:
        yield from _prose("folded here as its echo: ", ", ".join(found.explains), room, Part.NOTE)
    yield from _prose("cause: ", found.cause, room, Part.NOTE)


def plain(rows: Iterable[Row]) -> str:
    """The lines as one text."""
    return "\n".join(map(str, rows))


# Evidence ------------------------------------------------------------------------------------------------------------


def _evidence(found: Finding, quote: Quote, room: Room) -> Iterator[Row]:
    shown = found.evidence[: room.most]
    digits = max((len(str(where.line)) for where in shown), default=1)
    source, words = None, telling(found)
    for where in shown:
        if where.source != source:
            source = where.source
            yield Row(Part.PLACE, place(where), f"{'':{digits}}--> ")
        if text := quote(where).rstrip():
            yield from _quoted(text, words, f"{where.line or '':>{digits}} | ", room)
        elif where != shown[0] and not quote(where):
            yield Row(Part.PLACE, place(where), f"{'':{digits}}::: ")
    if len(found.evidence) > len(shown):
        yield Row(Part.NOTE, f"and {len(found.evidence) - len(shown):,} more such lines", f"{'':{digits}} = ")


def _quoted(text: str, words: tuple[str, ...], gutter: str, room: Room) -> Iterator[Row]:
    line, marks = quoted(text, words, max(_LEAST, room.quote - len(gutter)))
    yield Row(Part.QUOTE, line, gutter)
    if marks:
        yield Row(Part.MARK, marks, f"{'':{len(gutter) - 3}} | ")


def place(where: Where) -> str:
    """A place as compilers write it."""
    return one_line(f"{where.source}:{where.line}" if where.line else where.source)


# What to do ----------------------------------------------------------------------------------------------------------


def fix_rows(fix: Fix, room: Room = NARROW, lead: str = "what to do") -> Iterator[Row]:
    """One fix: where, what, and the lines to write or type."""
    told = fix.title.lower().startswith(who(fix).lower())
    yield from _prose(f"{lead}: " if told else f"{lead}, {who(fix)}: ", fix.title, room, Part.TO_DO)
    for between, heading, lines in _ways(fix, chosen(fix, room.launcher)):
        yield from _prose(f"  {between}", heading, room)
        yield from (Row(Part.TYPED, one_line(line), "    ") for line in lines)
    if fix.launches and room.key:
        yield from _prose("  ", f"{room.key} shows it for {_others(fix, room.launcher)}", room, Part.NOTE)


def who(fix: Fix) -> str:
    """Where a fix has to be made."""
    hosts = ", ".join(map(one_line, fix.hosts))
    if fix.scope is Scope.LAUNCHER:
        return "where the job is started"
    if fix.scope is Scope.ALL_NODES:
        return f"on every node ({hosts})" if hosts else "on every node"
    return f"on {hosts}" if hosts else "on this node"


def launchers(fix: Fix) -> tuple[str, ...]:
    """In whose words it can be told, what is told without a choice first."""
    names = tuple(launch.launcher for launch in fix.launches if not launch.seen)
    return (DEFAULT, *names, *((GENERAL,) if len(names) < len(fix.launches) else ()))


def next_launcher(fix: Fix, launcher: str) -> str:
    """The one after this, round the end."""
    names = launchers(fix)
    return names[(names.index(launcher) + 1) % len(names)] if launcher in names else DEFAULT


def chosen(fix: Fix, launcher: str) -> Launch | None:
    """The launcher in whose words it is told; None for the way that suits any."""
    wanted = next((launch for launch in fix.launches if launch.launcher == launcher), None)
    return wanted or next((launch for launch in fix.launches if launch.seen and launcher == DEFAULT), None)


def _ways(fix: Fix, launch: Launch | None) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Every way to make it, with the lines it takes."""
    for number, file in enumerate(fix.files):
        yield "or " if number else "", f"in {file.path}, nothing else on the line:", tuple(file.content.splitlines())
    lead = "or " if fix.files else ""
    if launch is not None:
        yield lead, f"with {launch.launcher}{', which started this job' if launch.seen else ''}:", launch.lines
    elif fix.env:
        exports = tuple(f"export {name}={shell_word(value)}" for name, value in fix.env)
        yield lead, "in the environment of every process of the job:", exports
    if fix.commands:
        yield "", "run:", fix.commands


def _others(fix: Fix, launcher: str) -> str:
    shown = chosen(fix, launcher)
    return ", ".join(launch.launcher for launch in fix.launches if launch is not shown)


def _prose(lead: str, text: str, room: Room, part: Part = Part.TEXT) -> Iterator[Row]:
    """Words under their lead, further lines a little to the right."""
    words = one_line(" ".join(text.split()))
    if not words:
        return
    head = lead.strip()
    indent = lead[: len(lead) - len(lead.lstrip())]
    first, *more = textwrap.wrap(
        f"{head} {words}".lstrip(),
        max(_LEAST, room.width) - len(indent),
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    yield Row(part, first.removeprefix(head), indent + head)
    yield from (Row(part, line, indent) for line in more)
