"""How things between nodes are called, the same on every screen. Pure; whoever shows it escapes it."""

from __future__ import annotations

from ncclcheck.model import Cell, Outcome, Use

_WORDS = {
    Outcome.MTU_TOO_SMALL: "MTU!",
    Outcome.NO_NEIGHBOUR: "no neighbour",
    Outcome.STRANGER: "not it",
    Outcome.WRONG_SOURCE: "ok (NAT?)",
}


def uses(use: tuple[Use, ...]) -> str:
    """``eth1 on node-a and ens5 on node-b``; an interface that is the same everywhere is said once."""
    names = {one.interface for one in use}
    if len(names) == 1 and len(use) > 1:
        hosts = "both nodes" if len(use) == 2 else f"all {len(use)} nodes"
        return f"{names.pop()} on {hosts}"
    *others, last = [f"{one.interface} on {one.host}" for one in use]
    return f"{', '.join(others)} and {last}" if others else last


def cell_word(cell: Cell) -> str:
    """What became of a connection, in a word or two: ``ok 0.12 ms``, ``dropped``."""
    if cell.outcome is Outcome.OK and cell.seconds is not None:
        return f"ok {cell.seconds * 1000:.2g} ms" if cell.seconds < 0.1 else f"ok {cell.seconds:.1f} s"
    return _WORDS.get(cell.outcome, cell.outcome.value)


def why(cell: Cell) -> str:
    """What stands behind the word; empty where there is nothing more to say."""
    if cell.arrived is None:
        return cell.detail
    where = "the call arrived, its answer did not come back" if cell.arrived else "the call never arrived"
    return f"{cell.detail}; {where}" if cell.detail else where
