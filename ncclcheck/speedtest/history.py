"""Every run of the speed test, kept as it goes: one file a run, one JSON object a line. [effects]

They lie in the XDG state folder (XDG Base Directory Specification). Whatever happens to them never ends a test: what
cannot be kept is one warning, and a line that was cut off is passed over when it is read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import msgspec

from ncclcheck.errors import SpeedError
from ncclcheck.model import Judgement, Speed, SpeedTest
from ncclcheck.state_folder import state_folder

SCHEMA = 1
KEPT = 500
"""Runs; the oldest go first."""
CUT_OFF = "the run was cut off before its end"
_LAST = re.compile(r"last(?:-(\d{1,6}))?")
_NAME = re.compile(r"\d{8}-\d{6}(?:-\d+)?")
_LIST = "ncclcheck history lists them"
Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the speed test."""

    id: str
    time: str
    """When it began, ISO 8601 with the offset from UTC."""
    host: str
    test: SpeedTest
    judgement: Judgement | None = None
    label: str = ""
    """What it was for, such as ``before the fix``."""


@dataclass(frozen=True, slots=True)
class _Line:
    """What stands on a line; which fields count depends on the event."""

    event: str
    schema: int = SCHEMA
    time: str = ""
    host: str = ""
    command: tuple[str, ...] = ()
    label: str = ""
    speed: Speed | None = None
    test: SpeedTest | None = None
    judgement: Judgement | None = None


class Keeper:
    """Writes down one run; ``warning`` tells why that is not possible any more, and is empty otherwise."""

    def __init__(self, id: str, path: Path | None, warning: str = "") -> None:
        self.id = id
        self.warning = warning
        self._path = path

    def add(self, speed: Speed) -> None:
        """A result, as soon as it is there."""
        self._write(_Line("result", speed=speed))

    def end(self, test: SpeedTest, judgement: Judgement | None = None) -> None:
        """The whole test, finished or not, and what it means."""
        self._write(_Line("ended", test=test, judgement=judgement))

    def _write(self, line: _Line) -> None:
        if self._path is None:
            return
        try:
            _append(self._path, line)
        except OSError as error:
            self.warning = _complaint(self._path, error)
            self._path = None


def path_in(env: Mapping[str, str]) -> str:
    """The folder that keeps the runs."""
    return str(state_folder(env) / "speedtests")


def _now() -> datetime:
    return datetime.now().astimezone()


def begin(command: Sequence[str], host: str, *, path: str = "", label: str = "", now: Clock = _now) -> Keeper:
    """Start to keep a run: its command line and host; ``path`` is the folder, the user's own where it is empty."""
    folder, time = Path(path or path_in(os.environ)), now()
    line = _Line("begun", time=time.isoformat(timespec="seconds"), host=host, command=tuple(command), label=label)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = _new_file(folder, time.strftime("%Y%m%d-%H%M%S"))
        _append(file, line)
    except OSError as error:
        return Keeper("", None, _complaint(folder, error))
    _forget(folder)
    return Keeper(file.stem, file)


def _new_file(folder: Path, name: str) -> Path:
    number = 1
    while True:
        file = folder / (f"{name}-{number}.jsonl" if number > 1 else f"{name}.jsonl")
        try:
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            number += 1
        else:
            return file


def _append(file: Path, line: _Line) -> None:
    content = msgspec.json.encode(line) + b"\n"
    with open(file, "ab", buffering=0) as opened:
        if opened.write(content) != len(content):
            # A line that went in half is the last one: the next would be lost with it.
            raise OSError(0, "the disk is full")


def _complaint(path: Path, error: OSError) -> str:
    return f"this run is not kept for ncclcheck history ({path}: {error.strerror or error})"


def _forget(folder: Path) -> None:
    for file in _files(folder)[:-KEPT]:
        # Somebody else may have been quicker.
        file.unlink(missing_ok=True)


def _files(folder: Path) -> list[Path]:
    """Oldest first; a second run of the same second comes after the first."""
    try:
        found = [file for file in folder.iterdir() if file.suffix == ".jsonl" and _NAME.fullmatch(file.stem)]
    except OSError:
        return []
    return sorted(found, key=lambda file: (file.stem[:15], int(file.stem[16:] or 1)))


def runs(path: str = "") -> tuple[Run, ...]:
    """All runs that are kept, oldest first; none where there is no folder or none may be read."""
    found = (_run(file) for file in _files(Path(path or path_in(os.environ))))
    return tuple(run for run in found if run)


def find(kept: Sequence[Run], word: str) -> Run:
    """The run of that id, or of the only one that begins so; ``last``, ``last-1`` … count back. Raises SpeedError."""
    if not kept:
        raise SpeedError("no run is kept yet", place=word, next_step="ncclcheck speedtest keeps each of its runs")
    if last := _LAST.fullmatch(word):
        back = int(last[1] or 0)
        if back < len(kept):
            return kept[-1 - back]
        raise SpeedError(f"only {len(kept)} runs are kept", place=word, next_step=_LIST)
    found = [run for run in kept if run.id == word] or [run for run in kept if run.id.startswith(word)]
    if len(found) == 1:
        return found[0]
    problem = f"{len(found)} runs begin so, from {found[0].id} to {found[-1].id}" if found else "no run has this id"
    raise SpeedError(problem, place=word, next_step=_LIST)


def _run(file: Path) -> Run | None:
    try:
        lines = tuple(_lines(file.read_bytes()))
    except OSError:
        return None
    begun = next((line for line in lines if line.event == "begun"), None)
    if not begun:
        return None
    if begun.schema > SCHEMA:
        reason = f"it was kept by a newer ncclcheck (schema {begun.schema})"
        return Run(file.stem, begun.time, begun.host, SpeedTest("", None, failure=reason), label=begun.label)
    run = Run(file.stem, begun.time, begun.host, SpeedTest("", None, failure=CUT_OFF), label=begun.label)
    return _filled(run, lines)


def _filled(run: Run, lines: Sequence[_Line]) -> Run:
    ended = next((line for line in lines if line.event == "ended" and line.test), None)
    if ended and ended.test:
        return replace(run, test=ended.test, judgement=ended.judgement)
    speeds = tuple(line.speed for line in lines if line.event == "result" and line.speed)
    return replace(run, test=replace(run.test, speeds=speeds, ranks=max((one.ranks for one in speeds), default=2)))


def _lines(content: bytes) -> Iterator[_Line]:
    for line in content.split(b"\n"):
        try:
            yield msgspec.json.decode(line, type=_Line)
        except msgspec.DecodeError:  # cut off, or by a version whose values are others
            continue
