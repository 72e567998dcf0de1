"""What NCCL makes of a value that its author meant otherwise (pure)."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ncclcheck.model import Trouble
from ncclcheck.node import debug
from ncclcheck.node.catalogue import catalogue
from ncclcheck.node.pattern import parse
from ncclcheck.node.undecodable import length
from ncclcheck.node.version import since

INTERFACE_LISTS = ("NCCL_SOCKET_IFNAME", "NCCL_OOB_NET_IFNAME", "NCCL_IB_HCA")
"""Settings with the list syntax of NCCL_SOCKET_IFNAME."""
GLOO_IFNAME = "GLOO_SOCKET_IFNAME"
_WORD_LISTS = (*INTERFACE_LISTS, GLOO_IFNAME, "NCCL_DEBUG_SUBSYS")
_FILES = ("NCCL_CONF_FILE", "NCCL_DEBUG_FILE", "NCCL_TOPO_FILE", "NCCL_TOPO_DUMP_FILE", "NCCL_GRAPH_FILE")

_TRUE = ("true", "t", "yes", "y", "on", "enable", "enabled")
_FALSE = ("false", "f", "no", "n", "off", "disable", "disabled")


@dataclass(frozen=True, slots=True)
class Fault:
    """One trouble of a value, and the value without it."""

    trouble: Trouble
    meaning: str
    better: str


Check = Callable[[str, str, str], "Fault | None"]
"""Takes name, value and NCCL version."""


def faults(name: str, value: str, nccl: str) -> Iterator[Fault]:
    """Every fault of a value, each one found in what the correction before it left."""
    for check in _CHECKS:
        fault = check(name, value, nccl)
        if fault is not None:
            yield fault
            value = fault.better


def _carriage_return(name: str, value: str, nccl: str) -> Fault | None:
    if not value.endswith("\r"):
        return None
    meaning = f"the invisible carriage return stays in the value{_consequence(name)}"
    return Fault(Trouble.CARRIAGE_RETURN, meaning, value.rstrip("\r"))


def _comment(name: str, value: str, nccl: str) -> Fault | None:
    found = re.search(r"(^|\s)\s*#.*", value, re.DOTALL)
    if found is None:
        return None
    better = value[: found.start()].rstrip()
    if _is_number(name) and better:
        return Fault(Trouble.COMMENT, "NCCL reads the number and drops the rest, by luck; text would be kept", better)
    return Fault(Trouble.COMMENT, f"the comment is part of the value “{value}”{_consequence(name, value)}", better)


def _blanks(name: str, value: str, nccl: str) -> Fault | None:
    better = value.strip()
    if name in _WORD_LISTS and not (name == "NCCL_DEBUG_SUBSYS" and since(nccl, 2, 30)):
        better = re.sub(r"\s+", "", better)
    if better == value:
        return None
    if not better:
        return Fault(Trouble.BLANKS, f"the value is nothing but blanks{_consequence(name)}", "")
    return Fault(Trouble.BLANKS, f"the blanks are part of the value “{value}”{_consequence(name, value)}", better)


def _quotes(name: str, value: str, nccl: str) -> Fault | None:
    better = value.rstrip(";").strip("\"'")
    if better == value:
        return None
    signs = "quotes are" if re.search("[\"']", value) else "semicolon is"
    return Fault(Trouble.QUOTES, f"the {signs} part of the value {value}{_consequence(name, value)}", better)


def _consequence(name: str, value: str = "") -> str:
    if name == "NCCL_SOCKET_IFNAME":
        if value.lstrip("\"' ").startswith("^"):
            return ": that name fits no interface, so what it should leave out may be chosen, without a word"
        return ": that name fits no interface, and NCCL finds none" if "," not in value else ": that name fits none"
    return ": an unknown word, and NCCL prints nothing at all, not even warnings" if name == "NCCL_DEBUG" else ""


def _misplaced_mark(name: str, value: str, nccl: str) -> Fault | None:
    if name not in INTERFACE_LISTS:
        return None
    marks, rest = _split_marks(value)
    entries = [_split_marks(entry) for entry in rest.split(",")]
    inner = "".join(entry_marks for entry_marks, _ in entries)
    if marks in ("", "^", "=", "^=") and not inner:
        return None
    if "^" in inner and "^" not in marks:
        return None  # nobody can say what “eth0,^eth1” was meant to be
    wanted = ("^" if "^" in marks else "") + ("=" if "=" in marks + inner else "")
    meaning = f"“^” and “=” count only as the very first characters, in this order; in {value} one is part of a name"
    return Fault(Trouble.MISPLACED_MARK, meaning, wanted + ",".join(bare for _, bare in entries))


def _gloo_mark(name: str, value: str, nccl: str) -> Fault | None:
    """PyTorch splits the list at its commas; Gloo takes each as the beginning of a name (measured with torch 2.13)."""
    if name != GLOO_IFNAME or value[:1] not in ("^", "="):
        return None
    meaning = "Gloo knows no “^” and no “=”: it looks for a name that begins with this very text, and finds none"
    return Fault(Trouble.MISPLACED_MARK, meaning, "" if value.startswith("^") else value.lstrip("="))


def _split_marks(text: str) -> tuple[str, str]:
    bare = text.lstrip("^=")
    return text[: len(text) - len(bare)], bare


def _wildcard(name: str, value: str, nccl: str) -> Fault | None:
    if name not in INTERFACE_LISTS or not re.search(r"[*?]", value):
        return None
    better = re.sub(r"[*?]+(?=,|$)", "", value)
    return Fault(Trouble.WILDCARD, "there are no wildcards: a name is taken as a beginning anyway", better)


def _too_short(name: str, value: str, nccl: str) -> Fault | None:
    if name != "NCCL_SOCKET_IFNAME" or length(value) != 1:
        return None
    return Fault(Trouble.TOO_SHORT, "a value of one character does not count: NCCL chooses by itself", "")


def _exclusion(name: str, value: str, nccl: str) -> Fault | None:
    pattern = parse(value, nccl)
    if name != "NCCL_SOCKET_IFNAME" or not pattern.exclude or not pattern.names or not pattern.admits("lo"):
        return None
    lacking = ["lo"] if not pattern.admits("docker0") else ["docker0" if pattern.exact else "docker", "lo"]
    meaning = "this list replaces NCCL's own one, so lo is not left out any more: NCCL takes 127.0.0.1"
    return Fault(Trouble.EXCLUSION, meaning, ",".join([value.rstrip(","), *lacking]))


def _silenced(name: str, value: str, nccl: str) -> Fault | None:
    if name == "NCCL_DEBUG" and value.upper() not in debug.levels(nccl):
        meaning = f"“{value}” is no level, and NCCL prints nothing at all, not even warnings"
        near = difflib.get_close_matches(value.upper(), debug.levels(nccl), n=1, cutoff=0.7)
        return Fault(Trouble.SILENCED, meaning, near[0] if near else "INFO")
    if name == "NCCL_DEBUG_SUBSYS" and value and debug.silent({"NCCL_DEBUG": "INFO", name: value}, nccl):
        meaning = "it lets no subsystem through, so NCCL prints nothing at all, not even warnings"
        return Fault(Trouble.SILENCED, meaning, "INIT,BOOTSTRAP,ENV,NET")
    return None


def _subsystem(name: str, value: str, nccl: str) -> Fault | None:
    if name != "NCCL_DEBUG_SUBSYS":
        return None
    known = debug.known_subsystems(value, nccl)
    words = value.removeprefix("^").split(",")
    strange = [word for word in words if word and word.upper().strip() not in known]
    if not known or not strange:
        return None
    better = value[: value.startswith("^")] + ",".join(word for word in words if word not in strange)
    return Fault(Trouble.NOT_A_CHOICE, f"NCCL {nccl} knows no subsystem {', '.join(strange)} and drops it", better)


def _family(name: str, value: str, nccl: str) -> Fault | None:
    if name != "NCCL_SOCKET_FAMILY" or value in ("AF_INET", "AF_INET6", ""):
        return None
    better = "AF_INET6" if "6" in value else "AF_INET"
    return Fault(Trouble.NOT_A_CHOICE, f"“{value}” is dropped without a word: only AF_INET and AF_INET6 count", better)


def _is_number(name: str) -> bool:
    # The level settings take words (PHB, SYS) beside numbers.
    return name in catalogue() and catalogue()[name].type == "int" and not name.endswith("_LEVEL")


def _number(name: str, value: str, nccl: str) -> Fault | None:
    if not _is_number(name) or not value:
        return None
    if value.lower() in _TRUE + _FALSE:
        better = "1" if value.lower() in _TRUE else "0"
        return _not_a_number(f"“{value}” is read as 0", better) if better == "1" else None
    if re.fullmatch(r"[+-]?0\d+", value):
        octal = re.match(r"[+-]?0[0-7]*", value)
        read = int(octal[0], 8) if octal else 0
        return _not_a_number(f"the leading zero makes it octal: NCCL reads {read}", str(int(value)))
    if not re.match(r"\s*[+-]?\d", value):
        return _not_a_number(f"“{value}” is no number, and NCCL reads it as 0", "0")
    return None


def _not_a_number(meaning: str, better: str) -> Fault:
    return Fault(Trouble.NOT_A_NUMBER, meaning, better)


def _range(name: str, value: str, nccl: str) -> Fault | None:
    bounds = catalogue()[name].range if name in catalogue() else None
    if bounds is None or not re.fullmatch(r"\d+", value):
        return None
    nearest = min(max(int(value), bounds[0]), bounds[1])
    if nearest == int(value):
        return None
    return Fault(Trouble.OUT_OF_RANGE, f"only {bounds[0]} to {bounds[1]} mean something", str(nearest))


def _tilde(name: str, value: str, nccl: str) -> Fault | None:
    if name not in _FILES or not value.startswith("~"):
        return None
    return Fault(Trouble.TILDE, "NCCL does not expand “~”: write the whole path", value)


_CHECKS: tuple[Check, ...] = (
    _carriage_return,
    _comment,
    _blanks,
    _quotes,
    _misplaced_mark,
    _gloo_mark,
    _wildcard,
    _too_short,
    _exclusion,
    _silenced,
    _subsystem,
    _family,
    _number,
    _range,
    _tilde,
)
