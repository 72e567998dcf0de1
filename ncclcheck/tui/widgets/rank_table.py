"""The ranks of a job as rows that can be opened; of ten thousand rows only what is visible is ever made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rich.cells import set_cell_size
from textual.binding import Binding, BindingType

from ncclcheck.doctor.ranks import Group, Key, Roll
from ncclcheck.tui import ranks
from ncclcheck.tui.widgets.row_list import Part, RowList, cut
from ncclcheck.tui.wording import Tone

_GAP = 2
_LEAD = 5
"""Cells before the first column: three for what is opened, one for the sign, a blank."""
_FEWEST, _SHORT, _LONG = 12, 16, 24
"""Cells of whom it waits for: the fewest, and those that it is given before a time and before a line's number."""


@dataclass(frozen=True, slots=True)
class Row:
    """A group as it stands in the table."""

    group: Group
    depth: int


@dataclass(frozen=True, slots=True)
class Widths:
    """Cells of each column; a column without any is left out."""

    columns: tuple[int, ...]

    def line(self, texts: tuple[str, ...]) -> str:
        """The texts under each other's headings."""
        return (" " * _GAP).join(set_cell_size(cut(text, to), to) for text, to in self._taken(texts)).rstrip()

    def _taken(self, texts: tuple[str, ...]) -> list[tuple[str, int]]:
        return [(text, width) for text, width in zip(texts, self.columns, strict=True) if width]


class RankTable(RowList):
    """Shows a roll."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "enter", "enter", "Open/line", id="ranks.enter", tooltip="Open or close a group; a rank: its last line"
        ),
        Binding("right", "open(True)", "Open", show=False, id="ranks.open", tooltip="Show a group rank by rank"),
        Binding("left", "open(False)", "Close", show=False, id="ranks.close", tooltip="Back to one row for a group"),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.roll: Roll | None = None
        self._open: set[Key] = set()
        self._rows: list[Row] = []
        self._widths = Widths(())

    @property
    def count(self) -> int:
        """Groups, and what the open ones are made of."""
        return len(self._rows)

    @property
    def group(self) -> Group | None:
        """What stands under the cursor."""
        return self._rows[self.cursor].group if self._rows else None

    def show(self, roll: Roll, *, as_before: bool = False) -> None:
        """Show another roll; where it is of the same log, what is open stays so, and the cursor with its rank."""
        under = self.group.key if self.group and as_before else None
        self._open = self._open if as_before else set()
        self.roll = roll
        self._fit()
        self._flatten()
        self.renew(self._index(under) or 0)

    def heading(self) -> str:
        """The names of the columns, to stand above the table."""
        return " " * _LEAD + self._widths.line(ranks.HEADINGS)

    def on_resize(self) -> None:
        """Give each column what it needs, and the rest to whom a rank waits for."""
        self._fit()
        self.post_message(self.Moved())

    def parts(self, index: int) -> tuple[Part, ...]:
        """Mark, sign and cells."""
        row = self._rows[index]
        cells = ranks.cells(row.group)
        mark = ("-" if row.group.key in self._open else "+") if row.group.parts else " "
        lead = set_cell_size(f"{' ' * row.depth}{mark}", _LEAD - 2)
        return ((lead, Tone.MUTED), (f"{cells.sign} ", cells.tone), (self._widths.line(cells.texts), Tone.PLAIN))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Without a row these keys are somebody else's."""
        return self.count > 0 or action not in ("enter", "open")

    def action_enter(self) -> None:
        """Open or close a group; of a single rank the place is asked for what Enter does there."""
        group = self.group
        if group is not None and group.parts:
            self.action_open(group.key not in self._open)
        else:
            self.post_message(self.Clicked())

    def action_open(self, wanted: bool) -> None:
        """Open the group under the cursor, or close it; within one, close that one."""
        group = self.group
        if group is None:
            return
        if wanted and group.parts:
            self._open.add(group.key)
        elif not wanted:
            group = group if group.key in self._open else self._above(self.cursor) or group
            self._open.discard(group.key)
        self._flatten()
        self.renew(self._index(group.key) or 0)

    def _above(self, index: int) -> Group | None:
        depth = self._rows[index].depth
        outer = (row.group for row in reversed(self._rows[:index]) if row.depth < depth)
        return next(outer, None)

    def _index(self, key: Key | None) -> int | None:
        return next((at for at, row in enumerate(self._rows) if row.group.key == key), None)

    def _flatten(self) -> None:
        self._rows = []
        self._add(self.roll.groups if self.roll else (), 0)

    def _add(self, groups: tuple[Group, ...], depth: int) -> None:
        for group in groups:
            self._rows.append(Row(group, depth))
            if group.parts and group.key in self._open:
                self._add(group.parts, depth + 1)

    def _fit(self) -> None:
        fitted = _fitted(ranks.needs(self.roll), self.size.width - _LEAD) if self.roll else ()
        self._widths = Widths(fitted)


def _fitted(needs: ranks.Needs, room: int) -> tuple[int, ...]:
    """What each column gets: since when goes first where there is little room, then how often."""
    rank, host, far, waits, often, since = needs.widths
    rank, host = min(rank, max(6, room // 6)), min(host, max(8, room // 5))
    # The number of a line says less than a time.
    for kept, least in (((often, since), _SHORT if needs.clocked else _LONG), ((often, 0), _SHORT), ((0, 0), 0)):
        taken = (rank, host, far, *kept)
        left = room - sum(taken) - _GAP * sum(width > 0 for width in taken)
        if left >= min(waits, least):
            break
    return (rank, host, far, max(_FEWEST, left) if waits else 0, *kept)
