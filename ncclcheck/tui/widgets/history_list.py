"""What is kept, as rows under two headings."""

from __future__ import annotations

from ncclcheck.tui import content
from ncclcheck.tui.history import Row
from ncclcheck.tui.widgets.row_list import Part, RowList, cut
from ncclcheck.tui.wording import Tone


class HistoryList(RowList):
    """Shows rows; the cursor stands on changes and runs only."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._rows: tuple[Row, ...] = ()
        self._lines: list[str] = []

    @property
    def count(self) -> int:
        """Headings and what stands under them, a blank line between the two parts."""
        return len(self._rows)

    @property
    def row(self) -> Row | None:
        """What stands under the cursor."""
        return self._rows[self.cursor] if self._rows else None

    def show(self, rows: tuple[Row, ...]) -> None:
        """Show other rows; whoever moved the cursor keeps its change or run while it is there."""
        under = _identity(self.row) if self.cursor > self._nearest(0) else None
        self._rows, self._lines = rows, _aligned(rows)
        same = (at for at, row in enumerate(rows) if under is not None and _identity(row) == under)
        self.renew(next(same, 0))

    def stands(self, index: int) -> bool:
        """On a heading it does not."""
        return not self._rows[index].heading

    def parts(self, index: int) -> tuple[Part, ...]:
        """Sign and cells."""
        row = self._rows[index]
        if row.heading:
            return ((row.texts[0], Tone.MUTED),)
        return ((f"{row.sign} ", row.tone), (cut(self._lines[index], max(0, self.size.width - 2)), Tone.PLAIN))

    def on_resize(self) -> None:
        """What stands beside it may be laid out anew."""
        self.post_message(self.Moved())


def _identity(row: Row | None) -> object:
    if row is None or row.heading:
        return None
    return (row.made.node, row.made.applied) if row.made else row.run and row.run.id


def _aligned(rows: tuple[Row, ...]) -> list[str]:
    """Each part has columns of its own."""
    found: list[str] = []
    part: list[tuple[str, ...]] = []
    for row in (*rows, None):
        if row is not None and not row.heading:
            part.append(row.texts)
            continue
        found += content.table(part) if part else []
        part = []
        found += [row.texts[0]] if row is not None else []
    return found
