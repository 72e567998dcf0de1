"""An app on our driver that writes down what reaches it: ``python -m tests.tui.paste_app FILE``."""

from __future__ import annotations

import hashlib
import json
import re
import sys
import time
from pathlib import Path

from textual import events
from textual.app import App, ComposeResult
from textual.widgets import Static

from ncclcheck.tui.terminal.driver import PasteArrives, PasteDriver

_TICK = 0.01


class Writer(App[None]):
    """One line of JSON for each event."""

    def __init__(self, out: Path) -> None:
        super().__init__(driver_class=PasteDriver)
        self._out = out
        self._last = self._late = 0.0

    def compose(self) -> ComposeResult:
        """Something to see."""
        yield Static("here we are")

    def on_mount(self) -> None:
        """Begin to watch how late the loop is."""
        self._last = time.monotonic()
        self.set_interval(_TICK, self._tick)
        self.app_resume_signal.subscribe(self, lambda _: self._write(resumed=True))

    def _tick(self) -> None:
        now = time.monotonic()
        self._late = max(self._late, now - self._last - _TICK)
        self._last = now

    def on_paste(self, event: events.Paste) -> None:
        """How long it is and which text, how late the loop was meanwhile, and the most memory ever."""
        peak = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
        digest = hashlib.sha256(event.text.encode()).hexdigest()
        late, self._late = self._late, 0.0
        self._write(pasted=len(event.text), digest=digest, late=late, peak=int(peak[1]) // 1024 if peak else 0)

    def on_paste_arrives(self, event: PasteArrives) -> None:
        """A large one is on its way."""
        self._write(arrives=event.size)

    def on_key(self, event: events.Key) -> None:
        """A key; q leaves."""
        self._write(key=event.key)
        if event.key == "q":
            self.exit()

    def on_click(self, event: events.Click) -> None:
        """A click."""
        self._write(click=[event.screen_x, event.screen_y])

    def on_resize(self, event: events.Resize) -> None:
        """Another size."""
        self._write(size=[event.size.width, event.size.height])

    def _write(self, **what: object) -> None:
        with self._out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(what) + "\n")


if __name__ == "__main__":
    Writer(Path(sys.argv[1])).run()
