"""Running processes for people: what each has, side by side, and what differs."""

from __future__ import annotations

from collections.abc import Iterator

from ncclcheck.cli.node_text import choice_sentence, section, table, trouble_lines
from ncclcheck.model import Processes, RunningProcess, Setting

_LONGEST = 60
_SINCE_START = "Variables are shown as the process was started with; what it set itself since then cannot be seen."


def processes_text(found: Processes) -> str:
    """The processes, their settings side by side, what is wrong, what hides what, and what is not known."""
    processes = found.processes
    sections = (
        ("", [_headline(found)]),
        ("Processes", [line for one in processes for line in _process(one)]),
        ("Values that count", table(_rows(found)) or ["no setting at all"]),
        ("Hidden by another", table(row for one in processes for row in _hidden(one))),
        ("What is wrong", list(_troubles(found))),
        ("Not known", [f"- {one.pid}: {it.question}: {it.missing}" for one in processes for it in one.unknown]),
        ("", [_SINCE_START]),
    )
    return "\n\n".join(section(title, lines) for title, lines in sections if lines)


def _headline(found: Processes) -> str:
    if len(found.processes) == 1:
        return f"Process {found.processes[0].pid}"
    if not found.differing:
        return f"The {len(found.processes)} processes have the same settings."
    return f"The processes do not agree on {', '.join(found.differing)}."


def _process(one: RunningProcess) -> Iterator[str]:
    command = one.command if len(one.command) <= _LONGEST else f"{one.command[: _LONGEST - 1]}…"
    yield f"{one.pid}  user {one.user}: {command or '(no command line)'}"
    if one.choice is not None:
        yield f"    {choice_sentence(one.choice)}"
    for library in one.libraries:
        yield f"    NCCL {library.version or 'of unknown version'} loaded: {library.path}"
    yield f"    nccl.conf files read: {', '.join(one.conf_files) or 'none'}"
    if one.own_root:
        yield "    it has a file system of its own (a container): the paths are those inside"
    if one.own_network:
        yield f"    it has a network of its own: sudo nsenter -t {one.pid} -n ncclcheck node shows its interfaces"


def _rows(found: Processes) -> Iterator[tuple[str, ...]]:
    names = sorted({one.name for process in found.processes for one in process.settings if one.wins})
    if names:
        yield ("", *(str(process.pid) for process in found.processes), "")
    for name in names:
        cells = (_cell(process, name) for process in found.processes)
        yield (name, *cells, "differs" if name in found.differing else "")


def _cell(process: RunningProcess, name: str) -> str:
    won = next((one for one in process.settings if one.wins and one.name == name), None)
    return "-" if won is None else f"{won.value or '(empty)'}{_origin(won)}"


def _origin(setting: Setting) -> str:
    return "" if setting.line is None else f"  ({setting.origin}:{setting.line})"


def _hidden(process: RunningProcess) -> Iterator[tuple[str, ...]]:
    for one in process.settings:
        if not one.wins:
            yield (str(process.pid), f"{one.name}={one.value}", f"{one.origin}, line {one.line}")


def _troubles(found: Processes) -> Iterator[str]:
    seen = dict.fromkeys(trouble for process in found.processes for trouble in process.conf_troubles)
    for trouble in seen:
        yield from trouble_lines(trouble)
