"""What the ends of a tried connection say to each other: one line each, and proof that both know the key (pure).

The key itself never travels: a proof is its HMAC-SHA256 over what is said and over the caller's random number.
"""

from __future__ import annotations

import hashlib
import hmac

import msgspec

LONGEST = 512
"""Bytes of a line; whoever sends more is none of us."""
MOST_BYTES = 262144
"""That a caller may ask to be sent."""


class Hello(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The caller's line."""

    caller: str
    callee: str
    """Whom it means to reach."""
    nonce: str
    """A random number, so that an answer cannot be a copy."""
    size: int
    """Bytes that both sides then send, first the caller."""
    proof: str = ""


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The callee's line."""

    host: str
    """Who it is."""
    source: str
    """The caller's address as it sees it."""
    proof: str = ""


def _proof(key: str, *said: str) -> str:
    return hmac.new(key.encode(), "\0".join(said).encode(), hashlib.sha256).hexdigest()


def _hello_proof(hello: Hello, key: str) -> str:
    return _proof(key, "call", hello.caller, hello.callee, hello.nonce, str(hello.size))


def _answer_proof(answer: Answer, hello: Hello, key: str) -> str:
    return _proof(key, "answer", answer.host, answer.source, hello.nonce)


def hello_line(hello: Hello, key: str) -> bytes:
    """The hello with its proof, ready to be sent."""
    return _line(msgspec.structs.replace(hello, proof=_hello_proof(hello, key)))


def hello_of(line: bytes, key: str) -> Hello | None:
    """The hello in a line; ``None`` where it is none, or not by one who knows the key."""
    try:
        hello = msgspec.json.decode(line, type=Hello)
    except (msgspec.DecodeError, UnicodeError):
        return None
    known = _same(hello.proof, _hello_proof(hello, key))
    return hello if known and 0 <= hello.size <= MOST_BYTES else None


def answer_line(answer: Answer, hello: Hello, key: str) -> bytes:
    """The answer to that hello, with its proof, ready to be sent."""
    return _line(msgspec.structs.replace(answer, proof=_answer_proof(answer, hello, key)))


def answer_of(line: bytes, hello: Hello, key: str) -> Answer | None:
    """The answer in a line; ``None`` where it is none, or not to that hello, or not by one who knows the key."""
    try:
        answer = msgspec.json.decode(line, type=Answer)
    except (msgspec.DecodeError, UnicodeError):
        return None
    return answer if _same(answer.proof, _answer_proof(answer, hello, key)) else None


def _same(one: str, other: str) -> bool:
    # In bytes: compare_digest refuses text that is not ASCII.
    return hmac.compare_digest(one.encode(errors="replace"), other.encode())


def _line(said: Hello | Answer) -> bytes:
    return msgspec.json.encode(said) + b"\n"
