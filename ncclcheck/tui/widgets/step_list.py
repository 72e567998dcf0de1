"""The steps of a setup, a row each with its sign; the cursor follows the step at hand until somebody moves it."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from ncclcheck.tui.setup.values import StepView
from ncclcheck.tui.widgets.row_list import Part, RowList, cut
from ncclcheck.tui.wording import Tone, line


class StepList(RowList, inherit_bindings=False):
    """Shows steps. It has no letters as arrows: here they are for what is done with a step."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Up", show=False, id="steps.up", tooltip="The step above"),
        Binding("down", "move(1)", "Down", show=False, id="steps.down", tooltip="The step below"),
        Binding("home", "edge(False)", "First", show=False, id="steps.first", tooltip="The first step"),
        Binding("end", "edge(True)", "Last", show=False, id="steps.last", tooltip="The last step"),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._steps: tuple[StepView, ...] = ()
        self._left_out: frozenset[str] = frozenset()
        self._at = ""

    @property
    def count(self) -> int:
        """All steps of this node."""
        return len(self._steps)

    @property
    def step(self) -> StepView | None:
        """What stands under the cursor."""
        return self._steps[self.cursor] if self._steps else None

    def show(self, steps: tuple[StepView, ...], at: str, left_out: frozenset[str]) -> None:
        """Show how far they are; ``at`` is the step at hand, and ``left_out`` those that are about to be left out."""
        moved = at != self._at
        self._steps, self._at, self._left_out = steps, at, left_out
        here = next((number for number, one in enumerate(steps) if one.id == at), 0)
        self.renew(here if moved else self.cursor)

    def parts(self, index: int) -> tuple[Part, ...]:
        """Where it is going on, its sign, its number and its title."""
        step = self._steps[index]
        sign, tone = ("–", Tone.MUTED) if step.id in self._left_out else (step.sign, step.tone)
        mark = "→ " if step.id == self._at else "  "
        text = cut(f"{index + 1:>2}  {line(step.title)}", max(0, self.size.width - 4))
        return ((mark, Tone.STRONG), (f"{sign} ", tone), (text, Tone.PLAIN))
