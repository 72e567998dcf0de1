"""The lines on top of every screen: the places and who is looked at, the verdict, and what goes on or went wrong."""

from __future__ import annotations

from collections.abc import Callable

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.reactive import var
from textual.widgets import Static

from ncclcheck.tui import content, wording
from ncclcheck.tui.outcomes import Activity
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.verdict import verdict
from ncclcheck.tui.widgets.place_bar import PlaceBar
from ncclcheck.tui.wording import Said, Tone

_MOUSE_LENT = "i The mouse is your terminal's now: mark text with it. m takes it back."
_GAPS = 2
"""Cells beside the names."""


class Headline(Vertical):
    """Shows the snapshot's names, running step, verdict and last failure."""

    DEFAULT_CSS = """
    Headline {
        height: auto;
        dock: top;
        & > Horizontal { height: 1; background: $panel; color: $foreground; }
        #who { width: 1fr; text-align: right; text-wrap: nowrap; text-overflow: ellipsis; padding: 0 1; }
        #doing { height: 1; text-wrap: nowrap; text-overflow: ellipsis; padding: 0 1; display: none; }
        &.-working #doing { display: block; }
        #verdict { height: auto; max-height: 2; padding: 0 1; text-style: bold; }
        #failure { height: auto; max-height: 4; padding: 0 1; display: none; }
        &.-failed #failure { display: block; }
        #mouse { height: 1; padding: 0 1; display: none; }
    }
    """

    snapshot: var[Snapshot] = var(Snapshot)

    def __init__(self, said: Callable[[Snapshot], Said] = verdict) -> None:
        super().__init__()
        self._said = said

    def compose(self) -> ComposeResult:
        """Lay out the lines."""
        with Horizontal():
            yield PlaceBar()
            yield Static(id="who", markup=False)
        yield Static(id="verdict", markup=False)
        yield Static(id="doing", markup=False)
        yield Static(id="failure", markup=False)
        yield Static(_MOUSE_LENT, id="mouse", markup=False)

    def watch_snapshot(self, now: Snapshot) -> None:
        """Say it anew."""
        if not self.is_mounted:
            return
        self._show_who(now)
        going = now.running if now.running and now.running.activity is not Activity.SCAN else None
        self.query_one("#doing", Static).update(content.step(going) if going else "")
        self.set_class(going is not None, "-working")
        self.query_one("#verdict", Static).update(content.said(self._said(now)))
        self.query_one("#failure", Static).update(
            content.piece(f"✗ {wording.failure(now.failure)}", Tone.BAD) if now.failure else ""
        )
        self.set_class(now.failure is not None, "-failed")

    def _show_who(self, now: Snapshot) -> None:
        names = ", ".join(wording.line(node.name) for node in now.nodes)
        if len(now.nodes) > 1 and cell_len(names) > self.app.size.width - self.query_one(PlaceBar).cells - _GAPS:
            names = f"{len(now.nodes)} nodes"
        self.query_one("#who", Static).update(content.piece(names))

    def on_resize(self) -> None:
        """Name the nodes where there is room for them."""
        self._show_who(self.snapshot)

    def on_mount(self) -> None:
        """Say it once before anything happens."""
        self.watch_snapshot(self.snapshot)
