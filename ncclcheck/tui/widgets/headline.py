"""The two lines on top of every place: who is looked at and what goes on, then the verdict."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.reactive import var
from textual.widgets import Static

from ncclcheck.tui import content, wording
from ncclcheck.tui.state import Snapshot
from ncclcheck.tui.verdict import verdict
from ncclcheck.tui.wording import Said, Tone


class Headline(Vertical):
    """Shows the snapshot's names, running step, verdict and last failure."""

    DEFAULT_CSS = """
    Headline {
        height: auto;
        dock: top;
        & > Horizontal { height: 1; background: $panel; color: $foreground; padding: 0 1; }
        #who { width: auto; }
        #doing { width: 1fr; text-align: right; text-wrap: nowrap; text-overflow: ellipsis; padding-left: 2; }
        #verdict { height: auto; max-height: 2; padding: 0 1; text-style: bold; }
        #failure { height: auto; max-height: 4; padding: 0 1; display: none; }
        &.-failed #failure { display: block; }
    }
    """

    snapshot: var[Snapshot] = var(Snapshot)

    def __init__(self, said: Callable[[Snapshot], Said] = verdict) -> None:
        super().__init__()
        self._said = said

    def compose(self) -> ComposeResult:
        """Lay out the lines."""
        with Horizontal():
            yield Static(id="who", markup=False)
            yield Static(id="doing", markup=False)
        yield Static(id="verdict", markup=False)
        yield Static(id="failure", markup=False)

    def watch_snapshot(self, now: Snapshot) -> None:
        """Say it anew."""
        if not self.is_mounted:
            return
        names = ", ".join(node.name for node in now.nodes)
        self.query_one("#who", Static).update(
            Content.assemble(content.piece("ncclcheck", Tone.STRONG), content.piece(f"  {wording.line(names)}"))
        )
        self.query_one("#doing", Static).update(content.step(now.running) if now.running else "")
        self.query_one("#verdict", Static).update(content.said(self._said(now)))
        self.query_one("#failure", Static).update(
            content.piece(f"✗ {wording.failure(now.failure)}", Tone.BAD) if now.failure else ""
        )
        self.set_class(now.failure is not None, "-failed")

    def on_mount(self) -> None:
        """Say it once before anything happens."""
        self.watch_snapshot(self.snapshot)
