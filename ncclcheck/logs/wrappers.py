"""What launchers, collectors and pasting put in front of a line, peeled off in any nesting.

Pure. The rank comes from the launchers that number ranks of the whole job (torchrun's ``[rank3]``, mpirun's
``[1,3]``, srun's ``3:``, SkyPilot's ``rank=3``), not from numbers that count within a node (``[default3]``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import msgspec

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")

_LAYERS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\s*(?:>\s?)+",  # quoting
        r"\s*\*\*(?=\S)",  # bold in Markdown
        r"\s*│ ?",  # a box round the text
        r"\s*\[\d+,(?P<rank>\d{1,7})\]<std(?:out|err)>:\s?",  # mpirun --tag-output
        r"\s*\[rank(?P<rank>\d{1,7})\]:\s?",  # torchrun, Python lines only
        r"\s*\[(?:default|trainer|worker)\d+(?:\|\d+)?\]:\s?",  # torchrun --tee, torchx: number within the node
        r"\s*\([\w.-]+, rank=(?P<rank>\d{1,7})[^)]*\)\s?",  # SkyPilot
        r"\s*\([\w.]*\s?pid=\d*(?:, ip=(?P<host>[\w.:-]*))?[^)]*\)\s?",  # Ray, vLLM
        r"\s*\[(?P<host>[A-Za-z][\w.-]*):\d+\]:",  # mpirun with a host tag
        r"\s*\|?\s*\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\d]*(?:Z|[+-]\d\d:?\d\d)?\s*\|?\s*(?:std(?:out|err) [FP] )?",
        r"# MAGIC |stdout: |stderr: ",
        r"(?P<host>[A-Za-z][\w.-]*): (?=(?P=host)[\w.-]*:\d+:\d+ )",  # pdsh, ClusterShell
        r"\s*[\w.-]+\s+\| (?=\S)",  # docker compose
        r"\s*(?P<rank>\d{1,5}): (?=\S)",  # srun --label
    )
)

_ENDS = ("**", "│")
"""Signs that stand at the end of a line too, where they stand at its beginning."""
_MOST = 8
_MESSAGES = ("log", "message", "msg", "text", "line", "MESSAGE", "@message", "textPayload")
"""Where collectors that write JSON lines keep the program's own line."""


@dataclass(frozen=True, slots=True)
class Peeled:
    """A line without its wrappers, and what they told."""

    text: str
    rank: int | None = None
    host: str | None = None


def peel(line: str) -> Peeled:
    """The line as the program printed it."""
    text = _ESCAPES.sub("", line) if "\x1b" in line else line
    text = _from_json(text) if text.lstrip().startswith('{"') else text
    begins = text.lstrip(" >")
    end = next((end for end in _ENDS if begins.startswith(end)), "")
    rank: int | None = None
    host: str | None = None
    for _ in range(_MOST):
        layer = _outermost(text)
        if layer is None:
            break
        found = layer.groupdict()
        rank = int(found["rank"]) if rank is None and found.get("rank") else rank
        host = host or found.get("host") or None
        text = text[layer.end() :]
    return Peeled(text.rstrip(" ").removesuffix(end).rstrip(" ") if end else text, rank, host)


def _from_json(text: str) -> str:
    try:
        record = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError):
        return text
    if not isinstance(record, dict):
        return text
    return next((record[key].rstrip("\n") for key in _MESSAGES if isinstance(record.get(key), str)), text)


def _outermost(text: str) -> re.Match[str] | None:
    for layer in _LAYERS:
        match = layer.match(text)
        if match and match.end():
            return match
    return None
