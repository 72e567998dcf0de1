"""Who reaches whom, as tables of words: a row for each address that is called, a column for each interface. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from ncclcheck.model import Cell, Facts
from ncclcheck.peer.calls import bare, calls_of, doors_of, listening_addresses
from ncclcheck.peer.saying import cell_word, why
from ncclcheck.tui.wording import Tone, line

_TO_COME, _NEVER = "…", "-"

Key = tuple[str, str, str]
"""The callee's interface, its address, and the caller's interface; empty for the way that NCCL goes."""
Word = tuple[str, Tone]


@dataclass(frozen=True, slots=True)
class Table:
    """The connections from one node to another."""

    heading: tuple[str, ...]
    rows: tuple[tuple[Word, ...], ...]
    left_out: int = 0
    """Interfaces for which there was no room."""


def tables(nodes: Sequence[Facts], cells: Sequence[Cell], most: int, *, going_on: bool) -> Iterator[Table]:
    """A table for each direction of each pair; ``most`` is how many interfaces there is room for.

    While it is going on, what is still to be tried has its place already.
    """
    for caller, callee in permutations(nodes, 2):
        found = {(cell.target, bare(cell.address), cell.interface): cell for cell in cells if _is(cell, caller, callee)}
        to_come = _expected(caller, callee) if going_on else ()
        if found or to_come:
            yield _table(caller, callee, found, set(to_come), most)


def _is(cell: Cell, caller: Facts, callee: Facts) -> bool:
    return (cell.caller, cell.callee) == (caller.host, callee.host)


def _expected(caller: Facts, callee: Facts) -> Iterator[Key]:
    ports = tuple((address, 0) for address in listening_addresses(callee))
    for call in calls_of(caller, doors_of(callee, ports)):
        yield (call.target, bare(call.address), call.interface)


def _table(caller: Facts, callee: Facts, found: dict[Key, Cell], to_come: set[Key], most: int) -> Table:
    keys = [*found, *to_come]
    own = sorted({interface for _, _, interface in keys if interface})
    columns = ["", *own[:most]]
    targets = sorted({(target, address) for target, address, _ in keys})
    taken = callee.choice.address if callee.choice else None
    return Table(
        (
            f"{line(caller.host)} calls {line(callee.host)} at",
            "as NCCL does",
            *(f"from {line(one)}" for one in own[:most]),
        ),
        tuple(
            (
                (f"{'→' if address == taken else ' '} {line(target)} {line(address)}", Tone.PLAIN),
                *(_word(found.get((target, address, one)), (target, address, one) in to_come) for one in columns),
            )
            for target, address in targets
        ),
        len(own) - len(own[:most]),
    )


def _word(cell: Cell | None, to_come: bool) -> Word:
    if cell is None:
        return (_TO_COME if to_come else _NEVER), Tone.MUTED
    return cell_word(cell), Tone.GOOD if cell.passed else Tone.BAD


def details(cells: Iterable[Cell]) -> Iterator[str]:
    """What stands behind the words, of the way that NCCL goes."""
    for cell in cells:
        if not cell.interface and not cell.passed and why(cell):
            yield line(f"{cell.caller} to {cell.target} {cell.address}: {why(cell)}")
