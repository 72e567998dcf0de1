"""What NCCL would choose with other settings, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from ncclcheck.cli.node_text import choice_sentence, section, trouble_lines, why
from ncclcheck.doctor.foresight import Foresight, Tried
from ncclcheck.model import Change, Choice, WhatIf

_NONE = "By the settings of this node alone nothing is wrong, neither now nor then."


def whatif_text(seen: Foresight) -> str:
    """The choice with the changes beside the present one, why, what is to be said about the values, and findings."""
    sections = (
        *(one for tried in seen.nodes for one in _node(tried)),
        ("What would become of the findings", list(map(str, seen.findings)) or [_NONE]),
        ("What cannot be told", [f"- {one.question}: {one.missing}" for one in seen.unknown]),
    )
    return "\n\n".join(section(title, lines) for title, lines in sections if lines)


def whatif_json(seen: Foresight) -> dict[str, Any]:
    """The same as JSON (docs/node-json.md): the node's answer, with what would become of the findings."""
    (tried,) = seen.nodes
    return {
        **(msgspec.to_builtins(tried.answer) if tried.answer else {}),
        "findings": msgspec.to_builtins(seen.findings),
        "unknown": msgspec.to_builtins(seen.unknown),
    }


def _node(tried: Tried) -> Iterator[tuple[str, list[str]]]:
    answer = tried.answer
    if answer is not None:
        yield "", [f"With {_changes(answer)}:", choice_sentence(answer.choice), *_present(answer.choice, tried.now)]
        yield "Why", why(answer.choice)
        yield "What is wrong with it", [line for trouble in answer.troubles for line in trouble_lines(trouble)]
        yield "What is unusual", [f"- {remark}" for remark in answer.remarks]


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
