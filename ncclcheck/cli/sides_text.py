"""What was found out between nodes, for people: the conclusion on top, then networks, the matrix, and the findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ncclcheck.cli.node_text import section, table
from ncclcheck.cli.report_text import findings_text
from ncclcheck.doctor.conclude import Conclusion
from ncclcheck.model import Cell, Match, SharedNetwork
from ncclcheck.peer.saying import cell_word, uses, why

_MOST_COLUMNS = 5


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
    found = {(cell.target, cell.address, cell.interface): cell_word(cell) for cell in cells}
    heading = (f"{caller} calls {callee} at", "as NCCL does", *(f"from {name}" for name in columns[1:]))
    targets = sorted({(cell.target, cell.address) for cell in cells})
    rows = [
        (f"{target} {address}", *(found.get((target, address, name), "-") for name in columns))
        for target, address in targets
    ]
    left_out = len(interfaces) - _MOST_COLUMNS
    more = [f"({left_out} more interfaces of {caller}: --json has them)"] if left_out > 0 else []
    return [*table([heading, *rows]), *more]


def details(cells: Iterable[Cell]) -> Iterator[str]:
    """What stands behind a word, once for each address; of NCCL's way only."""
    for cell in cells:
        if not cell.interface and not cell.passed and why(cell):
            yield f"  {cell.target} {cell.address}: {why(cell)}"
