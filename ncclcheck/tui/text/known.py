"""What is known of nodes when a text is diagnosed: ours where the text names them, and those that the text describes.

Reads the text; a worker's task.
"""

from __future__ import annotations

from ncclcheck.model import Facts
from ncclcheck.tui.text.document import Document
from ncclcheck.tui.text.lines import Lines

_MOST_TEXTS = 8
"""Of a folder with more files each is a log."""


def known_of(text: Document, ours: tuple[Facts, ...]) -> tuple[Facts, ...]:
    """A node's facts count where a log names that node, and wherever settings are tried on it."""
    from ncclcheck.doctor.pasted import told_by
    from ncclcheck.doctor.recognise import LONGEST, Kind, recognise

    small = [part for part in text.texts if part.size <= LONGEST] if len(text.texts) <= _MOST_TEXTS else []
    whole = {part.name: _whole(part) for part in small}
    tried = any(recognise(content).kind is Kind.SETTINGS for content in whole.values())
    facts = tuple(one for one in ours if tried or (one.host and any(_names(part, one.host) for part in text.texts)))
    for name, content in whole.items():
        facts = told_by(name, content, facts)
    return facts


def _whole(text: Lines) -> str:
    return "\n".join(line for _, line in text.from_row(0, text.rows))


def _names(text: Lines, host: str) -> bool:
    return any(host.encode() in text.block(block)[1] for block in range(text.blocks))
