"""What files say to NCCL, for people: ``file:line``, the line, what NCCL makes of it, the line as it should be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ncclcheck.model import ConfLine, FileLint


def lint_text(found: Sequence[FileLint]) -> str:
    """All files, each with its kind."""
    return "\n\n".join("\n".join(_file(file)) for file in found)


def _file(file: FileLint) -> Iterator[str]:
    if file.kind is None:
        yield f"{file.path}: not checked"
    else:
        yield f"{file.path}: {file.kind.value} ({file.because}), {_count(file)}"
    for trouble in file.troubles:
        yield from _trouble(trouble)
    for unknown in file.unknown:
        yield f"  ? {unknown.question}: {unknown.missing}"


def _count(file: FileLint) -> str:
    if not file.settings and not file.troubles:
        return "no NCCL setting in it"
    number = "1 setting" if file.settings == 1 else f"{file.settings} settings"
    lines = len({trouble.line for trouble in file.troubles})
    return f"{number}, " + ("1 line" if lines == 1 else f"{lines or 'no'} lines") + " to look at"


def _trouble(trouble: ConfLine) -> Iterator[str]:
    yield f"  {trouble.path}:{trouble.line}: {trouble.text}"
    yield f"      {trouble.meaning}"
    if not trouble.corrected:
        yield "      the line should go"
    elif trouble.corrected != trouble.text:
        yield f"      should be: {trouble.corrected}"
