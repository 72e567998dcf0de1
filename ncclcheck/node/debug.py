"""What NCCL_DEBUG and NCCL_DEBUG_SUBSYS let through, by version (pure).

Source: ncclDebugInit of NCCL's debug.cc; measured with NCCL 2.13.4 to 2.32.3.
"""

from __future__ import annotations

from collections.abc import Mapping

from ncclcheck.node.version import since

_LEVELS = ("NONE", "VERSION", "WARN", "INFO", "ABORT", "TRACE")

_SUBSYSTEMS: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("INIT", (2,)),
    ("COLL", (2,)),
    ("P2P", (2,)),
    ("SHM", (2,)),
    ("NET", (2,)),
    ("GRAPH", (2,)),
    ("TUNING", (2,)),
    ("ALL", (2,)),
    ("ENV", (2, 7)),
    ("ALLOC", (2, 9, 9)),
    ("CALL", (2, 13)),
    ("NVLS", (2, 17)),
    ("PROXY", (2, 18)),
    ("BOOTSTRAP", (2, 21)),
    ("REG", (2, 21)),
    ("PROFILE", (2, 22)),
    ("RAS", (2, 24)),
    ("DESTROY", (2, 30)),
    ("ALLOC_HOST", (2, 30)),
)
"""Names with the version that first knows them."""


def levels(nccl: str) -> tuple[str, ...]:
    """The words that NCCL_DEBUG understands, in any letter case; every other one means silence."""
    return (*_LEVELS, "ATTN") if since(nccl, 2, 32) else _LEVELS


def subsystems(nccl: str) -> tuple[str, ...]:
    """The words that NCCL_DEBUG_SUBSYS understands; others are dropped."""
    return tuple(name for name, first in _SUBSYSTEMS if since(nccl, *first))


def level(values: Mapping[str, str], nccl: str) -> str:
    """The level in force: one of ``levels``."""
    word = values.get("NCCL_DEBUG", "").upper()
    word = word.strip() if since(nccl, 2, 30) else word
    return word if word in levels(nccl) else "NONE"


def known_subsystems(text: str, nccl: str) -> tuple[str, ...]:
    """The words of a NCCL_DEBUG_SUBSYS value that NCCL knows, blanks counting up to 2.29."""
    words = (word.upper() for word in text.removeprefix("^").split(","))
    trimmed = (word.strip() for word in words) if since(nccl, 2, 30) else words
    return tuple(word for word in trimmed if word in subsystems(nccl))


def silent(values: Mapping[str, str], nccl: str) -> bool:
    """Whether not even a WARN gets through."""
    return level(values, nccl) in ("NONE", "VERSION") or _no_subsystem(values, nccl)


def _no_subsystem(values: Mapping[str, str], nccl: str) -> bool:
    text = values.get("NCCL_DEBUG_SUBSYS")
    if text is None or since(nccl, 2, 30):  # 2.30 falls back to its default instead
        return False
    known = known_subsystems(text, nccl)
    return "ALL" in known if text.startswith("^") else not known


def shows_bootstrap(values: Mapping[str, str], nccl: str) -> bool:
    """Whether the line ``Bootstrap: Using …`` gets through."""
    if level(values, nccl) not in ("INFO", "ABORT", "TRACE"):
        return False
    text = values.get("NCCL_DEBUG_SUBSYS")
    known = known_subsystems(text, nccl) if text is not None else ()
    if text is None or (not known and since(nccl, 2, 30)):
        return True
    subsystem = "BOOTSTRAP" if since(nccl, 2, 23) else "INIT"
    return (subsystem in known or "ALL" in known) != text.startswith("^")
