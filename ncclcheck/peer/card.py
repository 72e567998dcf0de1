"""The node card: what a node tells about itself, as a few lines that can be pasted anywhere (pure).

    NCCLCARD1 node-a:
    PAYLOADPAYLOAD…    base32 (RFC 4648) of the bytes of ``card_wire.py``, without padding
    END-CHECKSUM       of these bytes: the first five of their SHA-256, in base32

The payload has capital letters and the digits 2 to 7: nothing that a shell, a terminal, Markdown or a chat program
gives a meaning. So whatever else stands between them, quotation marks, breaks and blanks, can be passed over.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections import defaultdict
from dataclasses import dataclass

from ncclcheck.errors import PeerError
from ncclcheck.model import Facts
from ncclcheck.peer import card_wire as wire
from ncclcheck.peer.card_trim import of

__all__ = ["checked", "has_end", "looks_like", "of", "read", "write"]

_WIDTH = 64
_MOST_CARDS = 1024
_LONGEST = 2 * wire.LARGEST
"""Characters of a payload."""
_MENTION = 32
"""Characters of a payload: fewer behind the first word, and no last word, is talk about cards."""

# Colours and the like (ECMA-48, 5.4); what they leave behind would be taken for payload.
_ESCAPES = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"))
_NOISE = re.compile(r"[^A-Za-z0-9:-]+")
_NOT_PAYLOAD = re.compile(r"[^A-Z2-7]+")
_FIRST_WORD = re.compile(r"NCCLCARD([1-9])([a-z0-9-]{0,80}):")
_LAST_WORD = re.compile(r"END-([A-Z2-7]{8})")
_HEADLESS = re.compile(r"[A-Z2-7]{40}END-[A-Z2-7]{8}")
"""The end of a card, whatever its beginning is like."""
_LABEL = re.compile(r"[ \t]*(?!NCCLCARD)(\[[^\]]{1,80}\](?:<\w{1,10}>)?:?|[^\s:|]{1,80}(?::|[ \t]+\|))[ \t]?")


def write(facts: Facts) -> str:
    """The card of a node; PeerError where the facts hold what no node has, such as an address that is none."""
    try:
        packed = wire.pack(of(facts))
    except ValueError as error:
        problem = f"no card can be made of it: {error}"
        raise PeerError(problem, place=facts.host, next_step="See what is odd: ncclcheck node --json") from error
    payload = _base32(packed)
    lines = [payload[start : start + _WIDTH] for start in range(0, len(payload), _WIDTH)]
    return "\n".join([f"NCCLCARD{wire.VERSION} {_shown(facts.host)}:", *lines, f"END-{_checksum(packed)}"])


def checked(facts: Facts) -> Facts:
    """What another node says of itself, as its card would have it: with no more on it, and nothing that is no fact.

    PeerError where an address is none, a count is absurd, or a name holds what no name does.
    """
    return read(write(facts))[0]


def _shown(host: str) -> str:
    # Without dots: chat programs make links of names that have some.
    return re.sub(r"[^a-z0-9]+", "-", host.lower()).strip("-")[:40] or "node"


def _base32(content: bytes) -> str:
    return base64.b32encode(content).decode().rstrip("=")


def _checksum(packed: bytes) -> str:
    return _base32(hashlib.sha256(packed).digest()[:5])


def looks_like(text: str) -> bool:
    """Whether there is the beginning of a card in the text, whole or not."""
    return _FIRST_WORD.search(_bare(text)) is not None


def has_end(text: str) -> bool:
    """Whether there is a last word of a card in the text."""
    return _LAST_WORD.search(_bare(text)) is not None


def _bare(text: str) -> str:
    return _NOISE.sub("", _ESCAPES.sub("", text).translate(_DASHES))


def read(text: str) -> tuple[Facts, ...]:
    """Every card in the text, each once, in their order there; none where there is no beginning of one.

    PeerError for a card that is cut off, damaged, of another version, or not what a node can say of itself.
    """
    try:
        return _read(text)
    except PeerError:
        # Perhaps each line has the name of its sender in front (srun -l, pdsh, mpirun --tag-output), in any order.
        sorted_out = _by_label(text)
        if sorted_out is None:
            raise
        try:
            return _read(sorted_out)
        except PeerError:
            pass
        raise


def _by_label(text: str) -> str | None:
    """The lines of each sender together, without the labels; ``None`` where there are no labels."""
    lines = defaultdict(list)
    for line in text.splitlines():
        label = _LABEL.match(line)
        lines[label[1] if label else ""].append(line[label.end() :] if label else line)
    return "\n".join(line for sender in lines.values() for line in sender) if set(lines) != {""} else None


@dataclass(frozen=True, slots=True)
class _Part:
    """What stands between a first word and the next one."""

    version: int
    place: str
    text: str

    @property
    def is_mention(self) -> bool:
        return not _LAST_WORD.search(self.text) and len(_NOT_PAYLOAD.sub("", self.text)) < _MENTION


def _read(text: str) -> tuple[Facts, ...]:
    bare = _bare(text)
    parts = _parts(bare)
    cards = [_card(part) for part in parts if not part.is_mention]
    if len(_HEADLESS.findall(bare)) > len(cards):
        problem = "its first word is missing or changed (NCCLCARD1)"
        raise PeerError(problem, place="a card in the text", next_step=_AGAIN)
    if parts and not cards:
        raise _cut_off(parts[0])
    return tuple(dict.fromkeys(cards))


def _parts(bare: str) -> list[_Part]:
    first_words = list(_FIRST_WORD.finditer(bare))
    if len(first_words) > _MOST_CARDS:
        raise PeerError(f"more than {_MOST_CARDS} cards", place="the text", next_step="Give fewer at a time")
    ends = [*(word.start() for word in first_words), len(bare)][1:]
    return [
        _Part(int(word[1]), f"the card of {word[2] or 'a node'}", bare[word.end() : end])
        for word, end in zip(first_words, ends, strict=True)
    ]


def _card(part: _Part) -> Facts:
    if part.version != wire.VERSION:
        problem = f"made by a newer ncclcheck (card version {part.version}); this one reads version {wire.VERSION}"
        raise PeerError(problem, place=part.place, next_step="Bring ncclcheck to the same version on all nodes")
    last_words = list(_LAST_WORD.finditer(part.text))
    if not last_words:
        raise _cut_off(part)
    # A payload may end in END, and a list of lines begin with dashes: the checksum tells the real last word.
    for word in last_words[:8]:
        packed = _packed(part.text[: word.start()])
        if packed and _checksum(packed) == word[1]:
            return wire.unpack(packed, part.place)
    problem = "its checksum does not fit: characters have been lost or changed on the way"
    raise PeerError(problem, place=part.place, next_step=_AGAIN)


_AGAIN = "Copy it again, from NCCLCARD to the end of the word that begins with END-"


def _cut_off(part: _Part) -> PeerError:
    return PeerError("it is cut off: its last word is missing (END-…)", place=part.place, next_step=_AGAIN)


def _packed(text: str) -> bytes:
    payload = _NOT_PAYLOAD.sub("", text)
    if len(payload) > _LONGEST:
        return b""
    try:
        return base64.b32decode(payload + "=" * (-len(payload) % 8))
    except ValueError:  # of a length that no bytes give
        return b""
