"""What was found out between nodes, for people: the conclusion on top, then networks, the matrix, and the findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ncclcheck.cli.node_text import section, table
from ncclcheck.cli.report_text import findings_text
from ncclcheck.doctor.conclude import Conclusion
from ncclcheck.model import Cell, Match, Outcome, SharedNetwork, Use

_MOST_COLUMNS = 5
_WORDS = {
    Outcome.MTU_TOO_SMALL: "MTU!",
    Outcome.NO_NEIGHBOUR: "no neighbour",
    Outcome.STRANGER: "not it",
    Outcome.WRONG_SOURCE: "ok (NAT?)",
}


def conclusion_text(known: Conclusion) -> str:
    """The whole answer."""
    sides = known.sides
    blocks = [headline(sides.match)]
    networks = table(_network_rows(sides.match.networks))
    blocks.append(section("Networks that they share", networks or ["none"]))
    if sides.cells:
        blocks.append(section("Who reaches whom", list(matrix_lines(sides.cells))))
    blocks.append(findings_text(known.diagnosis))
    return "\n\n".join(blocks)


def headline(match: Match) -> str:
    """``Use eth1 on node-a and ens5 on node-b``, and how sure that is."""
    if not match.use:
        return f"No interfaces to recommend: {match.because}."
    sure = "" if match.proved else " (not proved)"
    return f"Use {uses(match.use)}{sure}: {match.because}."


def uses(use: tuple[Use, ...]) -> str:
    """The interfaces with their nodes, in a sentence; one that is the same everywhere is said once."""
    names = {one.interface for one in use}
    if len(names) == 1 and len(use) > 1:
        hosts = "both nodes" if len(use) == 2 else f"all {len(use)} nodes"
        return f"{names.pop()} on {hosts}"
    *others, last = [f"{one.interface} on {one.host}" for one in use]
    return f"{', '.join(others)} and {last}" if others else last


def _network_rows(networks: Iterable[SharedNetwork]) -> Iterator[tuple[str, ...]]:
    for network in networks:
        for number, member in enumerate(network.members):
            speed = f"{member.speed} Mbit/s" if member.speed else ""
            mtu = f"MTU {member.mtu}" if member.mtu else ""
            name = network.network if number == 0 else ""
            yield (name, member.host, member.interface, member.address, mtu, speed)


# The matrix ----------------------------------------------------------------------------------------------------------


def matrix_lines(cells: tuple[Cell, ...]) -> Iterator[str]:
    """A table for each pair of nodes and direction; rows are what was called, columns where from."""
    pairs = dict.fromkeys(
        (cell.caller, cell.callee) for cell in sorted(cells, key=lambda one: (one.caller, one.callee))
    )
    for number, (caller, callee) in enumerate(pairs):
        those = tuple(cell for cell in cells if (cell.caller, cell.callee) == (caller, callee))
        yield from ([""] if number else [])
        yield from matrix_table(caller, callee, those)
        yield from details(those)


def matrix_table(caller: str, callee: str, cells: tuple[Cell, ...]) -> list[str]:
    """The connections from one node to another; the first column is the way that NCCL takes."""
    interfaces = sorted({cell.interface for cell in cells if cell.interface})
    columns = ["", *interfaces[:_MOST_COLUMNS]]
    found = {(cell.target, cell.address, cell.interface): cell_text(cell) for cell in cells}
    heading = (f"{caller} calls {callee} at", "as NCCL does", *(f"from {name}" for name in columns[1:]))
    targets = sorted({(cell.target, cell.address) for cell in cells})
    rows = [
        (f"{target} {address}", *(found.get((target, address, name), "-") for name in columns))
        for target, address in targets
    ]
    left_out = len(interfaces) - _MOST_COLUMNS
    more = [f"({left_out} more interfaces of {caller}: --json has them)"] if left_out > 0 else []
    return [*table([heading, *rows]), *more]


def cell_text(cell: Cell) -> str:
    """One cell in a word."""
    if cell.outcome is Outcome.OK and cell.seconds is not None:
        return f"ok {cell.seconds * 1000:.2g} ms" if cell.seconds < 0.1 else f"ok {cell.seconds:.1f} s"
    return _WORDS.get(cell.outcome, cell.outcome.value)


def details(cells: Iterable[Cell]) -> Iterator[str]:
    """What stands behind a word, once for each address; of NCCL's way only."""
    for cell in cells:
        if not cell.interface and not cell.passed and (cell.detail or cell.arrived is not None):
            yield f"  {cell.target} {cell.address}: {_why(cell)}"


def _why(cell: Cell) -> str:
    if cell.arrived is None:
        return cell.detail
    where = "the call arrived, its answer did not come back" if cell.arrived else "the call never arrived"
    return f"{cell.detail}; {where}" if cell.detail else where
