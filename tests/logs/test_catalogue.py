"""NCCL's own messages: every one is found by its own text, and the version chooses between wordings."""

from __future__ import annotations

import re

import pytest

from ncclcheck.logs.catalogue import Catalogue, Message
from ncclcheck.rulebook.load import load_messages

CATALOGUE = load_messages()
_VALUES = {"d": "3", "i": "3", "u": "3", "x": "1b0", "X": "1B0", "p": "0x7f00", "f": "1.5", "g": "1.5", "e": "1e-3"}
_PLACE = re.compile(r"%[-+ #0-9.*]*(?:hh|h|ll|l|z)?([a-zA-Z])|\{[\w,:. ]+\}")
# Shorter fixed parts than that would find themselves everywhere.
TELLING = [message for message in CATALOGUE.all if len(max(message.literals, key=len, default="").strip()) >= 5]


def printed(message: Message) -> str:
    """A line as the format prints it."""
    return _PLACE.sub(lambda place: _VALUES.get(place[1] or "", "eth0"), message.format)


def test_nearly_all_messages_have_words_to_go_by() -> None:
    assert len(TELLING) >= 0.97 * len(CATALOGUE.all) >= 0.97 * 1700


def test_every_message_is_found_by_its_own_text() -> None:
    lost = [message.format for message in TELLING if not message.pattern.search(printed(message))]
    strangers = [message.format for message in TELLING if CATALOGUE.find(printed(message), message.first) is None]
    assert (lost, strangers) == ([], [])


@pytest.mark.parametrize("message", [m for m in TELLING if m.meaning], ids=lambda m: m.format[:40])
def test_a_message_with_a_meaning_is_not_taken_for_another(message: Message) -> None:
    found = CATALOGUE.find(printed(message), message.first)
    assert found is not None
    assert found.meaning


def test_the_version_chooses_between_wordings() -> None:
    old = Message("%s failed", "WARN", "socket", "fatal", "2.3.5", "2.12.12", meaning="old")
    new = Message("%s failed", "WARN", "socket", "fatal", "2.13.4", "2.32.3", meaning="new")
    catalogue = Catalogue([new, old])
    assert catalogue.find("connect failed", "2.10.3") == old
    assert catalogue.find("connect failed", "2.28.9") == new
    assert catalogue.find("nothing of the kind") is None
