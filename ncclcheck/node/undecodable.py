"""Bytes that are no UTF-8, in names and values from the environment or from files (pure).

Inside they are lone surrogates, as in ``os.environ``, so that nothing is lost; no terminal and no JSON takes those.
"""

from __future__ import annotations


def shown(text: str) -> str:
    """The text with such bytes written as ``\\\\xNN``."""
    return _bytes(text).decode("utf-8", "backslashreplace")


def length(text: str) -> int:
    """How many bytes it is for NCCL."""
    return len(_bytes(text))


def _bytes(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # other lone surrogates, which no environment and no file can hold
        return text.encode("utf-8", "surrogatepass")
