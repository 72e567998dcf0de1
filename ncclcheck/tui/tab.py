"""A browser tab in place of a terminal: the program ends with whoever serves it. [effects]"""

from __future__ import annotations

from textual import messages
from textual.driver import Driver
from textual.drivers.web_driver import WebDriver


class Tab(WebDriver):
    """Textual's own, which lives on (8.2.8) where its server was killed."""

    def run_input_thread(self) -> None:
        """Read until the session ends; the end of the input ends it."""
        super().run_input_thread()
        if not self.exit_event.is_set():
            self.send_message(messages.ExitApp())


def tab_driver(chosen: type[Driver]) -> type[Driver]:
    """Ours in place of Textual's for browsers; any other one stays."""
    return Tab if chosen is WebDriver else chosen
