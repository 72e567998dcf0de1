"""How each place and dialog looks in its states, at 80x24 and 120x40."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from ncclcheck.errors import ProbeError
from ncclcheck.model import Node
from ncclcheck.peer import card
from ncclcheck.tui.app import Doctor
from ncclcheck.tui.outcomes import Activity, Doing, Measures, Noted, Ticked
from ncclcheck.tui.screens.agree import AgreeDialog
from ncclcheck.tui.state import advance
from tests.tui import fake
from tests.tui.pilots import LARGE, SMALL, doctor_of, paste, pressed, settled, text_of, until

Compare = Callable[..., bool]
Journey = Callable[[Pilot[None]], Awaitable[None]]


@pytest.fixture(autouse=True)
def _still(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(Input, "cursor_blink", False)


def keys(*steps: str) -> Journey:
    """A journey of key presses."""

    async def walk(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await pressed(pilot, *steps)

    return walk


async def pasted(pilot: Pilot[None]) -> None:
    """A log, pasted."""
    await settled(pilot)
    await paste(pilot, "\n".join(fake.LOG).replace("{host}", "node-a"))


async def begin(pilot: Pilot[None]) -> None:
    """Compare nodes; not waiting for anything that may be held."""
    await until(pilot, lambda: len(doctor_of(pilot).snapshot.facts) == len(doctor_of(pilot).snapshot.nodes))
    await pilot.press("4", "i")


async def waiting(pilot: Pilot[None]) -> None:
    """For another node, while a stranger calls."""
    await begin(pilot)
    await until(pilot, lambda: "turned away" in text_of(pilot))
    await pilot.pause()


async def half_way_through(pilot: Pilot[None]) -> None:
    """Half of the connections were tried."""
    await begin(pilot)
    await until(pilot, lambda: len(doctor_of(pilot).snapshot.pairing.cells) == 6)
    await pilot.pause()


async def asked(pilot: Pilot[None]) -> None:
    """The question whether this node may be changed."""
    await begin(pilot)
    await until(pilot, lambda: isinstance(pilot.app.screen, AgreeDialog))
    await pilot.pause()


async def card_pasted(pilot: Pilot[None]) -> None:
    """The card of another node."""
    await settled(pilot)
    await paste(pilot, card.write(fake.Doctor().facts(Node("node-b"))))


async def half_measured(pilot: Pilot[None]) -> None:
    """A speed test that hangs half-way, with what is suspected."""
    await settled(pilot)
    await pressed(pilot, "5")
    app, ticks = doctor_of(pilot), list(fake.told(fake.PASSED))
    told = (Ticked(Activity.SPEED, tick) for tick in (*ticks[: len(ticks) // 2], fake.SUSPECTED))
    for outcome in (Doing(Activity.SPEED, "speed test"), Measures(), *told):
        app.snapshot = advance(app.snapshot, outcome)
    app.refresh_bindings()
    await settled(pilot)


STATES: dict[str, tuple[tuple[Node, ...], Journey]] = {
    "fresh": (fake.LAB, keys()),
    "one-node": (fake.HERE, keys("p")),
    "problem": (fake.LAB, keys("p")),
    "log-empty": (fake.LAB, keys("2")),
    "finding": (fake.LAB, keys("p", "2", "n")),
    "pasted": (fake.HERE, pasted),
    "fix": (fake.LAB, keys("p", "f")),
    "fix-by-hand": (fake.HERE, keys("p", "f", "right")),
    "proved": (fake.LAB, keys("p", "f", "a")),
    "after": (fake.LAB, keys("p", "f", "a", "escape")),
    "speed": (fake.HERE, keys("s")),
    "what-if": (fake.LAB, keys("w", *"=eth1")),
    "help": (fake.LAB, keys("question_mark")),
    "peers-alone": (fake.HERE, keys("4")),
    "peers-waiting": (fake.HERE, waiting),
    "peers-half": (fake.LAB, half_way_through),
    "peers-known": (fake.LAB, keys("4", "i")),
    "peers-proved": (fake.LAB, keys("4", "i", "f", "a", "escape", "v")),
    "peers-asked": (fake.HERE, asked),
    "peers-cards": (fake.HERE, card_pasted),
    "speeds-none": (fake.LAB, keys("5")),
    "speeds-half": (fake.LAB, half_measured),
    "speeds-result": (fake.LAB, keys("s")),
    "speeds-better": (fake.LAB, keys("p", "f", "a", "escape", "5")),
}

_EARLIER = (
    fake.ran(1, fake.FAILED, fake.Doctor().facts(fake.LAB[0]), "before the fix"),
    fake.ran(2, fake.PASSED, fake.Doctor(fixed=True).facts(fake.LAB[0]), "after the fix"),
)
BETWEEN = {
    "speeds-none": fake.FAILED,
    "speeds-result": fake.PASSED,
    "speeds-better": fake.SLOWER,
}
"""What two nodes measure before a fix."""
HELD = {"peers-waiting": ("guest",), "peers-half": ("reach",)}
"""What never comes in a state."""


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["80x24", "120x40"])
@pytest.mark.parametrize("state", STATES)
def test_it_looks_as_it_should(snap_compare: Compare, state: str, size: tuple[int, int]) -> None:
    nodes, journey = STATES[state]
    held = {what: threading.Event() for what in HELD.get(state, ())}
    doctor = fake.Doctor(held=held, failed=BETWEEN.get(state, fake.FAILED))
    doctor.kept += _EARLIER if state == "speeds-none" else ()
    assert snap_compare(Doctor(nodes, cases=doctor.cases()), terminal_size=size, run_before=journey)


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["80x24", "120x40"])
def test_a_failure_is_a_calm_line(snap_compare: Compare, size: tuple[int, int]) -> None:
    error = ProbeError("no NCCL library found", place="node-a", next_step="name a Python that has torch: --python PATH")
    app = Doctor(fake.LAB, cases=fake.Doctor(errors={"probe": error}).cases())
    assert snap_compare(app, terminal_size=size, run_before=keys("p"))


def test_it_says_what_it_is_doing(snap_compare: Compare) -> None:
    async def half_way(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await pressed(pilot, "p", "f")
        app = doctor_of(pilot)
        for outcome in (
            Doing(Activity.FIX, "writing /etc/nccl.conf on node-a"),
            Doing(Activity.FIX, "speed test after the fix"),
            Noted(Activity.FIX, "waiting for the other side (3 s)"),
        ):
            app.snapshot = advance(app.snapshot, outcome)
        await settled(pilot)

    assert snap_compare(Doctor(fake.LAB, cases=fake.Doctor().cases()), terminal_size=SMALL, run_before=half_way)


@pytest.mark.parametrize("theme", ["textual-light", "ansi-dark"])
def test_other_colours(snap_compare: Compare, theme: str) -> None:
    async def coloured(pilot: Pilot[None]) -> None:
        pilot.app.theme = theme
        await settled(pilot)
        await pressed(pilot, "p", "2")

    assert snap_compare(Doctor(fake.LAB, cases=fake.Doctor().cases()), terminal_size=SMALL, run_before=coloured)
