"""What a setting's value looks like when somebody spoilt it: marks that rules ask for. Pure.

NCCL keeps every byte of a value (measured on 2.13.4 to 2.32.3): a comment, a blank or a quote becomes part of the name
that it looks for.
"""

from __future__ import annotations

_LISTS = frozenset({"NCCL_SOCKET_IFNAME", "NCCL_IB_HCA", "NCCL_OOB_NET_IFNAME"})


def setting_marks(name: str, value: str) -> dict[str, str | bool | None]:
    """comment, quotes, blanks, carriage_return, exclusion, loopback_back, names; absent where they don't apply."""
    bare = value.rstrip("\r")
    core = bare.split("#")[0].strip().strip("\"'").strip()
    spoilt = {
        "comment": "#" in bare,
        "quotes": '"' in bare or "'" in bare,
        "blanks": bare != bare.strip() or (name in _LISTS and " " in bare),
        "carriage_return": value.endswith("\r"),
    }
    marks: dict[str, str | bool | None] = {key: True for key, present in spoilt.items() if present}
    marks["spoilt"] = bool(marks) or None
    marks["clean"] = core or None
    marks["shown"] = value.replace("\r", "\\r")
    if name in _LISTS:
        marks.update(_list_marks(core))
    return marks


def _list_marks(value: str) -> dict[str, str | bool | None]:
    exclusion = value.startswith("^")
    names = [name for name in value.lstrip("^=").split(",") if name]
    exact = value.startswith(("=", "^="))
    lets_lo_in = exclusion and not any(name == "lo" or (not exact and "lo".startswith(name)) for name in names)
    return {
        "exclusion": exclusion,
        "exact": exact,
        "lets_loopback_in": lets_lo_in,
        "first_name": names[0] if names else None,
    }
