"""What NCCL would choose with other settings, for people."""

from __future__ import annotations

from ncclcheck.cli.node_text import choice_sentence, section, trouble_lines, why
from ncclcheck.model import Change, Choice, WhatIf


def whatif_text(answer: WhatIf, now: Choice | None) -> str:
    """The choice with the changes, the present one beside it, why, and what is to be said about the values."""
    sections = (
        ("", [f"With {_changes(answer)}:", choice_sentence(answer.choice), *_present(answer.choice, now)]),
        ("Why", why(answer.choice)),
        ("What is wrong with it", [line for trouble in answer.troubles for line in trouble_lines(trouble)]),
        ("What is unusual", [f"- {remark}" for remark in answer.remarks]),
    )
    return "\n\n".join(section(title, lines) for title, lines in sections if lines)


def _changes(answer: WhatIf) -> str:
    return ", ".join(map(change_text, answer.changes))


def change_text(change: Change) -> str:
    """``NAME=VALUE``, or that it is not set."""
    return f"{change.name} not set" if change.value is None else f"{change.name}={change.value}"


def _present(choice: Choice | None, now: Choice | None) -> list[str]:
    if choice is None or now is None:
        return []
    same = (choice.interface, choice.address) == (now.interface, now.address)
    return ["That is what it does now, too."] if same else [f"As things are: {choice_sentence(now)}"]
