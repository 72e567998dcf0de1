"""The use case "what does this line mean?"."""

from __future__ import annotations

from ncclcheck.logs.catalogue import Message
from ncclcheck.logs.records import records
from ncclcheck.model import Where
from ncclcheck.rulebook.load import load_messages


def explain_line(line: str) -> Message | None:
    """The message of NCCL that a line is, with or without its prefix; None where it is none that is known."""
    catalogue = load_messages()
    texts = (record.text for record in records(Where("line", 1), line))
    return next((message for text in texts if (message := catalogue.find(text))), None)
