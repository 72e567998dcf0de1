"""The findings to choose from; an empty list leaves Enter to whatever else there is to do."""

from __future__ import annotations

from textual.widgets import OptionList


class FindingList(OptionList):
    """One line for each finding."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """There is nothing to select in an empty list."""
        return action != "select" or self.option_count > 0
